"""What a plate is to a brain: the same sensors and effectors on all of them."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nematodebench.worlds.base import Effectors, Sensor, World
from nematodebench.worlds.picture import Picture, View
from nematodebench.worlds.plate.body import SENSES, PlateState
from nematodebench.worlds.plate.scenes import words

__all__ = ["Plate"]


@dataclass(frozen=True)
class Plate(World):
    """Base of the worlds of the crawling worm."""

    sensed: ClassVar[str]
    """What there is to sense, the name of the first sensor."""

    @property
    def sensors(self) -> tuple[Sensor, ...]:
        """The level, its change in time and across the head, and touch."""
        return tuple(Sensor(name) for name in (self.sensed, *SENSES))

    @property
    def actions(self) -> Effectors:
        """The worm crawls forward and bends to both sides."""
        return Effectors(("forward", "left", "right"))

    def framed(self, view: View, wanted: str, mirror: str = "") -> Picture:
        """The picture of a plate."""
        legend = {"brain": "worm", "food": wanted, **({"null": mirror} if mirror else {}), "ray": "what it senses"}
        return Picture(view, words(self.sensed), legend, self.sensed, trail=120, frames=30)

    def text(self, state: PlateState) -> str:
        """Says where the worm is."""
        pose = f"x {state.x:.1f} y {state.y:.1f} heading {np.degrees(state.heading):.0f}"
        return f"tick {state.tick:.0f} {pose} in the wanted zone {state.wanted:.0f}"
