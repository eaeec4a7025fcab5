"""Brains written in Python: adapts a class with act, learn and begin_episode to the run loop."""

import contextlib
import copy
import hashlib
import random
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nematodebench.engine.brain_state import GENERATORS, BrainState
from nematodebench.engine.python_restore import restore
from nematodebench.engine.python_state import UnavailableError, collect, pack, state_hash
from nematodebench.engine.transition import Transition, transition

if TYPE_CHECKING:  # the process of an isolated brain starts without the compiler
    from nematodebench.brains.base import Interface

__all__ = [
    "PythonBrains",
    "Transition",
    "global_generators_kept",
    "put_generators",
    "seed_everything",
    "spaces_of",
    "taken_generators",
]


_FEEDBACK = 3
"""Numbers in kernels.abi.Feedback, which this module does not import: it would bring the compiler with it."""


def seed_everything(seed: int) -> None:
    """Seeds the global generators of Python, NumPy and (if imported) torch, and makes torch deterministic."""
    random.seed(seed)
    np.random.seed(seed % 2**32)
    torch: Any = sys.modules.get("torch")
    if torch is not None:
        torch.manual_seed(seed)
        torch.set_num_threads(1)
        torch.use_deterministic_algorithms(True)


def taken_generators() -> tuple[Any, Any, Any]:
    """Where the global generators are."""
    torch: Any = sys.modules.get("torch")
    return random.getstate(), np.random.get_state(legacy=False), None if torch is None else torch.get_rng_state()


def put_generators(kept: tuple[Any, Any, Any]) -> None:
    """Puts the global generators to where they were."""
    random.setstate(kept[0])
    np.random.set_state(kept[1])
    if kept[2] is not None:
        sys.modules["torch"].set_rng_state(kept[2])


def _torch_if_used(seed: int) -> Any:
    """Where torch's global generator is; None if it is where the seed has put it, as if nobody had imported torch."""
    torch: Any = sys.modules.get("torch")
    if torch is None:
        return None
    state = torch.get_rng_state()
    return None if torch.equal(state, torch.Generator().manual_seed(seed).get_state()) else state


@contextlib.contextmanager
def global_generators_kept() -> Iterator[None]:
    """Puts the global generators back to where they were."""
    kept = taken_generators()
    try:
        yield
    finally:
        put_generators(kept)


def spaces_of(body: "Interface", seed: int = 0) -> tuple[Any, Any]:
    """The body as Gymnasium spaces, whose samples follow from the seed."""
    from nematodebench.engine.spaces import seeded_spaces  # it takes a while, and compiled brains do without

    return seeded_spaces(body, seed)


def _built(brain: type[Any], body: "Interface", config: Any, seed: int) -> Any:
    """A brain for one agent. One that takes effectors for choices refuses the body, in words that tell the way out."""
    spaces = spaces_of(body, seed)
    try:
        built = brain(*spaces, copy.deepcopy(config), seed)
    except AttributeError as error:
        if error.name != "n" or not (text := _without_choices(error.obj, *spaces)):
            raise
        raise ValueError(text).with_traceback(error.__traceback__) from None
    if not all(callable(getattr(built, method, None)) for method in ("act", "learn", "begin_episode")):
        raise TypeError(f"{brain.__qualname__}(...) gave a {type(built).__name__}, which is no brain: see its __new__")
    return built


def _without_choices(asked: Any, observation_space: Any, action_space: Any) -> str:
    """What is said to a brain that asked a space for its number of choices, and there is none; empty if it did not."""
    if asked is action_space:
        effectors = f"action_space has no n: this task moves {action_space.shape[0]} effectors, each a number in [0, 1]"
        return f"{effectors}. Return an array of them, or raise a ValueError to refuse such tasks"
    sensors = "observation_space has no n: it has shape[0] sensors; the first argument is the observation_space"
    return sensors if asked is observation_space else ""


