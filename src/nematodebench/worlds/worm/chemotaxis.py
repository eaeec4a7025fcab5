"""World `chemotaxis`: the plate assay. One attractant, one mirrored control, the worm midway between them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nematodebench.kernels.abi import OUT_REWARD, world_kernel
from nematodebench.kernels.jit import F32M, F64, U64, inline, inlined
from nematodebench.kernels.rng import randint
from nematodebench.worlds.base import Discrete, Sensor, World
from nematodebench.worlds.draw import cells
from nematodebench.worlds.worm import body as worm
from nematodebench.worlds.worm import senses
from nematodebench.worlds.worm.foraging import Foraging, pack_nematode
from nematodebench.worlds.worm.predator import PREDATOR_SENSORS

__all__ = ["Chemotaxis"]

# The attractant is the world's one food, which is never eaten; the plate's own parameters use a slot of the predators'.
_P_ARM = worm.P_DETECTION
_S_CONTROL = worm.S_FOOD + 2


@inlined
def _in_zone(state: F64, spot: int) -> float:
    """1 if the worm is in the 3 x 3 block around a spot."""
    dx, dy = state[worm.S_X] - state[spot], state[worm.S_Y] - state[spot + 1]
    return np.float64(max(abs(dx), abs(dy)) <= 1.0)


@inlined
def _sense(params: F64, state: F64, obs: F32M) -> None:
    """Odour, satiety 1 and touch; what is left are the predator inputs at rest, of which health is 1."""
    column = senses.sense_food(params, state, obs)
    if column < obs.shape[1]:
        obs[0, column:] = np.float32(0.0)
        obs[0, obs.shape[1] - 1] = np.float32(1.0)


@world_kernel
def reset(params: F64, state: F64, rng: U64, action: F32M, obs: F32M, out: F64) -> None:
    """Worm at the centre; a coin decides on which side the attractant lies."""
    worm.start_worm(params, state)
    arm = params[_P_ARM] if randint(rng, 2) == 1 else -params[_P_ARM]
    state[worm.S_FOOD], state[_S_CONTROL] = state[worm.S_X] + arm, state[worm.S_X] - arm
    state[worm.S_FOOD + 1], state[_S_CONTROL + 1] = state[worm.S_Y], state[worm.S_Y]
    worm.survey_food(params, state)
    _sense(params, state, obs)
    out[:] = 0.0


@inline
@world_kernel
def step(params: F64, state: F64, rng: U64, action: F32M, obs: F32M, out: F64) -> None:
    """Move and sense."""
    worm.move_worm(params, state, action[0, 0])
    before = state[worm.S_NEAREST]
    worm.survey_food(params, state)
    _sense(params, state, obs)
    out[0] = 0.0
    out[1] = np.float64(state[worm.S_STEPS] >= params[worm.P_MAX_STEPS])
    out[OUT_REWARD] = 0.5 * (before - state[worm.S_NEAREST]) - 0.005 - 0.02 * state[worm.S_TOUCH]
    out[3] = _in_zone(state, worm.S_FOOD) - _in_zone(state, _S_CONTROL)
    out[4] = state[worm.S_NEAREST]
    out[5] = np.sign(state[worm.S_FOOD] - state[_S_CONTROL])


@dataclass(frozen=True)
class Chemotaxis(World):
    """side x side cells, y up; the worm starts at the centre facing up and nothing is eaten.

    Actions, odour and the kinds of sensing are those of :class:`Foraging`, so that a
    brain trained there can be placed on the plate.

    | input | value |
    |---|---|
    | odour by the kind of sensing, touch | as foraging, the attractant being the only source |
    | satiety share | 1 |
    | predator magnitude, sine, cosine, contact, health (only `with_predator_inputs`) | 0, 0, 0, 0, 1 |

    | what | rule |
    |---|---|
    | attractant | `arm` cells left or right of the start, by a fair coin of the episode |
    | control | the attractant's mirror image; it smells of nothing |
    | reward | +0.5 x decrease of the Manhattan distance to the attractant, -0.005 a step, -0.02 touch |
    | end | max_steps (truncated) |
    | metric `zone` | +1 if the worm ends in the 3 x 3 block around the attractant, -1 around the control, 0 elsewhere |
    | metric `distance` | Manhattan distance from the end position to the attractant |
    | metric `side` | -1 attractant left, +1 right |
    """

    side: int = 41
    arm: int = 12
    decay: float = 8.0
    max_steps: int = 300
    sensing: str = "gradient"
    with_predator_inputs: bool = False

    name: ClassVar[str] = "chemotaxis"
    reset: ClassVar[Any] = staticmethod(reset)
    step: ClassVar[Any] = staticmethod(step)
    metrics: ClassVar[tuple[str, ...]] = ("zone", "distance", "side")

    @property
    def _body(self) -> Foraging:
        """The worm with the same senses, on a grid of this size with one food."""
        return Foraging(side=self.side, foods=1, decay=self.decay, max_steps=self.max_steps, sensing=self.sensing)

    @property
    def sensors(self) -> tuple[Sensor, ...]:
        """Those of foraging, then the predators' if wanted."""
        return self._body.sensors + (PREDATOR_SENSORS if self.with_predator_inputs else ())

    @property
    def actions(self) -> Discrete:
        """Four moves."""
        return self._body.actions

    @property
    def state_size(self) -> int:
        """The worm, the attractant and the control."""
        return worm.S_FOOD + 4

    def pack(self) -> F64:
        """Parameters and odour tables."""
        packed = pack_nematode(self._body)
        packed[_P_ARM] = self.arm
        return packed

    def image(self, state: F64) -> NDArray[np.uint8]:
        """The plate with its two spots and the worm."""
        return cells.grid_image(self.side, self._items(state))

    def text(self, state: F64) -> str:
        """The plate as characters."""
        return cells.grid_text(self.side, self._items(state))

    def _items(self, state: F64) -> Mapping[str, NDArray[np.float64]]:
        spots = state[worm.S_FOOD : worm.S_FOOD + 4].reshape(2, 2)
        heading = cells.HEADINGS[int(state[worm.S_HEADING])]
        return {"control": spots[1:], "attractant": spots[:1], heading: state[worm.S_X : worm.S_Y + 1][None]}
