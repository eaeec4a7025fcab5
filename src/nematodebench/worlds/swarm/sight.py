"""What agents see: two fans of rays, on where they meet a disc, with noise, as shares of their sum."""

import numpy as np

from nematodebench.kernels.angles import PI, atan2_64
from nematodebench.kernels.jit import F32, F32M, U64, kernel
from nematodebench.kernels.rng import next_u64
from nematodebench.worlds.base import Sensor
from nematodebench.worlds.swarm.body import SwarmParams, SwarmState, shortest

__all__ = ["ALL_RAYS", "BANK", "UNITS", "bank_sensors", "rays_on", "see_others", "write_bank"]

UNITS, _RAYS, BANK = 31, 62, 64
_DIRECTIONS, _GRID = 46, 4.0
_DEGREES = 180.0 / PI
_NOISE, _NOISE_STEP = np.float32(0.1), np.float32(0.2 / 65535)
_SHIFTS, _MASK = (np.uint64(16), np.uint64(32), np.uint64(48)), np.uint64(0xFFFF)

ALL_RAYS = (1 << _DIRECTIONS) - 1


@kernel()
def rays_on(forward: float, sideways: float, radius: float) -> int:
    """The rays that meet a disc at a place relative to the agent, as bits of the directions -90, -86, ..., 90."""
    # No ray points more than 90 degrees aside, so a disc wholly behind needs no trigonometry.
    if forward < -radius:
        return 0
    beyond = forward * forward + sideways * sideways - radius * radius
    bearing = 90.0 + _DEGREES * atan2_64(sideways, forward)
    half_width = _DEGREES * atan2_64(radius, np.sqrt(beyond)) if beyond > 0.0 else 90.0
    first = max(int(np.ceil((bearing - half_width) / _GRID)), 0)
    last = min(int(np.floor((bearing + half_width) / _GRID)), _DIRECTIONS - 1)
    return ((1 << (last - first + 1)) - 1) << first if last >= first else 0


@kernel()
def see_others(params: SwarmParams, state: SwarmState, agent: int) -> int:
    """The rays that meet another agent; the distance of the nearest one falls out on the way."""
    side, radius = params.side, params.radius
    x, y, c, s = state.x[agent], state.y[agent], state.cosine[agent], state.sine[agent]
    rays, nearest = 0, side * side
    for other in range(params.agents):
        if other != agent:
            dx, dy = shortest(state.x[other] - x, side), shortest(state.y[other] - y, side)
            nearest = min(nearest, dx * dx + dy * dy)
            rays |= rays_on(dx * c + dy * s, dy * c - dx * s, radius)
    state.nearest[agent] = np.sqrt(nearest)
    return rays


@kernel()
def _draw_bank(rays: F32, rng: U64) -> None:
    """A random number in 0..65535 for every ray: four from a word, because noise is what a tick costs most."""
    for word in range(BANK // 4):
        bits = next_u64(rng)
        rays[4 * word] = np.float32(bits & _MASK)
        rays[4 * word + 1] = np.float32((bits >> _SHIFTS[0]) & _MASK)
        rays[4 * word + 2] = np.float32((bits >> _SHIFTS[1]) & _MASK)
        rays[4 * word + 3] = np.float32(bits >> _SHIFTS[2])


@kernel()
def _light_fan(rays: F32, on: int) -> None:
    """Turns random numbers into rays: on or off, noise, never below 0."""
    for unit in range(UNITS):
        noise = rays[unit] * _NOISE_STEP - _NOISE
        rays[unit] = max(np.float32((on >> unit) & 1) + noise, np.float32(0.0))


@kernel()
def _share(rays: F32) -> None:
    """Divides all rays by their sum, which is taken in four parts so that it vectorises."""
    a, b, c, d = np.float32(0.0), np.float32(0.0), np.float32(0.0), np.float32(0.0)
    for n in range(0, BANK, 4):
        a += rays[n]
        b += rays[n + 1]
        c += rays[n + 2]
        d += rays[n + 3]
    total = (a + b) + (c + d)
    scale = np.float32(1.0) / total if total > np.float32(0.0) else np.float32(0.0)
    for ray in range(_RAYS):
        rays[ray] = min(rays[ray] * scale, np.float32(1.0))


@kernel()
def write_bank(obs: F32M, agent: int, bank: int, on: int, rng: U64) -> None:
    """Writes both fans as shares of their sum, then the reserved zeros."""
    rays = obs[agent, bank * BANK : (bank + 1) * BANK]
    _draw_bank(rays, rng)
    # The left fan is the last 31 of the 46 directions, the right fan the first 31.
    _light_fan(rays[:UNITS], on >> (_DIRECTIONS - UNITS))
    _light_fan(rays[UNITS:_RAYS], on)
    rays[_RAYS], rays[_RAYS + 1] = np.float32(0.0), np.float32(0.0)
    _share(rays)


def bank_sensors(name: str) -> tuple[Sensor, ...]:
    """The sensors that one bank fills."""
    rays = tuple(Sensor(f"{name}_{fan}_{unit}") for fan in ("left", "right") for unit in range(UNITS))
    return (*rays, Sensor(f"{name}_reserved_0"), Sensor(f"{name}_reserved_1"))
