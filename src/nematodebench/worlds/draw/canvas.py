"""Pictures of continuous worlds: discs, bars and lines on a canvas in the world's own units, y up."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["BODY", "GOAL", "INK", "Canvas"]

Colour = tuple[int, int, int]
BODY: Colour = (222, 165, 60)
GOAL: Colour = (86, 160, 70)
INK: Colour = (70, 70, 80)
_BACKGROUND: Colour = (245, 242, 232)


class Canvas:
    """An RGB picture of the rectangle from (left, bottom) to (right, top)."""

    def __init__(self, left: float, bottom: float, right: float, top: float, width: int = 300) -> None:
        self._scale = width / (right - left)
        height = max(1, round((top - bottom) * self._scale))
        self.pixels: NDArray[np.uint8] = np.full((height, width, 3), _BACKGROUND, dtype=np.uint8)
        self._x = left + (np.arange(width) + 0.5) / self._scale
        self._y = (top - (np.arange(height) + 0.5) / self._scale)[:, None]

    def disc(self, x: float, y: float, radius: float, colour: Colour) -> None:
        """A filled circle of at least two pixels."""
        r = max(radius, 1.0 / self._scale)
        self.pixels[(self._x - x) ** 2 + (self._y - y) ** 2 <= r * r] = colour

    def bar(self, x: float, y: float, width: float, height: float, colour: Colour) -> None:
        """A filled rectangle around its centre."""
        inside = (abs(self._x - x) <= width / 2) & (abs(self._y - y) <= height / 2)
        self.pixels[inside] = colour

    def line(self, x: float, y: float, angle: float, length: float, colour: Colour) -> None:
        """A stroke from a point in a direction (radians, counter-clockwise from the x axis)."""
        for step in np.linspace(0.0, length, max(2, int(length * self._scale))):
            self.disc(x + step * np.cos(angle), y + step * np.sin(angle), 0.0, colour)
