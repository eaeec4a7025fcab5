"""World `foraging`: a worm on a grid follows odour to food before it starves."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nematodebench.kernels.abi import OUT_REWARD, world_kernel
from nematodebench.kernels.jit import F32M, F64, U64, inline, inlined
from nematodebench.worlds.base import Discrete, Sensor, World
from nematodebench.worlds.draw import cells
from nematodebench.worlds.worm import body as worm
from nematodebench.worlds.worm import senses

__all__ = ["Foraging", "finish_episode", "pack_nematode"]

_SENSING = {"gradient": worm.GRADIENT, "klinotaxis": worm.KLINOTAXIS, "temporal": worm.TEMPORAL}
_TARGET, _KILLED, _STARVED, _MAX_STEPS = 1.0, 2.0, 3.0, 4.0


@inlined
def finish_episode(params: F64, state: F64, killed: bool, reward: float, out: F64) -> None:
    """Decides whether the episode is over, in the order target, killed, starved, max_steps, and writes its metrics."""
    ended = 0.0
    if state[worm.S_EATEN] >= params[worm.P_TARGET]:
        ended = _TARGET
    elif killed:
        ended = _KILLED
        reward -= 10.0
    elif state[worm.S_SATIETY] <= 0.0:
        ended = _STARVED
        reward -= 10.0
    elif state[worm.S_STEPS] >= params[worm.P_MAX_STEPS]:
        ended = _MAX_STEPS
    out[0] = 1.0 if 0.0 < ended < _MAX_STEPS else 0.0
    out[1] = 1.0 if ended == _MAX_STEPS else 0.0
    out[OUT_REWARD] = reward
    if ended > 0.0:
        eaten = state[worm.S_EATEN]
        out[3] = 1.0 if ended == _TARGET or (ended == _MAX_STEPS and eaten > 0.0) else 0.0
        out[4] = eaten
        out[5] = state[worm.S_FIRST] if eaten > 0.0 else state[worm.S_TRAVELLED]
        out[6] = state[worm.S_OPTIMAL]
        out[7] = state[worm.S_SATIETY]
        out[8] = ended


@world_kernel
def reset(params: F64, state: F64, rng: U64, action: F32M, obs: F32M, out: F64) -> None:
    """Worm at the centre, food anew."""
    worm.start_worm(params, state)
    worm.place_foods(params, state, rng)
    worm.survey_food(params, state)
    senses.sense_food(params, state, obs)
    out[:] = 0.0


@inline
@world_kernel
def step(params: F64, state: F64, rng: U64, action: F32M, obs: F32M, out: F64) -> None:
    """Move, eat, sense."""
    worm.move_worm(params, state, action[0, 0])
    reward = worm.collect(params, state, rng)
    senses.sense_food(params, state, obs)
    finish_episode(params, state, False, reward, out)


@dataclass(frozen=True)
class Foraging(World):
    """L x L cells, y up; the worm starts at the centre facing up.

    | action | effect |
    |---|---|
    | 0 forward | move one cell ahead |
    | 1 left, 2 right | turn 90 degrees and move one cell |
    | 3 stay | nothing |

    A blocked move changes neither place nor heading and sets the touch sensor.

    | sensing | inputs |
    |---|---|
    | gradient | magnitude tanh(m) of the vector sum of exp(-d/decay) unit vectors, sine (+ = right) and cosine of its direction relative to the heading (both 0 while m < 0.05), satiety share, touch |
    | klinotaxis | concentration c/(1+c), change tanh(50 dc), lateral difference tanh(50 (right - left)) one cell to each side, satiety share, touch |
    | temporal | as klinotaxis without the lateral difference |

    | what | rule |
    |---|---|
    | food | uniform on cells at Euclidean distance >= exclusion from the worm and >= spacing from other food (given up after 100 tries); eaten food reappears at once |
    | satiety | starts at its maximum, -1 a step, + satiety_gain a food, never above the maximum |
    | reward | +2 a food, +0.5 x decrease of the Manhattan distance to the nearest food as it lay before the move, -0.005 a step, -0.02 touch, -10 starved |
    | end | target collected, starved (terminated), max_steps (truncated), in this order |
    | success | target collected, or alive at max_steps with at least one food |
    """  # noqa: E501

    side: int = 20
    foods: int = 5
    target: int = 10
    spacing: float = 3.0
    exclusion: float = 5.0
    decay: float = 8.0
    max_steps: int = 500
    satiety: int = 200
    satiety_gain: int = 40
    sensing: str = "gradient"

    name: ClassVar[str] = "foraging"
    reset: ClassVar[Any] = staticmethod(reset)
    step: ClassVar[Any] = staticmethod(step)
    metrics: ClassVar[tuple[str, ...]] = ("success", "foods", "travelled", "optimal", "satiety", "termination")
    terminations: ClassVar[tuple[str, ...]] = ("target", "killed", "starved", "max_steps")

    @property
    def sensors(self) -> tuple[Sensor, ...]:
        """Odour by the kind of sensing, then satiety and touch."""
        odour = {
            "gradient": (Sensor("odour_magnitude"), Sensor("odour_sine", -1.0), Sensor("odour_cosine", -1.0)),
            "klinotaxis": (Sensor("concentration"), Sensor("change", -1.0), Sensor("lateral", -1.0)),
            "temporal": (Sensor("concentration"), Sensor("change", -1.0)),
        }[self.sensing]
        return (*odour, Sensor("satiety"), Sensor("touch"))

    @property
    def actions(self) -> Discrete:
        """Four moves."""
        return Discrete(("forward", "left", "right", "stay"))

    @property
    def state_size(self) -> int:
        """The worm and its foods."""
        return worm.S_FOOD + 2 * self.foods

    def pack(self) -> F64:
        """Parameters, then the odour table."""
        return pack_nematode(self)

    def image(self, state: F64) -> NDArray[np.uint8]:
        """The grid with worm and food."""
        return cells.grid_image(self.side, self._items(state))

    def text(self, state: F64) -> str:
        """The grid as characters."""
        return cells.grid_text(self.side, self._items(state))

    def _items(self, state: F64) -> Mapping[str, NDArray[np.float64]]:
        """What lies where, in the order it is drawn."""
        food = state[worm.S_FOOD : worm.S_FOOD + 2 * self.foods].reshape(-1, 2)
        return {"food": food, cells.HEADINGS[int(state[worm.S_HEADING])]: state[worm.S_X : worm.S_Y + 1][None]}


def pack_nematode(world: Foraging) -> F64:
    """The parameters of the worm's body and senses, with the odour tables its kind of sensing reads."""
    head = np.zeros(worm.TABLE)
    head[:9] = (
        world.side, world.foods, world.target, world.spacing, world.exclusion, world.decay, world.max_steps,
        world.satiety, world.satiety_gain,
    )  # fmt: skip
    head[worm.P_SENSING] = _SENSING[world.sensing]
    head[worm.P_WIDTH], head[worm.P_HERE] = 2 * world.side - 1, (world.side - 1) * 2 * world.side
    head[worm.P_MOVES : worm.TABLE] = worm.moves_table()
    gradients = senses.gradient_table(world.side, float(world.decay))
    if world.sensing == "gradient":
        return np.concatenate([head, gradients])
    head[worm.P_DISTANCES] = worm.TABLE + gradients.size
    return np.concatenate([head, gradients, senses.distance_table(world.side + 1, float(world.decay))])
