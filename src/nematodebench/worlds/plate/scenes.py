"""What the pictures of plates have in common: the rim, the worm with what it senses, and the bars."""

import numpy as np

from nematodebench.kernels.angles import PI
from nematodebench.kernels.jit import F32M, F64M, kernel
from nematodebench.kernels.math import cos64, sin64
from nematodebench.kernels.scene import BRAIN, FIELD_SIDE, FOOD, NULL, RAY, WALL, bar, body, line, readout, ring
from nematodebench.worlds.plate.body import PlateParams, PlateState

__all__ = ["EDGE", "blank_outside", "draw_bars", "draw_rim", "draw_worm", "place_of", "words"]

EDGE = 1.04
"""Half the side of the picture of a round plate, in its radii."""
_TICK, _LEVEL, _WANTED, _MIRROR = 0.0, 1.0, 2.0, 3.0


def words(sensed: str) -> tuple[str, ...]:
    """The texts beside the picture, by the constants above."""
    return ("tick", sensed, "wanted zone", "mirror zone")


@kernel()
def place_of(cell: int, low: float, high: float) -> float:
    """The middle of a cell of the raster, which lies under the whole view."""
    return low + (cell + 0.5) * (high - low) / FIELD_SIDE


@kernel()
def blank_outside(field: F32M, radius: float, edge: float) -> None:
    """The raster shows nothing where a round plate ends."""
    for row in range(FIELD_SIDE):
        for column in range(FIELD_SIDE):
            x, y = place_of(column, -edge, edge), place_of(row, -edge, edge)
            if x * x + y * y > radius * radius:
                field[row, column] = np.float32(0.0)


@kernel()
def draw_rim(rows: F64M, radius: float) -> None:
    """The edge of a round plate."""
    ring(rows, WALL, 0.0, 0.0, radius, 0.02 * radius, 1.0)


@kernel()
def draw_worm(rows: F64M, state: PlateState, obs: F32M, size: float) -> None:
    """The worm, a ring while the level rises, a whisker to the side on which it is higher.

    A real worm would be too small to be seen: ``size`` is the length it is drawn with.
    """
    ring(rows, RAY, state.x, state.y, 0.4 * size, 0.07 * size, float(obs[0, 1]))
    for side in range(2):
        angle = state.heading + (-0.5 * PI if side == 0 else 0.5 * PI)
        felt = float(obs[0, 3 + side])
        to_x, to_y = state.x + 0.8 * size * felt * cos64(angle), state.y + 0.8 * size * felt * sin64(angle)
        line(rows, RAY, state.x, state.y, to_x, to_y, 0.07 * size, felt)
    body(rows, BRAIN, state.x, state.y, 0.16 * size, size, state.heading, 1.0)


@kernel()
def draw_bars(rows: F64M, params: PlateParams, state: PlateState, obs: F32M, mirrored: bool) -> None:
    """The clock, what the worm senses, and the shares of the window that it has spent in the zones so far."""
    counted = max(min(state.tick - params.ticks + params.window, params.window), 1.0)
    readout(rows, _TICK, 0.0, state.tick)
    bar(rows, RAY, _LEVEL, float(obs[0, 0]))
    bar(rows, FOOD, _WANTED, state.wanted / counted)
    if mirrored:
        bar(rows, NULL, _MIRROR, state.mirrored / counted)
