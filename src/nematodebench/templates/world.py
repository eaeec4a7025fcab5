"""World `my_world`: a walker on a line looks for a lamp with two eyes. Change what makes it yours."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nematodebench.kernels.abi import Outcome, WorldMemory
from nematodebench.kernels.jit import F32M, U64, kernel
from nematodebench.kernels.math import exp64
from nematodebench.kernels.memory import Block, constant, number
from nematodebench.kernels.rng import uniform
from nematodebench.worlds.base import Discrete, Sensor, World

__all__ = ["MyWorld"]


class Params(Block):
    """The fields of :class:`MyWorld` that its physics needs."""

    length, stride, reach, max_steps = constant(), constant(), constant(), constant()


class State(Block):
    """Where the walker and the lamp are, the steps made, and the sum of what they were paid."""

    x, lamp, steps, paid = number(), number(), number(), number()


class Metrics(Block):
    """What is recorded of an episode."""

    closeness = number()


memory = WorldMemory(Params, State, Metrics)


@kernel()
def brightness(params: Params, state: State, x: float) -> float:
    """1 under the lamp, less with the distance."""
    return exp64(-abs(state.lamp - x) / params.reach)


@kernel()
def sense(params: Params, state: State, obs: F32M) -> None:
    """How bright it is, and how much brighter a stride to the right than a stride to the left."""
    left = brightness(params, state, state.x - params.stride)
    right = brightness(params, state, state.x + params.stride)
    obs[0, 0] = np.float32(brightness(params, state, state.x))
    obs[0, 1] = np.float32((right - left) / (right + left))


@memory.reset
def reset(params: Params, state: State, rng: U64, obs: F32M) -> None:
    """Walker and lamp are anywhere."""
    state.x, state.lamp = params.length * uniform(rng), params.length * uniform(rng)
    sense(params, state, obs)


@memory.kernel
def step(params: Params, state: State, action: F32M, obs: F32M, outcome: Outcome, metrics: Metrics) -> None:
    """One stride to the left (0) or right (1), or none (2)."""
    choice = int(action[0, 0])
    if choice < 2:
        state.x = min(max(state.x + (2 * choice - 1) * params.stride, 0.0), params.length)
    state.steps += 1.0
    outcome.reward[0] = brightness(params, state, state.x)
    state.paid += outcome.reward[0]
    outcome.truncated = 1.0 if state.steps >= params.max_steps else 0.0
    metrics.closeness = state.paid / state.steps
    sense(params, state, obs)


@dataclass(frozen=True)
class MyWorld(World):
    """A line of `length`; every step pays how bright it is (1 under the lamp), for `max_steps` steps."""

    length: float = 10.0
    stride: float = 0.5
    reach: float = 3.0
    max_steps: int = 60

    name: ClassVar[str] = "my_world"
    memory = memory
    reset = staticmethod(reset)
    step = staticmethod(step)

    @property
    def sensors(self) -> tuple[Sensor, ...]:
        """Brightness, and the relative difference between the eyes."""
        return (Sensor("brightness"), Sensor("difference", -1.0))

    @property
    def actions(self) -> Discrete:
        """Two strides and none."""
        return Discrete(("left", "right", "stay"))
