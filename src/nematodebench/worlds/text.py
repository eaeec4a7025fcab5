"""Grid worlds as text: one character a cell, rows from the top."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

__all__ = ["HEADINGS", "grid_text"]

HEADINGS = ("worm_up", "worm_right", "worm_down", "worm_left")

_LOOKS = {
    "food": "o", "predator": "X", "attractant": "A", "control": "C",
    "worm_up": "^", "worm_right": ">", "worm_down": "v", "worm_left": "<",
}  # fmt: skip


def _cells(points: NDArray[np.float64], side: int) -> list[tuple[int, int]]:
    """Row (from the top) and column of every point that lies on the grid."""
    return [(side - 1 - int(y), int(x)) for x, y in points if 0 <= x < side and 0 <= y < side]


def grid_text(side: int, items: Mapping[str, NDArray[np.float64]]) -> str:
    """One character a cell; later items are written over earlier ones."""
    rows = [["."] * side for _ in range(side)]
    for kind, points in items.items():
        for row, column in _cells(points, side):
            rows[row][column] = _LOOKS[kind]
    return "\n".join("".join(row) for row in rows)
