"""What every brain must keep, compiled or written in Python, as a suite of tests to subclass.

class TestMyBrain(BrainSuite):
    brain = MyBrain
    config = {"hidden": 16}
"""

import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

from nematodebench.brains.base import Interface
from nematodebench.brains.registry import BrainType, is_compiled
from nematodebench.engine.executors import Watch, execute_all
from nematodebench.engine.python_brain import PythonBrains
from nematodebench.engine.run import RunResult, RunSpec, compile_for, execute, interface, resolve_config
from nematodebench.errors import UsageError
from nematodebench.kernels.abi import BRAIN, BrainFunction
from nematodebench.kernels.jit import first_class
from nematodebench.kernels.rng import RNG_WORDS, STREAM_BRAIN, STREAM_EXPLORATION, set_stream
from nematodebench.sessions.config import SessionConfig, config_from, config_text
from nematodebench.sessions.plan import dump_config
from nematodebench.tasks.base import Phase, Task
from nematodebench.tasks.registry import get_task
from nematodebench.testing.guards import Guarded

__all__ = ["BrainSuite"]

_SENSORS = ("odour_magnitude", "odour_sine", "odour_cosine", "satiety", "touch")
_MOVES = ("forward", "left", "right", "stay")
_BODIES = {
    "discrete": Interface(_SENSORS, (-1.0,) * 5, (1.0,) * 5, len(_MOVES), 0, _MOVES),
    "effectors": Interface(("left_eye", "right_eye", "gut"), (0.0, 0.0, -2.0), (1.0, 1.0, 2.0), 0, 3),
}
_EPISODE, _EPISODES = 40, 6
_TICKS = 400


class _Trial:
    """A brain in a body, fed with random observations and rewards; its memory lies between guards."""

    def __init__(self, brain: BrainType, config: Any, body: Interface, seed: int, mark: float = 77.0) -> None:
        self.body, self.seed = body, seed
        if is_compiled(brain):
            layout = brain.layout(config, body)
            self.ints, self.mem = Guarded(layout.ints.shape, np.int64), Guarded((layout.memory,), np.float32, mark)
            self.ints.array[:] = layout.ints
            self.hyper = np.array(layout.hyper, dtype=np.float64)
            parts = [first_class(part, BRAIN) for part in (brain.init, brain.begin_episode, brain.act, brain.learn)]
            self._init, self._begin, self._act, self._learn = parts
        else:
            python = PythonBrains(brain, config, body, seed, 1, learning=True)
            self.ints, self.mem, self.hyper = Guarded((1,), np.int64), Guarded((1,), np.float32), np.zeros(1)
            self._begin, self._act, self._learn = python.begin, python.act, python.learn
            self._init = python.begin
        self.rng = np.zeros(RNG_WORDS, dtype=np.uint64)
        self.obs = np.zeros((1, body.inputs), dtype=np.float32)
        self.action = Guarded((1, body.action_width), np.float32)
        self.out = np.zeros(3)
        self.wrote_inputs = False
        set_stream(self.rng, np.uint64(seed), STREAM_BRAIN, 0, 0)
        self._call(self._init)

    def _call(self, part: BrainFunction) -> None:
        before = self._inputs()
        part(self.hyper, self.ints.array, self.mem.array, self.rng, self.obs, self.action.array, self.out)
        self.wrote_inputs |= self._inputs() != before

    def _inputs(self) -> bytes:
        return self.hyper.tobytes() + self.obs.tobytes() + self.out.tobytes()

    def play(self) -> Iterator[NDArray[np.float32]]:
        """Yields every action of some episodes, of which every other one is truncated."""
        numbers = np.random.default_rng(self.seed)
        for episode in range(_EPISODES):
            set_stream(self.rng, np.uint64(self.seed), STREAM_EXPLORATION, episode, 0)
            self.obs[0] = numbers.uniform(self.body.low, self.body.high)
            self._call(self._begin)
            for step in range(1, _EPISODE + 1):
                self._call(self._act)
                yield self.action.array[0].copy()
                self.obs[0] = numbers.uniform(self.body.low, self.body.high)
                ended = step == _EPISODE
                self.out[:] = ended and episode % 2 == 0, ended and episode % 2 == 1, numbers.normal()
                self._call(self._learn)

    def legal(self, action: NDArray[np.float32]) -> bool:
        """Whether the body can do it."""
        if self.body.choices:
            return bool(action[0] in range(self.body.choices))
        return bool(((action >= 0.0) & (action <= 1.0)).all())


def _short(phase: Phase) -> Phase:
    return replace(phase, episodes=0, ticks=_TICKS)


