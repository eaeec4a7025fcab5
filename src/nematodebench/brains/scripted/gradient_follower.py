"""Brain `gradient_follower`: a hand-written worm that goes where the odour is stronger."""

from typing import ClassVar

import numpy as np
from pydantic import Field

from nematodebench.brains.base import BrainClass, BrainConfig, CompiledBrain, Interface, Layout
from nematodebench.kernels.abi import brain_kernel
from nematodebench.kernels.jit import F32, F32M, F64, I64, U64, kernel
from nematodebench.kernels.rng import randint, uniform

__all__ = ["GradientFollower", "GradientFollowerConfig"]

# Words of ints: where sensors are found (-1 if the body lacks them), which actions are which, and the side of the turn.
CHOICES, FORWARD, LEFT, RIGHT, SINE, COSINE, CHANGE, LATERAL, TOUCH, SIDE = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9
RANDOMNESS, WANDER = 0, 1


class GradientFollowerConfig(BrainConfig):
    """Parameters of `gradient_follower`."""

    randomness: float = Field(0.1, ge=0, le=1, description="share of moves made at random")
    wander: float = Field(0.03, ge=0, le=1, description="chance of a turn in a step without any odour")


@kernel()
def _direction(ints: I64, obs: F32M) -> tuple[np.float32, np.float32]:
    """How much stronger the odour gets to the right and ahead; 0, 0 if nothing is known."""
    if ints[SINE] >= 0:
        return obs[0, ints[SINE]], obs[0, ints[COSINE]]
    right = np.float32(0.0)
    if ints[LATERAL] >= 0:
        # The difference spans two cells and the change one: tanh(u / 2) from tanh(u) makes them comparable.
        lateral = obs[0, ints[LATERAL]]
        right = lateral / (np.float32(1.0) + np.sqrt(max(np.float32(0.0), np.float32(1.0) - lateral * lateral)))
    return right, obs[0, ints[CHANGE]]


@kernel()
def _draw_side(ints: I64, rng: U64) -> int:
    return int(ints[RIGHT] if randint(rng, 2) else ints[LEFT])


@kernel()
def _turn(ints: I64, rng: U64, right: np.float32, touch: bool) -> int:
    """The side the odour is on; the other one at a wall. Unknown: one drawn once and kept until the odour rises."""
    if right != 0.0:
        return int(ints[RIGHT] if (right > 0.0) != touch else ints[LEFT])
    if ints[SIDE] < 0 or touch:
        ints[SIDE] = _draw_side(ints, rng)
    return int(ints[SIDE])


@brain_kernel
def begin_episode(hyper: F64, ints: I64, mem: F32, rng: U64, obs: F32M, action: F32M, out: F64) -> None:
    """Forgets which way it was turning."""
    ints[SIDE] = -1


@brain_kernel
def act(hyper: F64, ints: I64, mem: F32, rng: U64, obs: F32M, action: F32M, out: F64) -> None:
    """Ahead if that is where the odour is, otherwise a turn towards it."""
    right, ahead = _direction(ints, obs)
    touch = ints[TOUCH] >= 0 and obs[0, ints[TOUCH]] > 0.0
    if uniform(rng) < hyper[RANDOMNESS]:
        choice = randint(rng, ints[CHOICES])
    elif right == 0.0 and ahead == 0.0:
        choice = _draw_side(ints, rng) if touch or uniform(rng) < hyper[WANDER] else ints[FORWARD]
    elif ahead > 0.0 and ahead >= abs(right):
        ints[SIDE] = -1
        choice = ints[FORWARD]
    else:
        choice = _turn(ints, rng, right, touch)
    action[0, 0] = np.float32(choice)


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
    begin_episode = staticmethod(begin_episode)
    act = staticmethod(act)

    @classmethod
    def layout(cls, config: GradientFollowerConfig, body: Interface) -> Layout:
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
        moves = [body.choice_names.index(name) for name in ("forward", "left", "right")]
        names = ("odour_sine", "odour_cosine", "change", "lateral", "touch")
        places = [body.sensors.index(name) if name in sensed else -1 for name in names]
        ints = np.array([body.choices, *moves, *places, -1], dtype=np.int64)
        return Layout(np.array([config.randomness, config.wander]), ints, 0)
