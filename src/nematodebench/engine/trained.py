"""A trained brain in the hand: it acts, learns on, shows its memory by name and can be saved."""

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nematodebench.brains.configs import resolve_stored
from nematodebench.brains.registry import BrainType, is_compiled
from nematodebench.engine.brain_state import BrainState
from nematodebench.engine.checkpoints import body_of, episodes_learned, header_of, state_of, with_state
from nematodebench.engine.compiled_brain import CompiledBrains
from nematodebench.engine.compiled_state import remembered
from nematodebench.engine.float_state import standard_floats
from nematodebench.engine.python_brain import PythonBrains, put_generators, taken_generators
from nematodebench.engine.python_restore import unpack
from nematodebench.engine.python_state import UnavailableError
from nematodebench.engine.run import execute
from nematodebench.engine.seeds import brain_seed
from nematodebench.engine.segments import Pause, Segment
from nematodebench.engine.spec import RunSpec
from nematodebench.engine.transition import Transition
from nematodebench.errors import UsageError
from nematodebench.kernels.rng import RNG_WORDS, STREAM_EXPLORATION, set_stream
from nematodebench.records.checkpoint import Checkpoint, CheckpointHeader
from nematodebench.records.runs import RunResult

__all__ = ["TrainedBrain", "from_checkpoint", "trained"]

_NEVER = 1 << 62


class TrainedBrain:
    """The brain of a run, as the run has left it or as it was saved.

    What is called here goes on where the run ended: episodes have the next numbers, and with them their random
    streams. In tasks with several agents each has a brain of its own, which ``agent`` chooses.

    Attributes:
        header: What it is: name, config, task, seed and how many episodes it has seen.
    """

    def __init__(self, header: CheckpointHeader, brains: CompiledBrains | PythonBrains, generators: Any) -> None:
        self.header, self._brains, self._generators = header, brains, generators
        self._body, self._seed = body_of(header), np.uint64(brain_seed(header.seed))
        self._rng = np.zeros((header.agents, RNG_WORDS), dtype=np.uint64)
        self._obs = np.zeros((header.agents, self._body.inputs), dtype=np.float32)
        self._action = np.zeros((header.agents, self._body.action_width), dtype=np.float32)
        self._begun = False

    def __repr__(self) -> str:
        h = self.header
        return f"<TrainedBrain {h.brain} after {h.episode} episodes of {h.task}, seed {h.seed}>"

    def begin_episode(self, observation: Any = None) -> None:
        """A new episode; a brain that looks at the first observation in doing so has to be given it."""
        self._obs[:] = 0.0 if observation is None else observation
        for agent, rng in enumerate(self._rng):
            set_stream(rng, self._seed, STREAM_EXPLORATION, self.header.episode, agent)
            self._call(0, agent)
        self.header = self.header.model_copy(update={"episode": self.header.episode + 1, "final": False})
        self._begun = True

    def act(self, observation: Any, agent: int = 0) -> Any:
        """Chooses an action: a whole number, or an array of effectors in [0, 1]."""
        if not self._begun:
            self.begin_episode()
        self._obs[agent] = self._checked(observation)
        self._call(1, agent)
        action = self._action[agent]
        return int(action[0]) if self._body.choices else action.copy()

    def learn(self, transition: Transition, agent: int = 0) -> None:
        """Learns from what came of the last action."""
        self._obs[agent] = self._checked(transition.next_observation)
        self._brains.out[agent] = transition.terminated, transition.truncated, transition.reward
        self._call(2, agent)

    @property
    def memory(self) -> Mapping[str, NDArray[Any]]:
        """What it remembers, by name (of agent 0); a copy."""
        return self.memory_of(0)

    def memory_of(self, agent: int) -> Mapping[str, NDArray[Any]]:
        """What the brain of an agent remembers, by name; a copy."""
        if isinstance(self._brains, CompiledBrains):
            return dict(remembered(self._brains.views()[agent]))
        return state_of(self.checkpoint()).of_agent(agent, self.header.agents).arrays

    def memory_hash(self) -> str | None:
        """SHA-256 of what it remembers, as a run records it."""
        return self._brains.memory_hash()

    def checkpoint(self) -> Checkpoint:
        """The brain as data."""
        try:
            with self._own_generators():
                return with_state(self.header, self._brains.state())
        except UnavailableError as error:
            raise UsageError(f"Brain {self.header.brain!r} cannot be saved: {error}. {_WAY_OUT}") from error

    def save(self, path: Path | str) -> Path:
        """Writes the brain to a file, which :func:`nematodebench.load_brain` reads; returns its path."""
        self.checkpoint().write(Path(path))
        return Path(path)

    def _checked(self, observation: Any) -> NDArray[np.float32]:
        row = np.asarray(observation, dtype=np.float32).ravel()
        if row.size != self._body.inputs:
            wanted = f"brain {self.header.brain!r} senses {self._body.inputs}"
            raise UsageError(f"The observation has {row.size} numbers: {wanted}.")
        return row

    def _call(self, function: int, a: int) -> None:
        """Calls one of ``begin_episode``, ``act`` and ``learn`` of an agent's brain, as the run loop does."""
        b = self._brains
        with self._own_generators(), standard_floats():
            b.functions[function](
                b.hyper, b.ints[a], b.mem[a], self._rng[a], self._obs[a : a + 1], self._action[a : a + 1], b.out[a]
            )

    @contextlib.contextmanager
    def _own_generators(self) -> Iterator[None]:
        """Lets a Python brain draw from the global generators as if it were alone; the user's stay as they are."""
        if isinstance(self._brains, CompiledBrains):
            yield
            return
        before = taken_generators()
        put_generators(self._generators)
        try:
            yield
        finally:
            self._generators = taken_generators()
            put_generators(before)


