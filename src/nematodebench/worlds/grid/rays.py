"""The grid that `navigation` and `realtime` share: food, dangers and obstacles on cells, seen along eight rays.

The map of the cells lies inside a border of obstacles, so a ray or a move reads the cells it passes and needs no other
test. A cell is a number: its place on the map, rows from the bottom, border included. Ray k looks where move k goes.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from nematodebench.kernels.abi import Outcome
from nematodebench.kernels.jit import F32M, U64, kernel
from nematodebench.kernels.memory import Block, constant, number, numbers, size
from nematodebench.kernels.rng import randint
from nematodebench.worlds.base import Sensor

__all__ = [
    "DANGER",
    "DIRECTIONS",
    "DX",
    "DY",
    "FOOD",
    "OBSTACLE",
    "Metrics",
    "Params",
    "State",
    "find_food",
    "grid_tables",
    "move_and_eat",
    "ray_sensors",
    "scatter",
    "sense_rays",
    "text_items",
    "write_count",
]  # fmt: skip

_EMPTY, FOOD, DANGER, OBSTACLE = 0.0, 1.0, 2.0, 3.0
DIRECTIONS = ("up", "right", "down", "left", "up_right", "down_right", "down_left", "up_left")
_RAYS = 8
DX = (0, 1, 0, -1, 1, 1, -1, -1)
DY = (1, 0, -1, 0, 1, -1, -1, 1)


class Params(Block):
    """The grid's parameters; a world adds its own behind them."""

    side = size()
    width = size()  # cells of a row of the map: the side and the border on both ends
    area = size()  # cells of the map
    foods = constant()
    dangers = constant()
    obstacles = constant()
    max_steps = constant()


class State(Block, sizes=Params):
    """The agent, the clock, what is counted, the map, and the room that the reference needs to search for a way."""

    x = number()
    y = number()
    step = number()
    eaten = number()  # foods
    hurt = number()  # steps that ended on a danger
    cells = numbers("area")  # what lies on each
    queue = numbers("area")  # cells that the search has reached, in the order it did
    notes = numbers("area")  # of each cell: 0 if the search has not reached it, else 1 + the first move of its way


class Metrics(Block):
    """Foods eaten and steps that ended on a danger."""

    foods = number()
    dangers = number()


@kernel()
def _cell(params: Params, x: int, y: int) -> int:
    """The cell at (x, y), both of which may lie one cell outside the grid."""
    return (y + 1) * params.width + x + 1


@kernel()
def _offset(params: Params, way: int) -> int:
    """What leads from a cell to its neighbour."""
    return DY[way] * params.width + DX[way]


