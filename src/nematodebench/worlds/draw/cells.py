"""Pictures of grid worlds: one square per cell, one colour or character per kind of thing."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

__all__ = ["HEADINGS", "grid_image", "grid_text"]

HEADINGS = ("worm_up", "worm_right", "worm_down", "worm_left")

_LOOKS: dict[str, tuple[str, tuple[int, int, int]]] = {
    "food": ("o", (86, 160, 70)),
    "predator": ("X", (196, 60, 50)),
    "attractant": ("A", (86, 160, 70)),
    "control": ("C", (150, 150, 150)),
    "worm_up": ("^", (222, 165, 60)),
    "worm_right": (">", (222, 165, 60)),
    "worm_down": ("v", (222, 165, 60)),
    "worm_left": ("<", (222, 165, 60)),
}
_BACKGROUND = (245, 242, 232)


def _cells(points: NDArray[np.float64], side: int) -> list[tuple[int, int]]:
    """Row (from the top) and column of every point that lies on the grid."""
    return [(side - 1 - int(y), int(x)) for x, y in points if 0 <= x < side and 0 <= y < side]


def grid_image(side: int, items: Mapping[str, NDArray[np.float64]]) -> NDArray[np.uint8]:
    """An RGB picture of at least 300 pixels a side; later items are drawn over earlier ones."""
    scale = max(4, -(-300 // side))
    cells = np.full((side, side, 3), _BACKGROUND, dtype=np.uint8)
    for kind, points in items.items():
        for row, column in _cells(points, side):
            cells[row, column] = _LOOKS[kind][1]
    return cells.repeat(scale, axis=0).repeat(scale, axis=1)


def grid_text(side: int, items: Mapping[str, NDArray[np.float64]]) -> str:
    """One character a cell, rows from the top."""
    rows = [["."] * side for _ in range(side)]
    for kind, points in items.items():
        for row, column in _cells(points, side):
            rows[row][column] = _LOOKS[kind][0]
    return "\n".join("".join(row) for row in rows)