class BrainSuite:
    """Subclass it with a name that begins with ``Test``, set ``brain``, and ``config`` if the defaults are slow.

    A brain may refuse a body that it is not made for with a ValueError; tests then leave that body out.
    """

    brain: ClassVar[BrainType]
    config: ClassVar[dict[str, Any]] = {}
    tasks: ClassVar[tuple[str, ...]] = ("foraging_small-v1", "predator_small_klinotaxis-v1", "cartpole-v1", "torus-v1")
    """Built-in tasks the brain goes through, a few hundred ticks of every phase."""

    @property
    def _name(self) -> str:
        return str(getattr(self.brain, "name", self.brain.__name__))

    def _config(self) -> Any:
        return resolve_config(self._name, self.brain, self.config)

    def _trial(self, kind: str, seed: int = 1, mark: float = 77.0) -> _Trial:
        try:
            return _Trial(self.brain, self._config(), _BODIES[kind], seed, mark)
        except ValueError as refusal:
            pytest.skip(f"refuses this body: {refusal}")

    def _accepted_tasks(self) -> list[Task]:
        accepted = []
        for task in map(get_task, self.tasks):
            try:
                _Trial(self.brain, self._config(), interface(task), 1)
            except ValueError:
                continue
            accepted.append(replace(task, phases=tuple(map(_short, task.phases))))
        return accepted

    def _spec(self, task: Task, seed: int) -> RunSpec:
        compile_for(task, self.brain)
        return RunSpec(task, self._name, self.brain, self._config(), seed, index=seed)

    def _run(self, task: Task, seed: int) -> RunResult:
        return execute(self._spec(task, seed))

    def test_some_task_is_accepted(self) -> None:
        """There is something it can be measured on."""
        assert self._accepted_tasks()

    @pytest.mark.parametrize("kind", _BODIES)
    def test_actions_are_legal(self, kind: str) -> None:
        """Every action is one of the choices, or every effector in [0, 1]."""
        trial = self._trial(kind)
        illegal = [action for action in trial.play() if not trial.legal(action)]
        assert illegal == []

    def test_runs_end_without_failure(self) -> None:
        """On every task it accepts."""
        failures = {task.id: self._run(task, seed=1).failure for task in self._accepted_tasks()}
        assert {task: failure for task, failure in failures.items() if failure} == {}

    def test_same_seed_same_bits(self) -> None:
        """Episodes and final memory, on every task."""
        for task in self._accepted_tasks():
            assert _bits(self._run(task, seed=2)) == _bits(self._run(task, seed=2))

    def test_other_seed_other_run(self) -> None:
        """A run follows its seed."""
        tasks = self._accepted_tasks()
        assert len({tuple(_bits(self._run(task, seed)) for task in tasks) for seed in (1, 2, 3)}) == 3

    def test_alone_and_among_others(self) -> None:
        """What other runs do before or meanwhile makes no difference."""
        task = self._accepted_tasks()[0]
        alone = [_bits(self._run(task, seed)) for seed in (1, 2, 3, 4)]
        assert alone == self._among_others(task)

    def _among_others(self, task: Task) -> list[tuple[str, str | None]]:
        specs = [self._spec(task, seed) for seed in (4, 3, 2, 1)]
        if not is_compiled(self.brain):
            random.seed(99)
            np.random.seed(99)
        workers = 2 if is_compiled(self.brain) else 1
        results = list(execute_all(specs, "threads", workers, Watch()))
        return [_bits(result) for result in sorted(results, key=lambda result: result.index)]

    @pytest.mark.parametrize("kind", _BODIES)
    def test_writes_nothing_but_its_memory_and_the_action(self, kind: str) -> None:
        """Compiled code checks no bounds: the strips around its arrays, constants and inputs stay as they were."""
        if not is_compiled(self.brain):
            pytest.skip("a Python brain has no flat memory")
        trial = self._trial(kind)
        assert len(list(trial.play())) == _EPISODES * _EPISODE
        assert not trial.wrote_inputs
        assert (trial.mem.intact, trial.ints.intact, trial.action.intact) == (True, True, True)

    @pytest.mark.parametrize("kind", _BODIES)
    def test_reads_nothing_but_its_memory(self, kind: str) -> None:
        """What lies beside its memory makes no difference."""
        if not is_compiled(self.brain):
            pytest.skip("a Python brain has no flat memory")
        trials = [self._trial(kind, mark=mark) for mark in (0.0, 1e30)]
        actions = [np.array(list(trial.play())).tobytes() for trial in trials]
        assert actions[0] == actions[1]
        assert trials[0].mem.array.tobytes() == trials[1].mem.array.tobytes()

    def test_config_round_trips_through_yaml(self) -> None:
        """A stored config file gives the same brain."""
        config = self._config()
        given = SessionConfig(task=self.tasks[0], brain=self._name, config=dump_config(config))
        again = config_from(config_text(given).encode(), "config.yml")
        assert resolve_config(self._name, self.brain, again.config) == config

    def test_unknown_key_is_refused(self) -> None:
        """No key is ignored silently."""
        with pytest.raises(UsageError, match="no_such_key"):
            resolve_config(self._name, self.brain, {**self.config, "no_such_key": 1})


def _bits(result: RunResult) -> tuple[str, str | None]:
    return result.record_hash, result.memory_hash
