"""What the pictures of grids have in common: the cells, and the rays of those who look around."""

from nematodebench.kernels.angles import PI
from nematodebench.kernels.jit import F32M, F64M, kernel
from nematodebench.kernels.scene import (
    BRAIN,
    DANGER,
    FOOD,
    MUTED,
    RAY,
    WALL,
    body,
    disc,
    line,
    readout,
    rectangle,
    triangle,
)
from nematodebench.worlds.grid import rays
from nematodebench.worlds.grid.rays import DX, DY, OBSTACLE, Params, State

__all__ = ["RAY_LEGEND", "RAY_WORDS", "draw_agent", "draw_cells", "draw_rays"]

RAY_WORDS = ("step", "eaten", "hurt")
RAY_LEGEND = {"brain": "agent", "food": "food", "danger": "danger", "wall": "obstacle", "ray": "rays"}
_ANGLES = (PI / 2.0, 0.0, -PI / 2.0, PI, PI / 4.0, -PI / 4.0, -3.0 * PI / 4.0, 3.0 * PI / 4.0)
_DIAGONAL = 4


@kernel()
def draw_cells(rows: F64M, side: float) -> None:
    """Hairlines between the cells."""
    for n in range(1, int(side)):
        at = n - 0.5
        line(rows, MUTED, at, -0.5, at, side - 0.5, 0.0, 0.2)
        line(rows, MUTED, -0.5, at, side - 0.5, at, 0.0, 0.2)


@kernel()
def draw_agent(rows: F64M, x: float, y: float, choice: int, ways: int) -> None:
    """The agent, which looks where it went last; any choice but a way is none."""
    heading = _ANGLES[choice] if choice < ways else PI / 2.0
    body(rows, BRAIN, x, y, 0.34, 0.0, heading, 1.0)


@kernel()
def _ray(rows: F64M, role: float, state: State, way: int, reach: float, width: float, opacity: float) -> None:
    line(rows, role, state.x, state.y, state.x + reach * DX[way], state.y + reach * DY[way], width, opacity)


@kernel()
def _draw_things(params: Params, state: State, rows: F64M) -> None:
    for y in range(params.side):
        for x in range(params.side):
            kind = state.cells[(y + 1) * params.width + x + 1]
            if kind == rays.FOOD:
                disc(rows, FOOD, x, y, 0.3, 1.0)
            elif kind == rays.DANGER:
                triangle(rows, DANGER, x, y - 0.05, 0.8, 0.75, PI / 2.0, 1.0)
            elif kind == OBSTACLE:
                rectangle(rows, WALL, x, y, 0.9, 0.9, 0.0, 1.0)


@kernel()
def draw_rays(params: Params, state: State, action: F32M, obs: F32M, rows: F64M, ways: int) -> None:
    """The grid with what lies on it, the agent, its eight rays up to what ends them, and what they see on their way."""
    side = params.side
    draw_cells(rows, float(side))
    for way in range(len(_ANGLES)):
        food, danger, wall = obs[0, 3 * way], obs[0, 3 * way + 1], obs[0, 3 * way + 2]
        _ray(rows, RAY, state, way, (1.0 - wall) * side - 0.5, 0.0, 0.5)
        if food > 0.0:
            _ray(rows, FOOD, state, way, (1.0 - food) * side, 0.1, 0.25 + 0.6 * food)
        if danger > 0.0:
            _ray(rows, DANGER, state, way, (1.0 - danger) * side, 0.1, 0.25 + 0.6 * danger)
    _draw_things(params, state, rows)
    draw_agent(rows, state.x, state.y, int(action[0, 0]), ways)
    readout(rows, 0.0, 0.0, state.step)
    readout(rows, 1.0, 0.0, state.eaten)
    readout(rows, 2.0, 0.0, state.hurt)
