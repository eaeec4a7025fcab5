"""The grid that `navigation` and `realtime` share: food, dangers and obstacles on cells, seen along eight rays.

The state holds a map of the cells inside a border of obstacles, so a ray or a move reads the cells it passes and needs
no other test; behind the map lies the room that the references need to search for a way. Ray k looks where move k goes.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from nematodebench.kernels.jit import F32M, F64, U64, kernel
from nematodebench.kernels.rng import randint
from nematodebench.worlds.base import Sensor

__all__ = [
    "DANGER", "DIRECTIONS", "FOOD", "P_MORE", "S_DANGERS", "S_FOODS", "S_STEP", "S_X", "S_Y", "find_food", "live_step",
    "map_size", "pack_grid", "picture_items", "ray_sensors", "scatter", "sense_rays", "write_count",
]  # fmt: skip

_P_SIDE, _P_FOODS, _P_DANGERS, _P_OBSTACLES, _P_MAX_STEPS = 0, 1, 2, 3, 4
P_MORE = 5
"""Where a world's own parameters begin."""
S_X, S_Y, S_STEP, S_FOODS, S_DANGERS = 0, 1, 2, 3, 4
_S_MAP = 5
_EMPTY, FOOD, DANGER, _OBSTACLE = 0.0, 1.0, 2.0, 3.0
DIRECTIONS = ("up", "right", "down", "left", "up_right", "down_right", "down_left", "up_left")
_RAYS = 8
_DX = (0, 1, 0, -1, 1, 1, -1, -1)
_DY = (1, 0, -1, 0, 1, -1, -1, 1)


@kernel()
def _cell(params: F64, x: int, y: int) -> int:
    """Where the state holds a cell; x and y may lie one cell outside."""
    return _S_MAP + (y + 1) * (int(params[_P_SIDE]) + 2) + x + 1


@kernel()
def _offset(params: F64, way: int) -> int:
    """From a cell to its neighbour."""
    return _DY[way] * (int(params[_P_SIDE]) + 2) + _DX[way]


