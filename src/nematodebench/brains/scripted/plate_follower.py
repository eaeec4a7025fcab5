"""Brain `plate_follower`: a hand-written worm for plates, which averages its noisy senses over its own movements."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from nematodebench.brains.base import BrainClass, BrainConfig, CompiledBrain, Interface
from nematodebench.brains.parameters import parameter
from nematodebench.kernels.abi import BrainMemory
from nematodebench.kernels.angles import PI, atan2_64
from nematodebench.kernels.jit import F32, kernel
from nematodebench.kernels.math import cos64, sin64
from nematodebench.kernels.memory import constant, counter, real, size

__all__ = ["PlateFollower", "PlateFollowerConfig"]

_LEVEL, _RISE, _FALL, _TO_RIGHT, _TO_LEFT = 0, 1, 2, 3, 4
_FORWARD, _LEFT, _RIGHT = 0, 1, 2
_SHARPEST = PI / 6.0
_MOST, _GIVEN, _REMEMBERED = 0, 1, 2
_GOALS = {"smell": _MOST, "oxygen": _GIVEN, "temperature": _REMEMBERED}
"""What the worm wants of what it senses: the most, a certain level, or the level that it sensed at first."""
_BEHIND = ("rise", "fall", "right", "left", "touch")


class PlateFollowerConfig(BrainConfig):
    """Parameters of `plate_follower`."""

    keep: float = parameter(0.9, 0, 1, "share of the sensed gradient that is kept from tick to tick")
    mean: float = parameter(0.9, 0, 1, "share of the sensed level that is kept from tick to tick")
    enough: float = parameter(0.98, 0, 1, "smell at which it rests")
    oxygen: float = parameter(0.405, 0, 1, "oxygen that it looks for")
    oxygen_near: float = parameter(0.06, 0, 1, "difference from that at which it rests")
    warmth_near: float = parameter(0.02, 0, 1, "difference from the temperature it remembers at which it rests")
    held: int = parameter(40, 1, 1000, "first ticks in which it learns the temperature to remember")


class Memory(BrainMemory):
    """Of `plate_follower`: the gradient as seen from its body, the level, and the level to remember."""

    keep = constant()
    mean = constant()
    enough = constant()
    oxygen = constant()
    oxygen_near = constant()
    warmth_near = constant()
    held = size()
    goal = size()
    ticks = counter()
    ahead = real()
    aside = real()
    level = real()
    remembered = real()
    turned = real()  # by its own last action
    moved = real()


@Memory.kernel
def begin_episode(brain: Memory, obs: F32) -> None:
    """Forgets where it was going."""
    brain.ticks = 0
    brain.ahead, brain.aside = np.float32(0.0), np.float32(0.0)
    brain.level, brain.remembered = obs[_LEVEL], np.float32(0.0)
    brain.turned, brain.moved = np.float32(0.0), np.float32(0.0)


@kernel()
def _wish(brain: Memory) -> tuple[float, bool]:
    """1 to climb the gradient, -1 to descend it, and whether the worm is where it wants to be."""
    level = np.float64(brain.level)
    if brain.goal == _MOST:
        return 1.0, bool(level >= brain.enough)
    wanted = brain.oxygen if brain.goal == _GIVEN else np.float64(brain.remembered) / brain.held
    near = brain.oxygen_near if brain.goal == _GIVEN else brain.warmth_near
    return (1.0 if level < wanted else -1.0), bool(abs(level - wanted) <= near)


@kernel()
def _average(brain: Memory, obs: F32) -> None:
    """The gradient turns with the body; what is sensed now is added to what is kept of it."""
    turned, keep = np.float64(brain.turned), brain.keep
    c, s = cos64(turned), sin64(turned)
    ahead, aside = np.float64(brain.ahead), np.float64(brain.aside)
    change, sweep = obs[_RISE] - obs[_FALL], obs[_TO_LEFT] - obs[_TO_RIGHT]
    brain.ahead = np.float32(keep * (ahead * c + aside * s) + brain.moved * change)
    brain.aside = np.float32(keep * (aside * c - ahead * s) + sweep)
    brain.level = np.float32(brain.mean * brain.level + (1.0 - brain.mean) * obs[_LEVEL])


@Memory.kernel
def act(brain: Memory, obs: F32, action: F32) -> None:
    """Turns to where the average says that it gets better, and crawls there."""
    if brain.goal == _REMEMBERED and brain.ticks < brain.held:
        brain.ticks += 1
        brain.remembered += obs[_LEVEL]
        brain.level = obs[_LEVEL]
        action[:] = np.float32(0.0)
        return
    _average(brain, obs)
    wish, there = _wish(brain)
    turn = min(max(atan2_64(wish * np.float64(brain.aside), wish * np.float64(brain.ahead)) / _SHARPEST, -1.0), 1.0)
    brain.turned, brain.moved = np.float32(_SHARPEST * turn), np.float32(0.0 if there else 1.0)
    action[_FORWARD] = brain.moved
    action[_LEFT], action[_RIGHT] = np.float32(max(turn, 0.0)), np.float32(max(-turn, 0.0))


class PlateFollower(CompiledBrain):
    """Averages rise, fall and the sweep of its head in a frame that turns with its body; it learns nothing.

    | what it senses | what it does |
    |---|---|
    | smell | climbs the averaged gradient, rests where the averaged smell is strong enough |
    | oxygen | climbs or descends it to the level it prefers, rests near that |
    | temperature | remembers the mean of its first ticks, climbs or descends to that, rests near it |

    The body must be that of a plate: one of these sensors first, then rise, fall, right, left and touch.
    """

    name: ClassVar[str] = "plate_follower"
    kind: ClassVar[BrainClass] = "scripted"
    config = PlateFollowerConfig
    memory = Memory
    begin_episode = staticmethod(begin_episode)
    act = staticmethod(act)

    @classmethod
    def sizes(cls, config: PlateFollowerConfig, body: Interface) -> Mapping[str, Any]:
        """Finds out what it is to look for.

        Raises:
            ValueError: if the body is not that of a plate.
        """
        first, *others = body.sensors or ("",)
        if first not in _GOALS or tuple(others) != _BEHIND or body.effectors != 3:
            raise ValueError(
                f"brain 'plate_follower' needs the sensors {', '.join(_GOALS)} (one of them), {', '.join(_BEHIND)} "
                f"and three effectors; this body has {', '.join(body.sensors) or 'none'}"
            )
        return {"goal": _GOALS[first]}
