"""Reads and lays out the grid of `navigation` and `realtime`."""

import numpy as np

EMPTY, FOOD, DANGER, OBSTACLE = range(4)
WAYS = np.array([(0, 1), (1, 0), (0, -1), (-1, 0), (1, 1), (1, -1), (-1, -1), (-1, 1)])


def grid(trial):
    """The map as (y, x) without its border: a view."""
    width = trial.world.side + 2
    return np.asarray(trial.state.cells).reshape(width, width)[1:-1, 1:-1]


def lay(trial, x, y, **things):
    """An agent at (x, y) and nothing else but the given things."""
    cells = grid(trial)
    cells[:] = EMPTY
    for name, places in things.items():
        for place in places:
            cells[place[1], place[0]] = {"food": FOOD, "danger": DANGER, "obstacle": OBSTACLE}[name]
    state = trial.state
    state.x, state.y = x, y
    return trial


def rays(trial):
    """What the 24 ray inputs should be, cell by cell from the map."""
    cells, side = grid(trial), trial.world.side
    seen = []
    for way in WAYS:
        nearest = {FOOD: 0.0, DANGER: 0.0}
        for d in range(1, side + 1):
            x, y = np.array(trial.place, int) + d * way
            if not (0 <= x < side and 0 <= y < side) or cells[y, x] == OBSTACLE:
                break
            if nearest.get(cells[y, x]) == 0.0:
                nearest[cells[y, x]] = 1.0 - d / side
        seen += [nearest[FOOD], nearest[DANGER], 1.0 - d / side]
    return seen
