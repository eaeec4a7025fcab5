"""Words that packages which may not import each other have to spell alike."""

from typing import Final, Literal, TypeAlias

__all__ = ["FROZEN", "MARK", "NEVER_LEARN", "OPEN", "BrainClass"]

BrainClass: TypeAlias = Literal["classical", "spiking", "reservoir", "quantum", "scripted", "pretrained"]
"""The classes that brains compete in."""

NEVER_LEARN: Final = ("pretrained", "scripted")
"""Classes of policies that do not learn here: trained elsewhere, or written by hand. They never rank among learners."""

OPEN: Final = "open"
"""Where brains from outside this repository are submitted: a maintainer assigns their class when it is verified."""

FROZEN: Final = "nematodebench.policies.frozen:FrozenPolicy"
"""Name of the brain that a policy from a file becomes; its config names the file."""

MARK: Final = "(!)"
"""What stands behind an interval that may cover too rarely."""
