"""What the pictures of swarms have in common: the agents, and what the first of them sees."""

from nematodebench.kernels.angles import PI
from nematodebench.kernels.jit import F32M, F64M, kernel
from nematodebench.kernels.math import cos64, sin64
from nematodebench.kernels.scene import BRAIN, body, line, readout, ring
from nematodebench.worlds.swarm.body import SwarmParams, SwarmState
from nematodebench.worlds.swarm.sight import BANK, UNITS

__all__ = ["draw_agents", "draw_bank"]

_RADIANS = PI / 180.0
_REACH = 5.0
"""Length of a ray that sees something, in radii of an agent."""


@kernel()
def draw_bank(params: SwarmParams, state: SwarmState, obs: F32M, rows: F64M, bank: int, role: float) -> None:
    """The rays of one bank of the first agent, longer and brighter where they see."""
    brightest = 0.0
    for ray in range(2 * UNITS):
        brightest = max(brightest, float(obs[0, bank * BANK + ray]))
    if brightest <= 0.0:
        return
    for fan in range(2):
        for unit in range(UNITS):
            seen = obs[0, bank * BANK + fan * UNITS + unit] / brightest
            turn = (30.0 if fan == 0 else -30.0) - 60.0 + 4.0 * unit
            angle = state.heading[0] + turn * _RADIANS
            c, s = cos64(angle), sin64(angle)
            near, far = params.radius, params.radius * (1.0 + _REACH * seen)
            x, y = state.x[0], state.y[0]
            line(rows, role, x + near * c, y + near * s, x + far * c, y + far * s, 0.0, 0.15 + 0.75 * seen)


@kernel()
def draw_agents(params: SwarmParams, state: SwarmState, rows: F64M) -> None:
    """All agents; a ring marks the one whose rays are shown."""
    ring(rows, BRAIN, state.x[0], state.y[0], 1.6 * params.radius, 0.12 * params.radius, 0.9)
    for agent in range(params.agents):
        body(rows, BRAIN, state.x[agent], state.y[agent], params.radius, 0.0, state.heading[agent], 1.0)
    readout(rows, 0.0, 0.0, state.tick)
