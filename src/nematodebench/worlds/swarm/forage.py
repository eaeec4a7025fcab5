"""World `forage`: agents that see each other on a periodic square look for one source."""

import dataclasses
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nematodebench.kernels.abi import Outcome, WorldMemory
from nematodebench.kernels.angles import atan2_64
from nematodebench.kernels.jit import F32M, F64M, U64, kernel
from nematodebench.kernels.memory import Block, constant, number
from nematodebench.kernels.rng import uniform
from nematodebench.kernels.scene import FOOD, RAY, bar, disc, ring
from nematodebench.worlds.base import Sensor
from nematodebench.worlds.picture import Picture
from nematodebench.worlds.swarm.body import DRAG, THRUST, TORQUE, SwarmParams, SwarmState, move, place, shortest
from nematodebench.worlds.swarm.order import add_order, is_counted, mean_order
from nematodebench.worlds.swarm.scenes import draw_agents, draw_bank
from nematodebench.worlds.swarm.sight import ALL_RAYS, bank_sensors, rays_on, see_others, write_bank
from nematodebench.worlds.swarm.torus import Torus

__all__ = ["Forage"]

_SQRT_HALF = 0.7071067811865476


class Params(SwarmParams):
    """The fields of :class:`Forage`."""

    capture = constant()


class State(SwarmState, sizes=Params):
    """The source, and the sum of closeness in the window."""

    source_x = number()
    source_y = number()
    closeness = number()


class Metrics(Block):
    """The score and the descriptors."""

    forage_score = number()
    polarization = number()
    milling = number()
    nearest_neighbour = number()


memory = WorldMemory(Params, State, Metrics)


@kernel()
def _to_source(params: Params, state: State, agent: int) -> tuple[float, float, float]:
    """The source as an agent sees it: forward, sideways, distance."""
    dx = shortest(state.source_x - state.x[agent], params.side)
    dy = shortest(state.source_y - state.y[agent], params.side)
    c, s = state.cosine[agent], state.sine[agent]
    return dx * c + dy * s, dy * c - dx * s, np.sqrt(dx * dx + dy * dy)


@kernel()
def _see_source(params: Params, state: State, agent: int) -> int:
    """The rays that meet the source; inside it all do."""
    forward, sideways, distance = _to_source(params, state, agent)
    if distance <= params.capture:
        return ALL_RAYS
    return rays_on(forward, sideways, params.capture)


@kernel()
def _sense(params: Params, state: State, rng: U64, obs: F32M) -> None:
    for agent in range(params.agents):
        write_bank(obs, agent, 0, see_others(params, state, agent), rng)
        write_bank(obs, agent, 1, _see_source(params, state, agent), rng)


@kernel()
def _pay(params: Params, state: State, outcome: Outcome) -> float:
    """Pays every agent its closeness to the source; returns the mean."""
    farthest = params.side * _SQRT_HALF
    total = 0.0
    for agent in range(params.agents):
        _, _, distance = _to_source(params, state, agent)
        closeness = 1.0 - distance / farthest
        outcome.reward[agent] = closeness
        total += closeness
    return total / params.agents


@memory.reset
def reset(params: Params, state: State, rng: U64, obs: F32M) -> None:
    """The agents are at rest, apart; the source is anywhere."""
    place(params, state, rng)
    state.source_x, state.source_y = params.side * uniform(rng), params.side * uniform(rng)
    _sense(params, state, rng, obs)


@memory.kernel
def step(params: Params, state: State, rng: U64, action: F32M, obs: F32M, outcome: Outcome, metrics: Metrics) -> None:
    """All agents move, then all see and are paid."""
    move(params, state, action)
    _sense(params, state, rng, obs)
    closeness = _pay(params, state, outcome)
    if is_counted(params, state):
        state.closeness += closeness
        add_order(params, state)
    metrics.forage_score = min(max(state.closeness / params.window, 0.0), 1.0)
    metrics.polarization, metrics.milling, metrics.nearest_neighbour = mean_order(params, state)
    outcome.truncated = 1.0 if state.tick >= params.ticks else 0.0


@memory.kernel
def reference(params: Params, state: State, action: F32M) -> None:
    """Turns to the source, swims there and stops on it."""
    for agent in range(params.agents):
        forward, sideways, distance = _to_source(params, state, agent)
        error = atan2_64(sideways, forward)
        torque = (0.5 * error - (1.0 - DRAG) * state.rate[agent]) / TORQUE
        # On the way a turn costs nothing but time; near the source moving in a wrong direction leads away from it.
        wanted = min(DRAG * distance, THRUST / DRAG) if forward > 0.7 * distance else 0.0
        thrust = (wanted - (1.0 - DRAG) * state.speed[agent]) / THRUST
        action[agent, 0] = np.float32(min(max(-torque, 0.0), 1.0))
        action[agent, 1] = np.float32(min(max(torque, 0.0), 1.0))
        action[agent, 2] = np.float32(min(max(thrust, 0.0), 1.0))


@memory.scene
def scene(params: Params, state: State, obs: F32M, rows: F64M) -> None:
    """The source, the agents, and what the first of them sees."""
    disc(rows, FOOD, state.source_x, state.source_y, params.capture, 0.8)
    ring(rows, FOOD, state.source_x, state.source_y, 1.3 * params.capture, 0.06, 0.8)
    draw_bank(params, state, obs, rows, 0, RAY)
    draw_bank(params, state, obs, rows, 1, FOOD)
    draw_agents(params, state, rows)
    closeness = 0.0
    for agent in range(params.agents):
        closeness += 1.0 - _to_source(params, state, agent)[2] / (params.side * _SQRT_HALF)
    bar(rows, FOOD, 1.0, closeness / params.agents)


@dataclass(frozen=True)
class Forage(Torus):
    """As :class:`Torus`, with one source at a uniform place.

    | sensor | range | value |
    |---|---|---|
    | source_left_0..30, source_right_0..30, source_reserved_0, 1 | 0..1 | a second bank of the same kind for the source (a disc of radius `capture`), all on inside it |

    | what | rule |
    |---|---|
    | reward | closeness 1 - d/(side sqrt(2)/2), d = toroidal distance to the source; each agent its own |
    | forage_score | mean closeness of all agents over the last `window` ticks, clamped to [0, 1] |
    """  # noqa: E501

    capture: float = 1.0

    name: ClassVar[str] = "forage"
    memory = memory
    reset = staticmethod(reset)
    step = staticmethod(step)
    reference = staticmethod(reference)
    scene = staticmethod(scene)

    @property
    def sensors(self) -> tuple[Sensor, ...]:
        """There are two banks of rays."""
        return (*bank_sensors("agent"), *bank_sensors("source"))

    def picture(self) -> Picture:
        """As that of a torus, with the source."""
        picture = super().picture()
        return dataclasses.replace(picture, legend={**picture.legend, "food": "source, and rays that see it"})
