"""World `foraging`: a worm on a grid follows odour to food before it starves."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nematodebench.kernels.abi import Outcome, WorldMemory
from nematodebench.kernels.jit import F32M, F64M, U64, inlined
from nematodebench.kernels.memory import Block, number
from nematodebench.kernels.scene import FOOD, bar, readout
from nematodebench.worlds.base import Discrete, Sensor, World, added
from nematodebench.worlds.picture import Picture
from nematodebench.worlds.text import HEADINGS, grid_text
from nematodebench.worlds.worm.body import ACTIONS, STAY, move_worm, survey_food
from nematodebench.worlds.worm.food import Forager, ForagerState, collect, place_foods, start_forager
from nematodebench.worlds.worm.guide import after, way_to_nearest
from nematodebench.worlds.worm.scenes import (
    EATEN,
    SATIETY,
    WORDS,
    draw_foods,
    draw_odour,
    draw_smell,
    draw_worm,
)
from nematodebench.worlds.worm.senses import body_tables, sense_food

__all__ = ["Foraging", "Metrics", "finish_episode"]

_TARGET, _KILLED, _STARVED, _MAX_STEPS = 1.0, 2.0, 3.0, 4.0


class Metrics(Block):
    """Written when an episode ends."""

    success = number()
    foods = number()
    travelled = number()
    optimal = number()
    satiety = number()
    termination = number()


memory = WorldMemory(Forager, ForagerState, Metrics)


@inlined
def _write_metrics(state: ForagerState, metrics: Metrics, ended: float) -> None:
    fed = state.eaten > 0.0
    metrics.success = 1.0 if ended == _TARGET or (ended == _MAX_STEPS and fed) else 0.0
    metrics.foods = state.eaten
    metrics.travelled = state.travelled_to_first if fed else state.travelled
    metrics.optimal = state.optimal
    metrics.satiety = state.satiety
    metrics.termination = ended


@inlined
def finish_episode(
    params: Forager, state: ForagerState, outcome: Outcome, metrics: Metrics, killed: bool, reward: float
) -> None:
    """Decides whether the episode is over, in the order target, killed, starved, max_steps, and writes its metrics."""
    ended = 0.0
    if state.eaten >= params.target:
        ended = _TARGET
    elif killed:
        ended = _KILLED
        reward -= 10.0
    elif state.satiety <= 0.0:
        ended = _STARVED
        reward -= 10.0
    elif state.steps >= params.max_steps:
        ended = _MAX_STEPS
    outcome.terminated = 1.0 if 0.0 < ended < _MAX_STEPS else 0.0
    outcome.truncated = 1.0 if ended == _MAX_STEPS else 0.0
    outcome.reward[0] = reward
    if ended > 0.0:
        _write_metrics(state, metrics, ended)


@memory.reset
def reset(params: Forager, state: ForagerState, rng: U64, obs: F32M) -> None:
    """Worm at its start, food anew."""
    start_forager(params, state, rng)
    place_foods(params, state, rng)
    survey_food(params, state)
    sense_food(params, state, obs)


@memory.inlined
def step(
    params: Forager, state: ForagerState, rng: U64, action: F32M, obs: F32M, outcome: Outcome, metrics: Metrics
) -> None:
    """Move, eat, sense."""
    move_worm(params, state, action[0, 0])
    reward = collect(params, state, rng)
    sense_food(params, state, obs)
    finish_episode(params, state, outcome, metrics, False, reward)


@memory.kernel
def reference(params: Forager, state: ForagerState, action: F32M) -> None:
    """Takes the shortest way to the nearest food."""
    best, chosen = 1e9, 0
    for choice in range(STAY):
        x, y, heading = after(params, state, choice)
        way = way_to_nearest(params, state.food, x, y, heading)
        if way < best:
            best, chosen = way, choice
    action[0, 0] = np.float32(chosen)


@memory.scene
def scene(params: Forager, state: ForagerState, obs: F32M, rows: F64M, field: F32M) -> None:
    """The odour, the food, the worm and where it smells more."""
    draw_odour(params, state, field)
    draw_foods(rows, state.food, params.side)
    draw_smell(rows, params, state, obs)
    draw_worm(rows, params, state)
    bar(rows, FOOD, SATIETY, state.satiety / params.satiety)
    readout(rows, EATEN, 0.0, state.eaten)


@dataclass(frozen=True)
class Foraging(World):
    """L x L cells, y up; the worm starts at the centre facing up, or anywhere facing anywhere.

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
    | concentration | as temporal without the change: direction has to be found by moving and remembering |

    | what | rule |
    |---|---|
    | start | the centre, facing up; with random_start a uniform cell and heading |
    | food | uniform on cells at Euclidean distance >= exclusion from the worm and >= spacing from other food (given up after 100 tries); eaten food reappears at once |
    | satiety | starts at its maximum, -1 a step, + satiety_gain a food, never above the maximum |
    | reward | +2 a food, + shaping x decrease of the Manhattan distance to the nearest food as it lay before the move, -0.005 a step, -0.02 touch, -10 starved |
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
    shaping: float = added(0.5)
    random_start: bool = False

    name: ClassVar[str] = "foraging"
    memory = memory
    reset = staticmethod(reset)
    step = staticmethod(step)
    reference = staticmethod(reference)
    scene = staticmethod(scene)
    terminations: ClassVar[tuple[str, ...]] = ("target", "killed", "starved", "max_steps")

    @property
    def sensors(self) -> tuple[Sensor, ...]:
        """Odour by the kind of sensing, then satiety and touch."""
        odour = {
            "gradient": (Sensor("odour_magnitude"), Sensor("odour_sine", -1.0), Sensor("odour_cosine", -1.0)),
            "klinotaxis": (Sensor("concentration"), Sensor("change", -1.0), Sensor("lateral", -1.0)),
            "temporal": (Sensor("concentration"), Sensor("change", -1.0)),
            "concentration": (Sensor("concentration"),),
        }[self.sensing]
        return (*odour, Sensor("satiety"), Sensor("touch"))

    @property
    def actions(self) -> Discrete:
        """Four moves."""
        return Discrete(ACTIONS)

    def tables(self) -> Mapping[str, Any]:
        """The tables of moves and odour."""
        return body_tables(self.side, self.decay, self.sensing)

    def picture(self) -> Picture:
        """The grid."""
        legend = {"brain": "worm", "food": "food", "ray": "what it smells"}
        return Picture.of_grid(self.side, words=WORDS, legend=legend, field="odour of food")

    def text(self, state: ForagerState) -> str:
        """The grid as characters."""
        return grid_text(self.side, self._items(state))

    def _items(self, state: Any) -> Mapping[str, NDArray[np.float64]]:
        """What lies where, in the order it is drawn."""
        return {"food": state.food, HEADINGS[int(state.heading)]: np.array([[state.x, state.y]])}
