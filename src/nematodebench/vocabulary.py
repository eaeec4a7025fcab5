"""Words that packages which may not import each other have to spell alike."""

from typing import Final, Literal, TypeAlias

__all__ = ["MARK", "OPEN", "BrainClass"]

BrainClass: TypeAlias = Literal["classical", "spiking", "reservoir", "quantum", "scripted"]
"""The classes that brains compete in."""

OPEN: Final = "open"
"""Where brains from outside this repository are submitted: a maintainer assigns their class when it is verified."""

MARK: Final = "(!)"
"""What stands behind an interval that may cover too rarely."""
