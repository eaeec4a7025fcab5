"""Worlds `torus` and `forage`: agents that see each other on a periodic square, without and with a source to find."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nematodebench.kernels.abi import OUT_REWARD, world_kernel
from nematodebench.kernels.angles import atan2_64, wrap
from nematodebench.kernels.jit import F32, F32M, F64, U64, kernel
from nematodebench.kernels.math import cos64, sin64
from nematodebench.kernels.rng import next_u64, uniform
from nematodebench.worlds.base import Effectors, Sensor, World
from nematodebench.worlds.draw.canvas import BODY, GOAL, INK, Canvas

__all__ = ["Forage", "Torus"]

_P_AGENTS, _P_SIDE, _P_RADIUS, _P_SPACING, _P_CAPTURE, _P_TICKS, _P_WINDOW = 0, 1, 2, 3, 4, 5, 6
_S_TICK, _S_CLOSENESS, _S_POLARIZATION, _S_MILLING, _S_NEAREST, _S_SOURCE = 0, 1, 2, 3, 4, 5
_S_AGENTS = 8
_X, _Y, _HEADING, _SPEED, _RATE, _COS, _SIN, _NEAREST = 0, 1, 2, 3, 4, 5, 6, 7
_WORDS = 8
_TWO_PI = 6.283185307179586
_SQRT_HALF = 0.7071067811865476
_THRUST, _TORQUE, _DRAG = 0.04, 0.07853981633974483, 0.2
_UNITS, _RAYS, _BANK = 31, 62, 64
_DIRECTIONS, _GRID = 46, 4.0
_DEGREES = 57.29577951308232
_NOISE, _NOISE_STEP = np.float32(0.1), np.float32(0.2 / 65535)
_SHIFTS, _MASK = (np.uint64(16), np.uint64(32), np.uint64(48)), np.uint64(0xFFFF)
_TRIES = 1000


@kernel()
def _shortest(d: float, side: float) -> float:
    """A difference of two coordinates, taken the short way round."""
    if d > 0.5 * side:
        return d - side
    return d + side if d < -0.5 * side else d


@kernel()
def _free(params: F64, state: F64, agent: int) -> bool:
    """Whether an agent is far enough from those placed before it."""
    a, side = _S_AGENTS + agent * _WORDS, params[_P_SIDE]
    for other in range(agent):
        b = _S_AGENTS + other * _WORDS
        dx, dy = _shortest(state[b + _X] - state[a + _X], side), _shortest(state[b + _Y] - state[a + _Y], side)
        if dx * dx + dy * dy < params[_P_SPACING] * params[_P_SPACING]:
            return False
    return True


@kernel()
def _place(params: F64, state: F64, rng: U64) -> None:
    for agent in range(int(params[_P_AGENTS])):
        a = _S_AGENTS + agent * _WORDS
        for _ in range(_TRIES):
            state[a + _X], state[a + _Y] = params[_P_SIDE] * uniform(rng), params[_P_SIDE] * uniform(rng)
            if _free(params, state, agent):
                break
        state[a + _HEADING] = _TWO_PI * uniform(rng)
        state[a + _COS], state[a + _SIN] = cos64(state[a + _HEADING]), sin64(state[a + _HEADING])


@kernel()
def _move(params: F64, state: F64, action: F32M) -> None:
    state[_S_TICK] += 1.0
    side = params[_P_SIDE]
    for agent in range(int(params[_P_AGENTS])):
        a = _S_AGENTS + agent * _WORDS
        left, right, thrust = float(action[agent, 0]), float(action[agent, 1]), float(action[agent, 2])
        state[a + _SPEED] += thrust * _THRUST - _DRAG * state[a + _SPEED]
        state[a + _RATE] += (right - left) * _TORQUE - _DRAG * state[a + _RATE]
        state[a + _HEADING] = wrap(state[a + _HEADING] + state[a + _RATE], _TWO_PI)
        state[a + _COS], state[a + _SIN] = cos64(state[a + _HEADING]), sin64(state[a + _HEADING])
        x = state[a + _X] + state[a + _SPEED] * state[a + _COS]
        y = state[a + _Y] + state[a + _SPEED] * state[a + _SIN]
        state[a + _X], state[a + _Y] = x - side * np.floor(x / side), y - side * np.floor(y / side)


@kernel()
def _rays_on(forward: float, sideways: float, radius: float) -> int:
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
def _see_others(params: F64, state: F64, agent: int) -> int:
    """Rays that meet another agent; the nearest neighbour's distance falls out on the way."""
    side, radius = params[_P_SIDE], params[_P_RADIUS]
    a = _S_AGENTS + agent * _WORDS
    x, y, c, s = state[a + _X], state[a + _Y], state[a + _COS], state[a + _SIN]
    rays, nearest = 0, side * side
    for other in range(int(params[_P_AGENTS])):
        if other != agent:
            b = _S_AGENTS + other * _WORDS
            dx, dy = _shortest(state[b + _X] - x, side), _shortest(state[b + _Y] - y, side)
            nearest = min(nearest, dx * dx + dy * dy)
            rays |= _rays_on(dx * c + dy * s, dy * c - dx * s, radius)
    state[a + _NEAREST] = np.sqrt(nearest)
    return rays