@kernel()
def _place(params: Params, state: State, rng: U64, kind: float) -> None:
    """Puts one thing on a cell that is empty and not the agent's; all such cells are equally likely."""
    side = params.side
    agent = _cell(params, int(state.x), int(state.y))
    cell = agent
    while cell == agent or state.cells[cell] != _EMPTY:
        drawn = randint(rng, side * side)
        cell = _cell(params, drawn % side, drawn // side)
    state.cells[cell] = kind


@kernel()
def scatter(params: Params, state: State, rng: U64) -> None:
    """Puts the agent at the centre and everything else on other cells; the state must hold zeros."""
    side, cells = params.side, state.cells
    for n in range(-1, side + 1):
        cells[_cell(params, n, -1)] = cells[_cell(params, n, side)] = OBSTACLE
        cells[_cell(params, -1, n)] = cells[_cell(params, side, n)] = OBSTACLE
    state.x = state.y = side // 2
    for _ in range(int(params.obstacles)):
        _place(params, state, rng, OBSTACLE)
    for _ in range(int(params.dangers)):
        _place(params, state, rng, DANGER)
    for _ in range(int(params.foods)):
        _place(params, state, rng, FOOD)


@kernel()
def move_and_eat(params: Params, state: State, rng: U64, choice: int, moves: int) -> float:
    """Moves unless the way is blocked or the choice is none, eats, and returns what the agent stands on."""
    x, y = int(state.x), int(state.y)
    if choice < moves and state.cells[_cell(params, x + DX[choice], y + DY[choice])] != OBSTACLE:
        x, y = x + DX[choice], y + DY[choice]
        state.x, state.y = x, y
    state.step += 1.0
    cell = _cell(params, x, y)
    kind: float = state.cells[cell]
    if kind == FOOD:
        state.cells[cell] = _EMPTY
        state.eaten += 1.0
        _place(params, state, rng, FOOD)
    elif kind == DANGER:
        state.hurt += 1.0
    return kind


@kernel()
def sense_rays(params: Params, state: State, obs: F32M) -> None:
    """Writes for every ray how near food, danger and what ends it are: 1 - d/side."""
    cells = state.cells
    here = _cell(params, int(state.x), int(state.y))
    for ray in range(_RAYS):
        offset = _offset(params, ray)
        d, cell = 1, here + offset
        food, danger = 0, 0
        while cells[cell] != OBSTACLE:
            if cells[cell] == FOOD and food == 0:
                food = d
            elif cells[cell] == DANGER and danger == 0:
                danger = d
            d, cell = d + 1, cell + offset
        obs[0, 3 * ray] = _nearness(params, food)
        obs[0, 3 * ray + 1] = _nearness(params, danger)
        obs[0, 3 * ray + 2] = _nearness(params, d)


@kernel()
def _nearness(params: Params, d: int) -> np.float32:
    """How near a thing is that is d cells away; d = 0 stands for no thing."""
    return np.float32(1.0 - d / params.side if d > 0 else 0.0)


@kernel()
def write_count(params: Params, state: State, outcome: Outcome, metrics: Metrics) -> None:
    """Truncates the episode at the step limit and writes the metrics."""
    outcome.truncated = 1.0 if state.step >= params.max_steps else 0.0
    metrics.foods, metrics.dangers = state.eaten, state.hurt


@kernel()
def _search(params: Params, state: State, moves: int, shunned: float) -> int:
    """First move of a shortest way to a food that avoids cells of the shunned kind, or ``moves`` if there is none."""
    cells, queue, notes = state.cells, state.queue, state.notes
    notes[:] = 0.0
    here = _cell(params, int(state.x), int(state.y))
    queue[0], notes[here] = here, -1.0
    head, tail = 0, 1
    while head < tail:
        cell = int(queue[head])
        head += 1
        if cells[cell] == FOOD:
            return int(notes[cell]) - 1
        for move in range(moves):
            following = cell + _offset(params, move)
            if cells[following] in (OBSTACLE, shunned) or notes[following] != 0.0:
                continue
            notes[following] = move + 1.0 if cell == here else notes[cell]
            queue[tail] = following
            tail += 1
    return moves


@kernel()
def find_food(params: Params, state: State, moves: int) -> int:
    """First move of a shortest way to the nearest food around the dangers, through them if there is no other."""
    move = _search(params, state, moves, DANGER)
    return move if move < moves else _search(params, state, moves, OBSTACLE)


def grid_tables(side: int, things: int) -> Mapping[str, int]:
    """The sizes of the map; the kernels draw cells until they find an empty one, so ``things`` must leave one."""
    if things >= side * side:
        raise ValueError(f"a grid of {side} x {side} cells is too small for {things} things")
    return {"width": side + 2, "area": (side + 2) ** 2}


def ray_sensors() -> tuple[Sensor, ...]:
    """Food, danger and wall of every ray."""
    return tuple(Sensor(f"{kind}_{way}") for way in DIRECTIONS for kind in ("food", "danger", "wall"))


def text_items(side: int, state: State) -> Mapping[str, NDArray[np.float64]]:
    """What lies where, by the characters it is shown with, in the order it is shown."""
    cells = np.asarray(state.cells).reshape(side + 2, side + 2)[1:-1, 1:-1]
    looks = {"control": OBSTACLE, "food": FOOD, "predator": DANGER}
    items = {look: np.argwhere(cells == kind)[:, ::-1].astype(np.float64) for look, kind in looks.items()}
    return {**items, "worm_up": np.array([[state.x, state.y]])}
