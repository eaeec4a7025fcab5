"""What a renderer must know of a world's picture beside the rows that its scene writes."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Picture"]

View = tuple[float, float, float, float]


@dataclass(frozen=True)
class Picture:
    """The frame of a world's scenes, as plain data.

    Attributes:
        view: Left, bottom, right and top of what is shown, in the world's units.
        words: The texts that labels, bars and readouts name by their index.
        legend: What each colour role stands for in this world, in the order it is listed.
        field: What the raster under the picture shows; empty if there is none.
        trail: How many past places of a body are shown.
        periodic: Whether bodies that leave on one side come back on the other.
        frames: How many steps a second look natural.
    """

    view: View = (0.0, 0.0, 1.0, 1.0)
    words: tuple[str, ...] = ()
    legend: Mapping[str, str] = dataclasses.field(default_factory=dict)
    field: str = ""
    trail: int = 40
    periodic: bool = False
    frames: int = 12

    @classmethod
    def of_grid(cls, side: float, **given: Any) -> "Picture":
        """The picture of a square grid of cells, each of which is 1 wide and has its centre at whole numbers."""
        return cls((-0.5, -0.5, side - 0.5, side - 0.5), **given)

    def data(self) -> dict[str, Any]:
        """The same as plain JSON."""
        return {**dataclasses.asdict(self), "view": list(self.view), "words": list(self.words)}