@kernel()
def _to_source(params: F64, state: F64, agent: int) -> tuple[float, float, float]:
    """The source seen from an agent: forward, sideways, distance."""
    a = _S_AGENTS + agent * _WORDS
    dx = _shortest(state[_S_SOURCE] - state[a + _X], params[_P_SIDE])
    dy = _shortest(state[_S_SOURCE + 1] - state[a + _Y], params[_P_SIDE])
    c, s = state[a + _COS], state[a + _SIN]
    return dx * c + dy * s, dy * c - dx * s, np.sqrt(dx * dx + dy * dy)


@kernel()
def _see_source(params: F64, state: F64, agent: int) -> int:
    """Rays that meet the source: all inside it."""
    forward, sideways, distance = _to_source(params, state, agent)
    if distance <= params[_P_CAPTURE]:
        return (1 << _DIRECTIONS) - 1
    return _rays_on(forward, sideways, params[_P_CAPTURE])


@kernel()
def _draw_bank(rays: F32, rng: U64) -> None:
    """A random number in 0..65535 for every ray: four from a word, because noise is what a tick costs most."""
    for word in range(_BANK // 4):
        bits = next_u64(rng)
        rays[4 * word] = np.float32(bits & _MASK)
        rays[4 * word + 1] = np.float32((bits >> _SHIFTS[0]) & _MASK)
        rays[4 * word + 2] = np.float32((bits >> _SHIFTS[1]) & _MASK)
        rays[4 * word + 3] = np.float32(bits >> _SHIFTS[2])


@kernel()
def _light_fan(rays: F32, on: int) -> None:
    """Turns random numbers into rays: on or off, noise, never below 0."""
    for unit in range(_UNITS):
        noise = rays[unit] * _NOISE_STEP - _NOISE
        rays[unit] = max(np.float32((on >> unit) & 1) + noise, np.float32(0.0))


@kernel()
def _write_bank(obs: F32M, agent: int, bank: int, on: int, rng: U64) -> None:
    """Both fans as shares of their sum, then the reserved zeros."""
    rays = obs[agent, bank * _BANK : (bank + 1) * _BANK]
    _draw_bank(rays, rng)
    # The left fan is the last 31 of the 46 directions, the right fan the first 31.
    _light_fan(rays[:_UNITS], on >> (_DIRECTIONS - _UNITS))
    _light_fan(rays[_UNITS:_RAYS], on)
    rays[_RAYS], rays[_RAYS + 1] = np.float32(0.0), np.float32(0.0)
    a, b, c, d = np.float32(0.0), np.float32(0.0), np.float32(0.0), np.float32(0.0)
    for n in range(0, _BANK, 4):
        a += rays[n]
        b += rays[n + 1]
        c += rays[n + 2]
        d += rays[n + 3]
    total = (a + b) + (c + d)
    scale = np.float32(1.0) / total if total > np.float32(0.0) else np.float32(0.0)
    for ray in range(_RAYS):
        rays[ray] = min(rays[ray] * scale, np.float32(1.0))


@kernel()
def _sense(params: F64, state: F64, rng: U64, obs: F32M, banks: int) -> None:
    for agent in range(int(params[_P_AGENTS])):
        _write_bank(obs, agent, 0, _see_others(params, state, agent), rng)
        if banks > 1:
            _write_bank(obs, agent, 1, _see_source(params, state, agent), rng)


@kernel()
def _centre(params: F64, state: F64, axis: int) -> float:
    """Circular mean of a coordinate, in [0, side)."""
    sine, cosine = 0.0, 0.0
    for agent in range(int(params[_P_AGENTS])):
        angle = _TWO_PI * state[_S_AGENTS + agent * _WORDS + axis] / params[_P_SIDE]
        sine += sin64(angle)
        cosine += cos64(angle)
    centre: float = params[_P_SIDE] * atan2_64(sine, cosine) / _TWO_PI
    return centre if centre >= 0.0 else centre + params[_P_SIDE]


@kernel()
def _describe(params: F64, state: F64) -> None:
    """Adds this tick's polarization, milling and nearest-neighbour distance to the window's sums."""
    agents, side = int(params[_P_AGENTS]), params[_P_SIDE]
    centre_x, centre_y = _centre(params, state, _X), _centre(params, state, _Y)
    hx, hy, rotation, nearest = 0.0, 0.0, 0.0, 0.0
    for agent in range(agents):
        a = _S_AGENTS + agent * _WORDS
        c, s = state[a + _COS], state[a + _SIN]
        dx, dy = _shortest(state[a + _X] - centre_x, side), _shortest(state[a + _Y] - centre_y, side)
        distance = np.sqrt(dx * dx + dy * dy)
        if distance > 0.0:
            rotation += (dx * s - dy * c) / distance
        hx += c
        hy += s
        nearest += state[a + _NEAREST]
    state[_S_POLARIZATION] += np.sqrt(hx * hx + hy * hy) / agents
    state[_S_MILLING] += abs(rotation) / agents
    state[_S_NEAREST] += nearest / agents


@kernel()
def _counts(params: F64, state: F64) -> bool:
    """Whether this tick lies in the window."""
    inside: bool = state[_S_TICK] > params[_P_TICKS] - params[_P_WINDOW]
    return inside


@kernel()
def _finish(params: F64, state: F64, out: F64, first: int) -> None:
    """Flags, and the descriptors from ``first`` on."""
    if _counts(params, state):
        _describe(params, state)
    out[0] = 0.0
    out[1] = 1.0 if state[_S_TICK] >= params[_P_TICKS] else 0.0
    for n in range(3):
        out[first + n] = state[_S_POLARIZATION + n] / params[_P_WINDOW]


@kernel()
def _pay(params: F64, state: F64, out: F64) -> None:
    """Closeness to the source as every agent's reward, and the score."""
    agents = int(params[_P_AGENTS])
    farthest = params[_P_SIDE] * _SQRT_HALF
    total = 0.0
    for agent in range(agents):
        _, _, distance = _to_source(params, state, agent)
        out[OUT_REWARD + agent] = 1.0 - distance / farthest
        total += out[OUT_REWARD + agent]
    if _counts(params, state):
        state[_S_CLOSENESS] += total / agents
    out[OUT_REWARD + agents] = min(max(state[_S_CLOSENESS] / params[_P_WINDOW], 0.0), 1.0)


@world_kernel
def reset_torus(params: F64, state: F64, rng: U64, action: F32M, obs: F32M, out: F64) -> None:
    """Agents at rest, apart."""
    state[:] = 0.0
    _place(params, state, rng)
    _sense(params, state, rng, obs, 1)
    out[:] = 0.0


@world_kernel
def step_torus(params: F64, state: F64, rng: U64, action: F32M, obs: F32M, out: F64) -> None:
    """All move, then all see."""
    _move(params, state, action)
    _sense(params, state, rng, obs, 1)
    _finish(params, state, out, OUT_REWARD + int(params[_P_AGENTS]))


@world_kernel
def reset_forage(params: F64, state: F64, rng: U64, action: F32M, obs: F32M, out: F64) -> None:
    """Agents at rest, apart; the source anywhere."""
    state[:] = 0.0
    _place(params, state, rng)
    state[_S_SOURCE], state[_S_SOURCE + 1] = params[_P_SIDE] * uniform(rng), params[_P_SIDE] * uniform(rng)
    _sense(params, state, rng, obs, 2)
    out[:] = 0.0


@world_kernel
def step_forage(params: F64, state: F64, rng: U64, action: F32M, obs: F32M, out: F64) -> None:
    """All move, then all see and are paid."""
    _move(params, state, action)
    _sense(params, state, rng, obs, 2)
    _pay(params, state, out)
    _finish(params, state, out, OUT_REWARD + int(params[_P_AGENTS]) + 1)


@world_kernel
def reference(params: F64, state: F64, rng: U64, action: F32M, obs: F32M, out: F64) -> None:
    """Turns to the source, swims there and stops on it."""
    for agent in range(int(params[_P_AGENTS])):
        a = _S_AGENTS + agent * _WORDS
        forward, sideways, distance = _to_source(params, state, agent)
        error = atan2_64(sideways, forward)
        torque = (0.5 * error - (1.0 - _DRAG) * state[a + _RATE]) / _TORQUE
        # On the way a turn costs nothing but time; near the source moving in a wrong direction leads away from it.
        wanted = min(_DRAG * distance, _THRUST / _DRAG) if forward > 0.7 * distance else 0.0
        thrust = (wanted - (1.0 - _DRAG) * state[a + _SPEED]) / _THRUST
        action[agent, 0] = np.float32(min(max(-torque, 0.0), 1.0))
        action[agent, 1] = np.float32(min(max(torque, 0.0), 1.0))
        action[agent, 2] = np.float32(min(max(thrust, 0.0), 1.0))


def _bank(name: str) -> tuple[Sensor, ...]:
    rays = tuple(Sensor(f"{name}_{fan}_{unit}") for fan in ("left", "right") for unit in range(_UNITS))
    return (*rays, Sensor(f"{name}_reserved_0"), Sensor(f"{name}_reserved_1"))


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
    reset: ClassVar[Any] = staticmethod(reset_torus)
    step: ClassVar[Any] = staticmethod(step_torus)
    metrics: ClassVar[tuple[str, ...]] = ("polarization", "milling", "nearest_neighbour")

    @property
    def agents(self) -> int:
        """As many as asked for."""
        return self.n_agents

    @property
    def sensors(self) -> tuple[Sensor, ...]:
        """One bank of rays."""
        return _bank("agent")

    @property
    def actions(self) -> Effectors:
        """Two for turning, one for speed."""
        return Effectors(("e1", "e2", "e3"))

    @property
    def state_size(self) -> int:
        """Clock, sums, source, agents."""
        return _S_AGENTS + _WORDS * self.n_agents

    def pack(self) -> F64:
        """The fields in order; a capture radius of 0 where there is no source."""
        capture = getattr(self, "capture", 0.0)
        fields = [self.n_agents, self.side, self.radius, self.spacing, capture, self.ticks, self.window]
        return np.array(fields, dtype=np.float64)

    def image(self, state: F64) -> NDArray[np.uint8]:
        """Agents with their headings, over the source if there is one."""
        canvas = Canvas(0.0, 0.0, self.side, self.side)
        canvas.disc(state[_S_SOURCE], state[_S_SOURCE + 1], getattr(self, "capture", 0.0), GOAL)
        for x, y, heading in state[_S_AGENTS:].reshape(-1, _WORDS)[:, :3]:
            canvas.disc(x, y, self.radius, BODY)
            canvas.line(x, y, heading, self.radius, INK)
        return canvas.pixels

    def text(self, state: F64) -> str:
        """The agents' places."""
        places = state[_S_AGENTS:].reshape(-1, _WORDS)[:, :2]
        return f"tick {state[_S_TICK]:.0f} agents " + " ".join(f"{x:.1f},{y:.1f}" for x, y in places)


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
    reset: ClassVar[Any] = staticmethod(reset_forage)
    step: ClassVar[Any] = staticmethod(step_forage)
    reference: ClassVar[Any] = staticmethod(reference)
    metrics: ClassVar[tuple[str, ...]] = ("forage_score", "polarization", "milling", "nearest_neighbour")

    @property
    def sensors(self) -> tuple[Sensor, ...]:
        """Two banks of rays."""
        return (*_bank("agent"), *_bank("source"))
