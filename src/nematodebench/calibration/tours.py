"""Closed walks through every cell of a square, for bodies whose first four actions go round the compass.

Along such a walk the agent always comes to the cell where it has not been for longest. If things reappear anywhere,
that is where most of them lie, so no walk is expected to collect more. A square with an even number of cells on each
side has closed walks through all of them; a square with an odd number has none.
"""

import itertools

from nematodebench.calibration.rollouts import Cycle

__all__ = ["tours"]

_COMPASS = ((0, 1), (1, 0), (0, -1), (-1, 0))
_SIDES = range(4, 21, 2)

Cell = tuple[int, int]


def tours(choices: int, horizon: int) -> list[Cycle]:
    """Closed walks from the middle of squares that can be walked within an episode: eight for every side."""
    if choices < len(_COMPASS):
        return []
    sides = [side for side in _SIDES if side * side <= horizon]
    combs = [_turned(_comb(side), side, quarters) for side in sides for quarters in range(len(_COMPASS))]
    return [_moves(way) for comb in combs for way in (comb, comb[::-1])]


def _comb(side: int) -> list[Cell]:
    """Along the lowest row, then up and down the columns above it on the way back."""
    cells = [(x, 0) for x in range(side)]
    for x in range(side - 1, -1, -1):
        column = [(x, y) for y in range(1, side)]
        cells += column if x % 2 else column[::-1]
    return cells


def _turned(cells: list[Cell], side: int, quarters: int) -> list[Cell]:
    for _ in range(quarters):
        cells = [(y, side - 1 - x) for x, y in cells]
    return cells


def _moves(cells: list[Cell]) -> Cycle:
    """The walk as segments, begun in the middle."""
    middle = cells.index((int(len(cells) ** 0.5) // 2,) * 2)
    ordered = [*cells[middle:], *cells[:middle], cells[middle]]
    segments: list[tuple[float, float]] = []
    for (x, y), (to_x, to_y) in itertools.pairwise(ordered):
        action = float(_COMPASS.index((to_x - x, to_y - y)))
        if segments and segments[-1][1] == action:
            segments[-1] = (segments[-1][0] + 1.0, action)
        else:
            segments.append((1.0, action))
    return tuple(segments)
