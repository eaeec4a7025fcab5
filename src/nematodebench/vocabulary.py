"""Words that packages which may not import each other have to spell alike."""

from typing import Literal, TypeAlias

__all__ = ["BrainClass"]

BrainClass: TypeAlias = Literal["classical", "spiking", "reservoir", "quantum", "scripted"]
"""The classes that brains compete in."""
