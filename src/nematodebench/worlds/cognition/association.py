"""World `association`: which answer belongs to which stimulus, for the whole run."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nematodebench.kernels.abi import Outcome, WorldMemory
from nematodebench.kernels.jit import F32M, F64M, U64, kernel
from nematodebench.kernels.memory import Block, constant, number, numbers, size
from nematodebench.kernels.rng import STREAM_WORLD, randint, set_stream
from nematodebench.kernels.scene import BRAIN, DANGER, FOOD, MUTED, RAY, bar, disc, line, readout, rectangle, triangle
from nematodebench.worlds.base import Discrete, Sensor, World
from nematodebench.worlds.picture import Picture

__all__ = ["Association"]

_RECENT = 10
_WRONG = -0.15
# No episode has this number, so this stream depends on the run alone.
_OF_THE_RUN = 2**62


class Params(Block):
    """The fields of :class:`Association`."""

    stimuli = size()
    max_steps = constant()


class State(Block, sizes=Params):
    """The clock, the stimulus to answer now, right answers in all and among the last, and the right answer of each."""

    step = number()
    stimulus = number()
    right = number()
    recent = numbers(_RECENT)
    answers = numbers("stimuli")


class Metrics(Block):
    """Right answers of the episode."""

    right = number()


memory = WorldMemory(Params, State, Metrics)


@kernel()
def _draw_answers(params: Params, state: State, rng: U64) -> None:
    """Draws a permutation from the run's own stream; the episode's stream is at its beginning before and after."""
    episode, agent = int(rng[3]), int(rng[4])
    set_stream(rng, rng[0], STREAM_WORLD, _OF_THE_RUN, 0)
    for n in range(params.stimuli):
        other = randint(rng, n + 1)
        state.answers[n] = state.answers[other]
        state.answers[other] = n
    set_stream(rng, rng[0], STREAM_WORLD, episode, agent)


@kernel()
def _present(params: Params, state: State, rng: U64, obs: F32M) -> None:
    """Draws the next stimulus and shows it, with the time and the share of right answers among the last."""
    stimuli = params.stimuli
    state.stimulus = randint(rng, stimuli)
    for n in range(stimuli):
        obs[0, n] = np.float32(1.0 if n == int(state.stimulus) else 0.0)
    right = 0.0
    for n in range(_RECENT):
        right += state.recent[n]
    obs[0, stimuli] = np.float32(state.step / params.max_steps)
    obs[0, stimuli + 1] = np.float32(right / min(max(state.step, 1.0), _RECENT))


@memory.reset
def reset(params: Params, state: State, rng: U64, obs: F32M) -> None:
    """Draws the run's answers and shows a first stimulus."""
    _draw_answers(params, state, rng)
    _present(params, state, rng, obs)


@memory.kernel
def step(params: Params, state: State, rng: U64, action: F32M, obs: F32M, outcome: Outcome, metrics: Metrics) -> None:
    """The world judges the answer and shows the next stimulus."""
    right = int(action[0, 0]) == int(state.answers[int(state.stimulus)])
    state.recent[int(state.step) % _RECENT] = 1.0 if right else 0.0
    state.right += 1.0 if right else 0.0
    state.step += 1.0
    _present(params, state, rng, obs)
    outcome.truncated = 1.0 if state.step >= params.max_steps else 0.0
    outcome.reward[0] = 1.0 if right else _WRONG
    metrics.right = state.right


@memory.kernel
def reference(state: State, action: F32M) -> None:
    """Knows the answers."""
    action[0, 0] = np.float32(state.answers[int(state.stimulus)])


@memory.scene
def scene(params: Params, state: State, action: F32M, rows: F64M) -> None:
    """Stimuli from left to right with their right answers; the one shown now stands out; below, the last answers."""
    last = params.stimuli - 1.0
    rectangle(rows, RAY, state.stimulus, 0.5 * last, 0.9, last + 1.0, 0.0, 0.4)
    for n in range(params.stimuli):
        line(rows, MUTED, -0.5, float(n), last + 0.5, float(n), 0.0, 0.25)
        line(rows, MUTED, float(n), -0.5, float(n), last + 0.5, 0.0, 0.25)
        disc(rows, FOOD, float(n), state.answers[n], 0.28, 1.0)
    answered = int(min(state.step, float(_RECENT)))
    if answered > 0:
        triangle(rows, BRAIN, -0.75, float(action[0, 0]), 0.4, 0.4, 0.0, 1.0)
    for n in range(answered):
        right = state.recent[int(state.step - 1.0 - n) % _RECENT] > 0.0
        disc(rows, BRAIN if right else DANGER, last + 0.3 - n * (last + 0.6) / (_RECENT - 1), -1.0, 0.2, 1.0 - 0.07 * n)
    readout(rows, 0.0, 0.0, state.step)
    bar(rows, BRAIN, 1.0, state.right / max(state.step, 1.0))


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
    memory = memory
    reset = staticmethod(reset)
    step = staticmethod(step)
    reference = staticmethod(reference)
    scene = staticmethod(scene)

    @property
    def sensors(self) -> tuple[Sensor, ...]:
        """The stimulus, the time, the recent accuracy."""
        stimuli = (Sensor(f"stimulus_{n}") for n in range(self.stimuli))
        return (*stimuli, Sensor("time"), Sensor("accuracy"))

    @property
    def actions(self) -> Discrete:
        """One answer for each stimulus."""
        return Discrete(tuple(f"answer_{n}" for n in range(self.stimuli)))

    def picture(self) -> Picture:
        """Stimuli from left to right, answers from bottom to top."""
        legend = {"ray": "stimulus now", "food": "right answer", "brain": "answer given, right", "danger": "wrong"}
        view = (-1.1, -1.4, self.stimuli - 0.4, self.stimuli - 0.4)
        return Picture(view, words=("step", "right"), legend=legend, frames=3)

    def text(self, state: State) -> str:
        """The stimulus, its answer and the count."""
        stimulus = int(state.stimulus)
        answer = state.answers[stimulus]
        return f"step {state.step:.0f} stimulus {stimulus} answer {answer:.0f} right {state.right:.0f}"
