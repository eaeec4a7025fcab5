"""World `association`: which answer belongs to which stimulus, for the whole run."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nematodebench.kernels.abi import OUT_REWARD, world_kernel
from nematodebench.kernels.jit import F32M, F64, U64, kernel
from nematodebench.kernels.rng import STREAM_WORLD, randint, set_stream
from nematodebench.worlds.base import Discrete, Sensor, World
from nematodebench.worlds.draw.canvas import BODY, GOAL, Canvas

__all__ = ["Association"]

_P_STIMULI, _P_MAX_STEPS = 0, 1
_S_STEP, _S_STIMULUS, _S_RIGHT, _S_RECENT = 0, 1, 2, 3
_RECENT = 10
_S_ANSWERS = _S_RECENT + _RECENT
_WRONG = -0.15
# No episode has this number, so this stream depends on the run alone.
_OF_THE_RUN = 2**62


@kernel()
def _draw_answers(params: F64, state: F64, rng: U64) -> None:
    """A permutation from the run's own stream; the episode's is at its beginning, before and after."""
    episode, agent = int(rng[3]), int(rng[4])
    set_stream(rng, rng[0], STREAM_WORLD, _OF_THE_RUN, 0)
    for n in range(int(params[_P_STIMULI])):
        other = randint(rng, n + 1)
        state[_S_ANSWERS + n] = state[_S_ANSWERS + other]
        state[_S_ANSWERS + other] = n
    set_stream(rng, rng[0], STREAM_WORLD, episode, agent)


@kernel()
def _present(params: F64, state: F64, rng: U64, obs: F32M) -> None:
    """The next stimulus, with the time and how well it went lately."""
    stimuli = int(params[_P_STIMULI])
    state[_S_STIMULUS] = randint(rng, stimuli)
    for n in range(stimuli):
        obs[0, n] = np.float32(1.0 if n == int(state[_S_STIMULUS]) else 0.0)
    right = 0.0
    for n in range(_RECENT):
        right += state[_S_RECENT + n]
    obs[0, stimuli] = np.float32(state[_S_STEP] / params[_P_MAX_STEPS])
    obs[0, stimuli + 1] = np.float32(right / min(max(state[_S_STEP], 1.0), _RECENT))


@world_kernel
def reset(params: F64, state: F64, rng: U64, action: F32M, obs: F32M, out: F64) -> None:
    """The run's answers, a first stimulus."""
    state[:] = 0.0
    _draw_answers(params, state, rng)
    _present(params, state, rng, obs)
    out[:] = 0.0


@world_kernel
def step(params: F64, state: F64, rng: U64, action: F32M, obs: F32M, out: F64) -> None:
    """Judge the answer, present the next stimulus."""
    right = int(action[0, 0]) == int(state[_S_ANSWERS + int(state[_S_STIMULUS])])
    state[_S_RECENT + int(state[_S_STEP]) % _RECENT] = 1.0 if right else 0.0
    state[_S_RIGHT] += 1.0 if right else 0.0
    state[_S_STEP] += 1.0
    _present(params, state, rng, obs)
    out[0] = 0.0
    out[1] = 1.0 if state[_S_STEP] >= params[_P_MAX_STEPS] else 0.0
    out[OUT_REWARD] = 1.0 if right else _WRONG
    out[3] = state[_S_RIGHT]


@world_kernel
def reference(params: F64, state: F64, rng: U64, action: F32M, obs: F32M, out: F64) -> None:
    """Knows the answers."""
    action[0, 0] = np.float32(state[_S_ANSWERS + int(state[_S_STIMULUS])])


@dataclass(frozen=True)
class Association(World):
    """Every stimulus has one right answer, no two the same; which is hidden and fixed for the run.

    | sensor | range | value |
    |---|---|---|
    | stimulus_0.. | 0, 1 | one-hot: the stimulus to answer now |
    | time | 0..1 | steps over max_steps |
    | accuracy | 0..1 | share of right answers among the last 10 of this episode, 0 at its start |

    | action | effect |
    |---|---|
    | 0..stimuli - 1 | answers |
    | any other | a wrong answer |

    | what | rule |
    |---|---|
    | answers | a permutation drawn from the run's seed alone: the same in all its episodes, so learning carries over |
    | stimuli | uniform, a new one every step |
    | reward | +1 right, -0.15 wrong: at most max_steps an episode |
    | end | after max_steps (truncated) |
    | metrics | right answers |
    """

    stimuli: int = 6
    max_steps: int = 50

    name: ClassVar[str] = "association"
    reset: ClassVar[Any] = staticmethod(reset)
    step: ClassVar[Any] = staticmethod(step)
    reference: ClassVar[Any] = staticmethod(reference)
    metrics: ClassVar[tuple[str, ...]] = ("right",)

    @property
    def sensors(self) -> tuple[Sensor, ...]:
        """The stimulus, the time, the recent accuracy."""
        stimuli = (Sensor(f"stimulus_{n}") for n in range(self.stimuli))
        return (*stimuli, Sensor("time"), Sensor("accuracy"))

    @property
    def actions(self) -> Discrete:
        """One a stimulus."""
        return Discrete(tuple(f"answer_{n}" for n in range(self.stimuli)))

    @property
    def state_size(self) -> int:
        """Clock, stimulus, counts, the answers."""
        return _S_ANSWERS + self.stimuli

    def pack(self) -> F64:
        """The fields in order."""
        return np.array([self.stimuli, self.max_steps], dtype=np.float64)

    def image(self, state: F64) -> NDArray[np.uint8]:
        """Stimuli from left to right with their answers, the present one standing out."""
        canvas = Canvas(-0.5, -0.5, self.stimuli - 0.5, self.stimuli - 0.5)
        for stimulus, answer in enumerate(state[_S_ANSWERS:]):
            canvas.disc(stimulus, answer, 0.3, BODY if stimulus == state[_S_STIMULUS] else GOAL)
        return canvas.pixels

    def text(self, state: F64) -> str:
        """The stimulus, its answer and the count."""
        stimulus = int(state[_S_STIMULUS])
        answer = state[_S_ANSWERS + stimulus]
        return f"step {state[_S_STEP]:.0f} stimulus {stimulus} answer {answer:.0f} right {state[_S_RIGHT]:.0f}"
