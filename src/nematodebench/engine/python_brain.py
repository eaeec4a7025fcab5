"""Brains written in Python: adapts a class with act, learn and begin_episode to the run loop."""

import contextlib
import copy
import hashlib
import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:  # the process of an isolated brain starts without the compiler
    from nematodebench.brains.base import Interface

__all__ = ["PythonBrains", "Transition", "global_generators_kept", "seed_everything", "spaces_of"]


_FEEDBACK = 3
"""Numbers in kernels.abi.Feedback, which this module does not import: it would bring the compiler with it."""


@dataclass(frozen=True)
class Transition:
    """What one step brought."""

    observation: NDArray[np.float32]
    action: Any
    reward: float
    next_observation: NDArray[np.float32]
    terminated: bool
    truncated: bool


def _transition(
    observation: Any, action: Any, reward: float, following: Any, terminated: bool, truncated: bool
) -> Transition:
    """A transition in a third of the time: the constructor of a frozen dataclass sets every field by a call."""
    made = object.__new__(Transition)
    made.__dict__.update(
        observation=observation, action=action, reward=reward, next_observation=following, terminated=terminated,
        truncated=truncated,
    )  # fmt: skip
    return made


def seed_everything(seed: int) -> None:
    """Seeds the global generators of Python, NumPy and (if imported) torch, and makes torch deterministic."""
    random.seed(seed)
    np.random.seed(seed % 2**32)
    torch: Any = sys.modules.get("torch")
    if torch is not None:
        torch.manual_seed(seed)
        torch.set_num_threads(1)
        torch.use_deterministic_algorithms(True)


@contextlib.contextmanager
def global_generators_kept() -> Iterator[None]:
    """Puts the global generators back to where they were."""
    torch: Any = sys.modules.get("torch")
    kept = random.getstate(), np.random.get_state(), None if torch is None else torch.get_rng_state()
    try:
        yield
    finally:
        random.setstate(kept[0])
        np.random.set_state(kept[1])
        if torch is not None:
            torch.set_rng_state(kept[2])


def spaces_of(body: "Interface") -> tuple[Any, Any]:
    """The body as Gymnasium spaces."""
    from gymnasium import spaces

    low, high = np.array(body.low, np.float32), np.array(body.high, np.float32)
    observation = spaces.Box(low, high, dtype=np.float32)
    if body.choices:
        return observation, spaces.Discrete(body.choices)
    return observation, spaces.Box(0.0, 1.0, (body.effectors,), np.float32)


class PythonBrains:
    """The brains of a run that are written in Python: an instance for each agent, driven as if it were compiled."""

    def __init__(
        self, brain: type[Any], config: Any, body: "Interface", seed: int, agents: int, learning: bool
    ) -> None:
        seed_everything(seed)
        spaces = spaces_of(body)
        # Each has a config of its own: one that changes it, changes nobody else's.
        self._brains = [brain(*spaces, copy.deepcopy(config), (seed + agent) % 2**64) for agent in range(agents)]
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

    def memory_hash(self) -> str:
        """SHA-256 of what the brains remember."""
        return hashlib.sha256(self.memory()).hexdigest()

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
        if type(answer) is int and action.size == 1:  # the usual case, in a tenth of the time
            action[0] = answer
        else:
            if answer is None:  # NumPy would take it for a number that is none
                raise TypeError("act returned None: it has to return the action")
            values = np.asarray(answer, dtype=np.float64).ravel()
            if values.size != action.size:
                raise ValueError(f"act returned {values.size} numbers where the body takes {action.size}")
            action[:] = values
        self._seen[agent] = (observation, answer)

    def take_in(
        self, agent: int, following: NDArray[np.float32], reward: float, terminated: bool, truncated: bool
    ) -> None:
        """Hands the brain its transition."""
        observation, answer = self._seen[agent]
        step = _transition(observation, answer, reward, following.copy(), terminated, truncated)
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

    def memory(self) -> bytes:
        """What the brains remember at the end, where they can tell (an optional method ``memory() -> bytes``)."""
        return b"".join(brain.memory() for brain in self._brains if callable(getattr(brain, "memory", None)))
