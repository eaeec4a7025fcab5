"""Connections as lists: every row of a sparse random matrix names the columns it reaches.

With density p a row reaches round(p x columns) different columns, at least one, each set equally likely. Rows are
padded to a multiple of four, because short loops of such lengths are faster; what is left over points to the column
behind the last: every array of columns has room for that one, and its value is never used.

(`homeostatic_reservoir`, whose connections are drawn one by one, keeps them in matrices instead.)
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from nematodebench.kernels.jit import F32, U64, kernel
from nematodebench.kernels.memory import Memory, floats, size, words
from nematodebench.kernels.rng import uniform

__all__ = ["Links", "WeightedLinks", "draw_links", "push"]

_ROW_UNIT = 4


class Links(Memory):
    """Connections without weights: a row has ``degree`` of them, padded to ``stride``."""

    rows = size()
    columns = size()
    degree = size()
    stride = size()
    to_self = size()
    targets = words("rows", "stride")

    @classmethod
    def shape(cls, rows: int, columns: int, density: float, *, to_self: bool = True) -> Mapping[str, int]:
        """The sizes of a set of connections; ``to_self`` says whether a row may reach the column of its own number."""
        degree = max(1, min(round(density * columns), columns))
        # The stride follows from the degree with a row's own column: it decides how many weights are drawn.
        return {
            "rows": rows, "columns": columns, "degree": min(degree, columns - (not to_self)),
            "stride": -(-degree // _ROW_UNIT) * _ROW_UNIT, "to_self": to_self,
        }  # fmt: skip

    def learned(self) -> Iterator[tuple[str, Any]]:
        """Targets, and weights if there are any, without the padding."""
        for name, value in super().learned():
            yield name, value[:, : self.degree]


class WeightedLinks(Links):
    """Connections with a weight each."""

    weights = floats("rows", "stride")


@kernel()
def draw_links(links: Links, rng: U64) -> None:
    """Draws the columns of every row."""
    columns, degree = links.columns, links.degree
    for row in range(links.rows):
        targets, n = links.targets[row], 0
        left = columns if links.to_self else columns - 1
        for column in range(columns):
            if links.to_self or column != row:
                if uniform(rng) * left < degree - n:
                    targets[n] = column
                    n += 1
                left -= 1
        for k in range(n, links.stride):
            targets[k] = columns


@kernel()
def push(links: WeightedLinks, row: int, drive: F32, factor: np.float32) -> None:
    """Adds a row's weights times ``factor`` to the drive of its targets."""
    targets, weights = links.targets[row], links.weights[row]
    for k in range(links.stride):
        drive[np.uint64(targets[k])] += factor * weights[k]
