"""Bodies on a periodic square: the memory that all swarm worlds share, how agents are placed and how they move."""

import numpy as np

from nematodebench.kernels.angles import PI, TWO_PI, wrap
from nematodebench.kernels.jit import F32M, U64, kernel
from nematodebench.kernels.math import cos64, sin64
from nematodebench.kernels.memory import Block, constant, number, numbers, size
from nematodebench.kernels.rng import uniform

__all__ = ["DRAG", "THRUST", "TORQUE", "SwarmParams", "SwarmState", "move", "place", "shortest"]

THRUST, TORQUE, DRAG = 0.04, PI / 40.0, 0.2
_TRIES = 1000


class SwarmParams(Block):
    """What every swarm world is told."""

    agents = size()
    side = constant()
    radius = constant()
    spacing = constant()
    ticks = constant()
    window = constant()


class SwarmState(Block, sizes=SwarmParams):
    """The clock, the sums of the window, and one entry an agent in every array."""

    tick = number()
    polarization = number()
    milling = number()
    nearest_neighbour = number()
    x = numbers("agents")
    y = numbers("agents")
    heading = numbers("agents")
    speed = numbers("agents")
    rate = numbers("agents")
    cosine = numbers("agents")
    """Of the heading, like the sine: all who look around use them."""
    sine = numbers("agents")
    nearest = numbers("agents")
    """Distance to the nearest other agent."""


@kernel()
def shortest(d: float, side: float) -> float:
    """A difference of two coordinates, taken the short way round."""
    if d > 0.5 * side:
        return d - side
    return d + side if d < -0.5 * side else d


@kernel()
def _is_free(params: SwarmParams, state: SwarmState, agent: int) -> bool:
    """Whether an agent is far enough from those placed before it."""
    for other in range(agent):
        dx = shortest(state.x[other] - state.x[agent], params.side)
        dy = shortest(state.y[other] - state.y[agent], params.side)
        if dx * dx + dy * dy < params.spacing * params.spacing:
            return False
    return True


@kernel()
def _face(state: SwarmState, agent: int, heading: float) -> None:
    state.heading[agent] = heading
    state.cosine[agent], state.sine[agent] = cos64(heading), sin64(heading)


@kernel()
def place(params: SwarmParams, state: SwarmState, rng: U64) -> None:
    """Puts all agents at random places, apart from each other if that can be had, with random headings."""
    for agent in range(params.agents):
        for _ in range(_TRIES):
            state.x[agent], state.y[agent] = params.side * uniform(rng), params.side * uniform(rng)
            if _is_free(params, state, agent):
                break
        _face(state, agent, TWO_PI * uniform(rng))


@kernel()
def move(params: SwarmParams, state: SwarmState, action: F32M) -> None:
    """One tick of motion for all agents."""
    state.tick += 1.0
    side = params.side
    for agent in range(params.agents):
        turn, thrust = float(action[agent, 1] - action[agent, 0]), float(action[agent, 2])
        state.speed[agent] += thrust * THRUST - DRAG * state.speed[agent]
        state.rate[agent] += turn * TORQUE - DRAG * state.rate[agent]
        _face(state, agent, wrap(state.heading[agent] + state.rate[agent], TWO_PI))
        x = state.x[agent] + state.speed[agent] * state.cosine[agent]
        y = state.y[agent] + state.speed[agent] * state.sine[agent]
        state.x[agent], state.y[agent] = x - side * np.floor(x / side), y - side * np.floor(y / side)