class PythonBrains:
    """The brains of a run that are written in Python: an instance for each agent, driven as if it were compiled."""

    def __init__(
        self, brain: type[Any], config: Any, body: "Interface", seed: int, agents: int, learning: bool
    ) -> None:
        seed_everything(seed)
        self._seed, self._choices = seed, body.choices
        # Each has a config of its own: one that changes it, changes nobody else's.
        self._brains = [_built(brain, body, config, (seed + agent) % 2**64) for agent in range(agents)]
        self._seen: list[tuple[NDArray[np.float32], Any]] = [(np.zeros(0, np.float32), None)] * agents
        self.learning = learning
        self.hyper, self.ints = np.zeros(1), np.zeros((agents, 1), dtype=np.int64)
        self.mem = np.arange(agents, dtype=np.float32).reshape(agents, 1)
        self.out = np.zeros((agents, _FEEDBACK))

    @property
    def functions(self) -> tuple[Any, Any, Any]:
        """As the run loop calls them."""
        return self.begin, self.act, self.learn if self.learning else self.learn_nothing

    @contextlib.contextmanager
    def copied(self) -> Iterator["PythonBrains"]:
        """A copy that does not learn; the global generators are put back when it is done."""
        with global_generators_kept():
            twin = copy.deepcopy(self)
            twin.learning = False
            yield twin

    def memory_hash(self) -> str | None:
        """SHA-256 of what the brains remember: as they tell it, or else taken from their attributes; None if neither.

        A brain that also has a batched form tells it or has none, because a batch has no attributes of one run.
        """
        if callable(getattr(self._brains[0], "memory", None)):
            told = [brain.memory() for brain in self._brains]
            for one in told:
                if not isinstance(one, bytes | bytearray | memoryview):
                    raise TypeError(f"memory returned {type(one).__name__}: it has to return bytes")
            return hashlib.sha256(b"".join(told)).hexdigest()
        if getattr(self._brains[0], "batched", None) is not None:
            return None
        try:
            return state_hash([collect(brain, graphs=True) for brain in self._brains])
        except UnavailableError:
            return None

    def state(self) -> BrainState:
        """Everything that the brains remember, and where the global generators are that they may draw from.

        Raises:
            UnavailableError: A brain holds something that is no data.
        """
        states = [collect(brain) for brain in self._brains]
        arrays = {f"{a}/{name}": array for a, one in enumerate(states) for name, array in one.arrays.items()}
        generators = pack((*taken_generators()[:2], _torch_if_used(self._seed)))
        arrays |= {f"{GENERATORS}{name}": array for name, array in generators.arrays.items()}
        return BrainState(len(states), arrays, tuple(one.tree for one in states), generators.tree)

    def put(self, state: BrainState, *, streams: bool = True) -> None:
        """Gives the brains a state; without ``streams`` their random generators stay as they are.

        Raises:
            UnavailableError: The state does not fit.
        """
        for agent, brain in enumerate(self._brains):
            restore(brain, state.of_agent(agent, len(self._brains)), streams=streams)

    def descriptors(self) -> dict[str, float]:
        """A Python brain says nothing of its state."""
        return {}

    def complaint(self) -> str:
        """Nothing: what a brain raises ends the run by itself."""
        return ""

    def close(self) -> None:
        """Nothing is open."""

    def begin_episode(self, agent: int) -> None:
        """A new episode of one agent."""
        self._brains[agent].begin_episode()

    def choose(self, agent: int, observation: NDArray[np.float32], action: NDArray[np.float32]) -> None:
        """Asks the brain; the answer's type and shape are checked here, its range by the loop."""
        observation = observation.copy()
        answer = self._brains[agent].act(observation)
        try:
            if type(answer) is int and action.size == 1:  # the usual case, in a tenth of the time
                action[0] = answer
            else:
                action[:] = self._numbers(answer, action.size)
        except OverflowError:
            raise ValueError("act returned a number that is too large for an action") from None
        self._seen[agent] = (observation, answer)

    def _numbers(self, answer: Any, wanted: int) -> NDArray[np.float64]:
        """The numbers of an answer that is more than one, or no plain whole number."""
        if answer is None:  # NumPy would take it for a number that is none
            raise TypeError("act returned None: it has to return the action")
        try:
            if isinstance(answer, str | bytes):  # NumPy would read a number in it
                raise TypeError
            values = np.asarray(answer, dtype=np.float64).ravel()
        except (TypeError, ValueError):
            raise TypeError(f"act returned {type(answer).__name__} {answer!r:.60}, which is no action") from None
        except RuntimeError as error:  # a tensor that requires a gradient
            raise TypeError(f"act returned {type(answer).__name__}, which is no action: {error}") from None
        if values.size != wanted:
            raise ValueError(self._too_many(values.size, wanted))
        return values

    def _too_many(self, given: int, wanted: int) -> str:
        """What is said of an answer with another number of numbers than the body takes."""
        numbers = "1 number" if given == 1 else f"{given} numbers"
        legal = f", a whole number from 0 to {self._choices - 1}" if self._choices else ", each in [0, 1]"
        return f"act returned {numbers} where the body takes {wanted}{legal}"

    def take_in(
        self, agent: int, following: NDArray[np.float32], reward: float, terminated: bool, truncated: bool
    ) -> None:
        """Hands the brain its transition."""
        observation, answer = self._seen[agent]
        step = transition(observation, answer, reward, following.copy(), terminated, truncated)
        self._brains[agent].learn(step)

    # The functions of the Brain ABI, as the run loop calls them. ``mem`` holds one number, the agent's.

    def begin(self, hyper: Any, ints: Any, mem: Any, rng: Any, obs: Any, action: Any, out: Any) -> None:
        """A new episode."""
        self.begin_episode(int(mem.item()))

    def act(self, hyper: Any, ints: Any, mem: Any, rng: Any, obs: Any, action: Any, out: Any) -> None:
        """Asks the brain."""
        self.choose(int(mem.item()), obs[0], action[0])

    def learn(self, hyper: Any, ints: Any, mem: Any, rng: Any, obs: Any, action: Any, out: Any) -> None:
        """Hands the brain its transition."""
        terminated, truncated, reward = out.tolist()
        self.take_in(int(mem.item()), obs[0], reward, terminated != 0.0, truncated != 0.0)

    def learn_nothing(self, hyper: Any, ints: Any, mem: Any, rng: Any, obs: Any, action: Any, out: Any) -> None:
        """In the place of ``learn`` while a copy is tested, and where learning is off."""