@kernel()
def _place(params: F64, state: F64, rng: U64, kind: float) -> None:
    """Puts one thing on a cell that is empty and not the agent's, each equally likely."""
    side = int(params[_P_SIDE])
    agent = _cell(params, int(state[S_X]), int(state[S_Y]))
    cell = agent
    while cell == agent or state[cell] != _EMPTY:
        drawn = randint(rng, side * side)
        cell = _cell(params, drawn % side, drawn // side)
    state[cell] = kind


@kernel()
def scatter(params: F64, state: F64, rng: U64) -> None:
    """Begins an episode: the agent at the centre, everything else anywhere else."""
    state[:] = 0.0
    side = int(params[_P_SIDE])
    for n in range(-1, side + 1):
        state[_cell(params, n, -1)] = state[_cell(params, n, side)] = _OBSTACLE
        state[_cell(params, -1, n)] = state[_cell(params, side, n)] = _OBSTACLE
    state[S_X] = state[S_Y] = side // 2
    for _ in range(int(params[_P_OBSTACLES])):
        _place(params, state, rng, _OBSTACLE)
    for _ in range(int(params[_P_DANGERS])):
        _place(params, state, rng, DANGER)
    for _ in range(int(params[_P_FOODS])):
        _place(params, state, rng, FOOD)


@kernel()
def live_step(params: F64, state: F64, rng: U64, choice: int, moves: int) -> float:
    """Moves unless the way is blocked or the choice is none, eats, and returns what the agent stands on."""
    x, y = int(state[S_X]), int(state[S_Y])
    if choice < moves and state[_cell(params, x + _DX[choice], y + _DY[choice])] != _OBSTACLE:
        x, y = x + _DX[choice], y + _DY[choice]
        state[S_X], state[S_Y] = x, y
    state[S_STEP] += 1.0
    cell = _cell(params, x, y)
    kind: float = state[cell]
    if kind == FOOD:
        state[cell] = _EMPTY
        state[S_FOODS] += 1.0
        _place(params, state, rng, FOOD)
    elif kind == DANGER:
        state[S_DANGERS] += 1.0
    return kind


@kernel()
def sense_rays(params: F64, state: F64, obs: F32M) -> None:
    """Nearest food and nearest danger in sight and the edge or obstacle that ends the ray, as 1 - d/side."""
    here = _cell(params, int(state[S_X]), int(state[S_Y]))
    for ray in range(_RAYS):
        offset = _offset(params, ray)
        d, cell = 1, here + offset
        food, danger = 0, 0
        while state[cell] != _OBSTACLE:
            if state[cell] == FOOD and food == 0:
                food = d
            elif state[cell] == DANGER and danger == 0:
                danger = d
            d, cell = d + 1, cell + offset
        obs[0, 3 * ray] = _nearness(params, food)
        obs[0, 3 * ray + 1] = _nearness(params, danger)
        obs[0, 3 * ray + 2] = _nearness(params, d)


@kernel()
def _nearness(params: F64, d: int) -> np.float32:
    """Of a thing d cells away; 0 stands for none."""
    return np.float32(1.0 - d / params[_P_SIDE] if d > 0 else 0.0)


@kernel()
def write_count(params: F64, state: F64, out: F64) -> None:
    """Truncation at the step limit, and the metrics foods and dangers."""
    out[0] = 0.0
    out[1] = 1.0 if state[S_STEP] >= params[_P_MAX_STEPS] else 0.0
    out[3], out[4] = state[S_FOODS], state[S_DANGERS]


@kernel()
def _search(params: F64, state: F64, moves: int, shunned: float) -> int:
    """First move of a shortest way to a food that avoids cells of the shunned kind, or ``moves`` if there is none."""
    cells = (int(params[_P_SIDE]) + 2) * (int(params[_P_SIDE]) + 2)
    queue = _S_MAP + cells
    for n in range(queue + cells, queue + 2 * cells):
        state[n] = 0.0
    entered = 2 * cells  # from a cell to a note: 0 if it was not reached yet, else 1 + the way's first move
    here = _cell(params, int(state[S_X]), int(state[S_Y]))
    state[queue], state[here + entered] = here, -1.0
    head, tail = queue, queue + 1
    while head < tail:
        cell = int(state[head])
        head += 1
        if state[cell] == FOOD:
            return int(state[cell + entered]) - 1
        for move in range(moves):
            following = cell + _offset(params, move)
            if state[following] in (_OBSTACLE, shunned) or state[following + entered] != 0.0:
                continue
            state[following + entered] = move + 1.0 if cell == here else state[cell + entered]
            state[tail] = following
            tail += 1
    return moves


@kernel()
def find_food(params: F64, state: F64, moves: int) -> int:
    """First move of a shortest way to the nearest food around the dangers, through them if there is no other."""
    move = _search(params, state, moves, DANGER)
    return move if move < moves else _search(params, state, moves, _OBSTACLE)


def map_size(side: int) -> int:
    """Floats of state: the agent, the map, and twice as much room for the search."""
    return _S_MAP + 3 * (side + 2) ** 2


def pack_grid(side: int, foods: int, dangers: int, obstacles: int, max_steps: int, *more: float) -> F64:
    """The grid's parameters, then the world's own."""
    # Kernels draw cells until they find an empty one, so there has to be one.
    if foods + dangers + obstacles >= side * side:
        raise ValueError(f"a grid of {side} x {side} cells is too small for {foods + dangers + obstacles} things")
    return np.array([side, foods, dangers, obstacles, max_steps, *more], dtype=np.float64)


def ray_sensors() -> tuple[Sensor, ...]:
    """Food, danger and wall of every ray."""
    return tuple(Sensor(f"{kind}_{way}") for way in DIRECTIONS for kind in ("food", "danger", "wall"))


def picture_items(side: int, state: F64) -> Mapping[str, NDArray[np.float64]]:
    """What lies where, by the looks it is drawn with, in the order it is drawn."""
    cells = state[_S_MAP : _S_MAP + (side + 2) ** 2].reshape(side + 2, side + 2)[1:-1, 1:-1]
    looks = {"control": _OBSTACLE, "food": FOOD, "predator": DANGER}
    items = {look: np.argwhere(cells == kind)[:, ::-1].astype(np.float64) for look, kind in looks.items()}
    return {**items, "worm_up": state[S_X : S_Y + 1][None]}
