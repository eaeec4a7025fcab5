"""Descriptors of a swarm's order: how much agents head the same way, circle around their centre and keep together."""

import numpy as np

from nematodebench.kernels.angles import TWO_PI, atan2_64
from nematodebench.kernels.jit import F64, kernel
from nematodebench.kernels.math import cos64, sin64
from nematodebench.worlds.swarm.body import SwarmParams, SwarmState, shortest

__all__ = ["add_order", "is_counted", "mean_order"]


@kernel()
def is_counted(params: SwarmParams, state: SwarmState) -> bool:
    """Whether this tick lies in the window."""
    return state.tick > params.ticks - params.window


@kernel()
def _centre(places: F64, side: float) -> float:
    """Circular mean of a coordinate, in [0, side)."""
    sine, cosine = 0.0, 0.0
    for agent in range(places.size):
        angle = TWO_PI * places[agent] / side
        sine += sin64(angle)
        cosine += cos64(angle)
    centre = side * atan2_64(sine, cosine) / TWO_PI
    return centre if centre >= 0.0 else centre + side


@kernel()
def add_order(params: SwarmParams, state: SwarmState) -> None:
    """Adds the polarization, milling and nearest-neighbour distance of this tick to the sums of the window."""
    agents, side = params.agents, params.side
    centre_x, centre_y = _centre(state.x, side), _centre(state.y, side)
    hx, hy, rotation, nearest = 0.0, 0.0, 0.0, 0.0
    for agent in range(agents):
        c, s = state.cosine[agent], state.sine[agent]
        dx, dy = shortest(state.x[agent] - centre_x, side), shortest(state.y[agent] - centre_y, side)
        distance = np.sqrt(dx * dx + dy * dy)
        if distance > 0.0:
            rotation += (dx * s - dy * c) / distance
        hx += c
        hy += s
        nearest += state.nearest[agent]
    state.polarization += np.sqrt(hx * hx + hy * hy) / agents
    state.milling += abs(rotation) / agents
    state.nearest_neighbour += nearest / agents


@kernel()
def mean_order(params: SwarmParams, state: SwarmState) -> tuple[float, float, float]:
    """Polarization, milling and nearest-neighbour distance as means over the window."""
    window = params.window
    return state.polarization / window, state.milling / window, state.nearest_neighbour / window