_WAY_OUT = "Give it the methods state_dict() and load_state_dict(state), which return and take plain data."


def trained(spec: RunSpec) -> tuple[RunResult, TrainedBrain | None]:
    """Executes a run; returns what it left, and its brain if it did not fail."""
    held: dict[str, Any] = {}

    def hold(segment: Segment) -> None:
        if (episode := episodes_learned(segment)) is not None:
            held.update(brains=segment.brains, episode=episode, generators=taken_generators())

    before = taken_generators()
    try:
        result = execute(replace(spec, keeping=None), pauses=[Pause(_NEVER, hold)])
    finally:
        put_generators(before)
    if result.failure is not None:
        return result, None
    return result, TrainedBrain(header_of(spec, held["episode"], final=True), held["brains"], held["generators"])


def _generators(state: BrainState) -> Any:
    """Where the global generators were; torch's is as the brain's seed has put it just now if it was never used."""
    python, numpy, torch = unpack(state.global_generators)
    return python, numpy, taken_generators()[2] if torch is None else torch


def from_checkpoint(saved: Checkpoint, brain: BrainType, name: str) -> TrainedBrain:
    """A brain of the given class as it was saved; ``name`` is what messages call the file."""
    header = saved.header
    if (header.kind == "compiled") != is_compiled(brain):
        raise UsageError(f"{name} holds a {header.kind} brain: {header.brain!r} is not one here.")
    config = resolve_stored(header.brain, brain, header.config)
    kind = CompiledBrains if is_compiled(brain) else PythonBrains
    before, state = taken_generators(), state_of(saved)
    try:
        brains = kind(brain, config, body_of(header), brain_seed(header.seed), header.agents, learning=True)
        brains.put(state)
        generators = _generators(state) if isinstance(brains, PythonBrains) else None
    except (UnavailableError, ValueError) as error:
        raise UsageError(f"{name} does not fit the brain {header.brain!r} as it is here: {error}.") from error
    finally:
        put_generators(before)
    return TrainedBrain(header, brains, generators)
