"""World `torus`: agents of one kind see each other on a periodic square; there is nothing to do."""

from dataclasses import dataclass
from typing import ClassVar

from nematodebench.kernels.abi import Outcome, WorldMemory
from nematodebench.kernels.jit import F32M, F64M, U64, kernel
from nematodebench.kernels.memory import Block, number
from nematodebench.kernels.scene import RAY
from nematodebench.worlds.base import Effectors, Sensor, World
from nematodebench.worlds.picture import Picture
from nematodebench.worlds.swarm.body import SwarmParams, SwarmState, move, place
from nematodebench.worlds.swarm.order import add_order, is_counted, mean_order
from nematodebench.worlds.swarm.scenes import draw_agents, draw_bank
from nematodebench.worlds.swarm.sight import bank_sensors, see_others, write_bank

__all__ = ["Torus"]


class Metrics(Block):
    """The descriptors."""

    polarization = number()
    milling = number()
    nearest_neighbour = number()


memory = WorldMemory(SwarmParams, SwarmState, Metrics)


@kernel()
def _sense(params: SwarmParams, state: SwarmState, rng: U64, obs: F32M) -> None:
    for agent in range(params.agents):
        write_bank(obs, agent, 0, see_others(params, state, agent), rng)


@memory.reset
def reset(params: SwarmParams, state: SwarmState, rng: U64, obs: F32M) -> None:
    """The agents are at rest, apart."""
    place(params, state, rng)
    _sense(params, state, rng, obs)


@memory.kernel
def step(
    params: SwarmParams, state: SwarmState, rng: U64, action: F32M, obs: F32M, outcome: Outcome, metrics: Metrics
) -> None:
    """All agents move, then all see."""
    move(params, state, action)
    _sense(params, state, rng, obs)
    if is_counted(params, state):
        add_order(params, state)
    metrics.polarization, metrics.milling, metrics.nearest_neighbour = mean_order(params, state)
    outcome.truncated = 1.0 if state.tick >= params.ticks else 0.0


@memory.scene
def scene(params: SwarmParams, state: SwarmState, obs: F32M, rows: F64M) -> None:
    """The agents, and what the first of them sees."""
    draw_bank(params, state, obs, rows, 0, RAY)
    draw_agents(params, state, rows)


@dataclass(frozen=True)
class Torus(World):
    """Agents of one kind on a periodic square; angles counter-clockwise.

    | sensor | range | value |
    |---|---|---|
    | agent_left_0..30, agent_right_0..30 | 0..1 | rays at heading +30 and -30 degrees plus -60..60 in steps of 4: 1 if another agent's bearing is within its angular half-width asin(radius/distance) of the ray (90 degrees when overlapping), plus noise uniform in +-0.1, floored at 0, divided by the sum over the 62 rays |
    | agent_reserved_0, 1 | 0 | always 0 |

    | effector | range | effect |
    |---|---|---|
    | e1, e2 | 0..1 | turn rate += (e2 - e1) pi/40 - 0.2 turn rate; then heading += turn rate |
    | e3 | 0..1 | speed += 0.04 e3 - 0.2 speed; then the agent moves along the new heading |

    | what | rule |
    |---|---|
    | start | uniform places at least `spacing` apart (given up after 1000 tries), uniform headings, at rest |
    | bodies | agents pass through each other |
    | reward | 0 |
    | end | after `ticks` (truncated) |
    | descriptors | means over the last `window` ticks: polarization = length of the mean unit heading; milling = absolute mean of the cross product of the unit vector from the circular centroid and the unit heading; nearest_neighbour = mean distance |
    """  # noqa: E501

    n_agents: int = 8
    side: float = 15.0
    radius: float = 0.5
    spacing: float = 1.2
    ticks: int = 1000
    window: int = 1000

    name: ClassVar[str] = "torus"
    memory = memory
    reset = staticmethod(reset)
    step = staticmethod(step)
    scene = staticmethod(scene)

    @property
    def agents(self) -> int:
        """There are as many as asked for."""
        return self.n_agents

    @property
    def sensors(self) -> tuple[Sensor, ...]:
        """There is one bank of rays."""
        return bank_sensors("agent")

    @property
    def actions(self) -> Effectors:
        """Two effectors turn an agent, one drives it."""
        return Effectors(("e1", "e2", "e3"))

    def picture(self) -> Picture:
        """The square, whose opposite edges are one."""
        legend = {"brain": "agents (ring: the one whose rays are shown)", "ray": "rays that see agents"}
        view = (0.0, 0.0, self.side, self.side)
        return Picture(view, words=("tick", "closeness"), legend=legend, periodic=True, trail=25, frames=30)

    def text(self, state: SwarmState) -> str:
        """Says where the agents are."""
        places = " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(state.x, state.y, strict=True))
        return f"tick {state.tick:.0f} agents {places}"
