"""Brain `gradient_follower`: a hand-written worm that goes where the odour is stronger."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from nematodebench.brains.base import BrainClass, BrainConfig, CompiledBrain, Interface
from nematodebench.brains.parameters import parameter
from nematodebench.kernels.abi import BrainMemory
from nematodebench.kernels.jit import F32, U64, kernel
from nematodebench.kernels.memory import constant, counter, size
from nematodebench.kernels.rng import randint, uniform

__all__ = ["GradientFollower", "GradientFollowerConfig"]

_UNDECIDED = -1
_MISSING = -1


class GradientFollowerConfig(BrainConfig):
    """Parameters of `gradient_follower`."""

    randomness: float = parameter(0.1, 0, 1, "share of moves made at random")
    wander: float = parameter(0.03, 0, 1, "chance of a turn in a step without any odour")


class Memory(BrainMemory):
    """Of `gradient_follower`: which actions are which, where sensors are (-1 if missing), and the side it turns to."""

    randomness = constant()
    wander = constant()
    choices = size()
    forward = size()
    left = size()
    right = size()
    odour_sine = size()
    odour_cosine = size()
    change = size()
    lateral = size()
    touch = size()
    side = counter()


@kernel()
def _direction(brain: Memory, obs: F32) -> tuple[np.float32, np.float32]:
    """How much stronger the odour gets to the right and ahead; 0, 0 if nothing is known."""
    if brain.odour_sine >= 0:
        return obs[brain.odour_sine], obs[brain.odour_cosine]
    right = np.float32(0.0)
    if brain.lateral >= 0:
        # The difference spans two cells and the change one: tanh(u / 2) from tanh(u) makes them comparable.
        lateral = obs[brain.lateral]
        right = lateral / (np.float32(1.0) + np.sqrt(max(np.float32(0.0), np.float32(1.0) - lateral * lateral)))
    return right, obs[brain.change]


@kernel()
def _draw_side(brain: Memory, rng: U64) -> int:
    return brain.right if randint(rng, 2) else brain.left


@kernel()
def _turn(brain: Memory, rng: U64, right: np.float32, touch: bool) -> int:
    """The side the odour is on; the other one at a wall. Unknown: one drawn once and kept until the odour rises."""
    if right != 0.0:
        return brain.right if (right > 0.0) != touch else brain.left
    if brain.side == _UNDECIDED or touch:
        brain.side = _draw_side(brain, rng)
    return brain.side


@Memory.kernel
def begin_episode(brain: Memory) -> None:
    """Forgets which way it was turning."""
    brain.side = _UNDECIDED


@Memory.kernel
def act(brain: Memory, rng: U64, obs: F32, action: F32) -> None:
    """Goes ahead if that is where the odour is, otherwise turns towards it."""
    right, ahead = _direction(brain, obs)
    touch = brain.touch >= 0 and obs[brain.touch] > 0.0
    if uniform(rng) < brain.randomness:
        choice = randint(rng, brain.choices)
    elif right == 0.0 and ahead == 0.0:
        choice = _draw_side(brain, rng) if touch or uniform(rng) < brain.wander else brain.forward
    elif ahead > 0.0 and ahead >= abs(right):
        brain.side = _UNDECIDED
        choice = brain.forward
    else:
        choice = _turn(brain, rng, right, touch)
    action[0] = np.float32(choice)


class GradientFollower(CompiledBrain):
    """Follows the sensed gradient, with a share of random moves; it learns nothing.

    | what it senses | what it does |
    |---|---|
    | odour_sine, odour_cosine | ahead if the cosine is the largest component, otherwise a turn to the sine's side |
    | change, lateral | the same with the change for the cosine and half the lateral difference for the sine |
    | change | ahead while the odour rises, otherwise turns, always to the side drawn at the first (run and tumble) |
    | no odour at all | straight on with occasional turns |
    | touch | turns to the other side |

    The body must have the actions forward, left and right.
    """

    name: ClassVar[str] = "gradient_follower"
    kind: ClassVar[BrainClass] = "scripted"
    config = GradientFollowerConfig
    memory = Memory
    begin_episode = staticmethod(begin_episode)
    act = staticmethod(act)

    @classmethod
    def sizes(cls, config: GradientFollowerConfig, body: Interface) -> Mapping[str, Any]:
        """Finds sensors and actions by their names.

        Raises:
            ValueError: if the body lacks them.
        """
        sensed = set(body.sensors)
        if not ({"odour_sine", "odour_cosine"} <= sensed or "change" in sensed):
            raise ValueError(
                f"brain 'gradient_follower' needs the sensors odour_sine and odour_cosine, or change (and lateral); "
                f"this body has {', '.join(body.sensors) or 'none'}"
            )
        if not {"forward", "left", "right"} <= set(body.choice_names):
            raise ValueError(
                f"brain 'gradient_follower' needs the actions forward, left and right; "
                f"this body has {', '.join(body.choice_names) or f'{body.effectors} effectors'}"
            )
        moves = {name: body.choice_names.index(name) for name in ("forward", "left", "right")}
        names = ("odour_sine", "odour_cosine", "change", "lateral", "touch")
        places = {name: body.sensors.index(name) if name in sensed else _MISSING for name in names}
        return {**moves, **places, "side": _UNDECIDED}
