"""A world with its arrays: what everybody who steps worlds uses, be it one world or many copies side by side."""

from collections.abc import Callable
from typing import Any

import numpy as np

from nematodebench.kernels.abi import WORLD, Outcome
from nematodebench.kernels.jit import F32M, F64M, U64, first_class
from nematodebench.kernels.memory import Block
from nematodebench.kernels.rng import RNG_WORDS, STREAM_WORLD, set_stream
from nematodebench.worlds.base import Discrete, World

__all__ = ["WorldArrays"]


class WorldArrays:
    """The arrays that a world's compiled functions work on, for one or several copies of it.

    Attributes:
        world: The world.
        params: Its packed parameters, which all copies share.
        states: One row a copy.
        rng: One row of words a copy.
        action: ``[copy, agent, :]``, as the functions take it for each copy.
        obs: ``[copy, agent, :]``.
        outs: One row a copy: flags, rewards, metrics.
        choices: Number of discrete actions; 0 if the actions are effectors.
    """

    def __init__(
        self,
        world: World,
        copies: int = 1,
        extra_words: int = 0,
        allocate: Callable[..., Any] = np.zeros,
        inputs: int | None = None,
    ) -> None:
        """Makes the arrays.

        Args:
            world: The world.
            copies: How many there are side by side.
            extra_words: Words behind each copy's random stream, for whoever steps the copies.
            allocate: Makes an array of a shape and a type.
            inputs: Inputs of a body that is wider than the world; those beyond the world's sensors stay 0.
        """
        self.world = world
        self.choices = world.actions.n if isinstance(world.actions, Discrete) else 0
        self.params = world.packed.copy()
        declared = world.memory.params(self.params)
        count = world.memory.state.count(declared)
        self.states: F64M = allocate((copies, count), dtype=np.float64)
        self.rng = allocate((copies, RNG_WORDS + extra_words), dtype=np.uint64)
        self.action: F32M = allocate((copies, world.agents, 1 if self.choices else world.actions.n), dtype=np.float32)
        self.obs: F32M = allocate((copies, world.agents, inputs or len(world.sensors)), dtype=np.float32)
        self.outs: F64M = allocate((copies, len(Outcome.singles) + world.agents + len(world.metrics)), dtype=np.float64)

    def compile(self) -> None:
        """Compiles (or loads) the world's functions."""
        for function in (self.world.reset, self.world.step, self.world.reference):
            if function is not None:
                first_class(function, WORLD)

    def begin(self, seed: int, episode: int, copy: int = 0) -> None:
        """Begins an episode of the run with this seed: the very worlds that a brain of this run meets."""
        set_stream(self.rng[copy], np.uint64(seed), STREAM_WORLD, episode, 0)
        self.world.reset(*self._row(copy))

    def step(self, copy: int = 0) -> None:
        """One step with the action that lies in ``action``."""
        self.world.step(*self._row(copy))

    def refer(self, rng: U64, copy: int = 0) -> None:
        """Lets the world's reference, which draws from a stream of its own, fill ``action``."""
        if self.world.reference is None:
            raise TypeError(f"world {self.world.name!r} has no reference")
        params, state, _, *rest = self._row(copy)
        self.world.reference(params, state, rng, *rest)

    def text(self, copy: int = 0) -> str:
        """The world as text."""
        return self.world.text(self.state(copy))

    def _row(self, copy: int) -> tuple[Any, ...]:
        return (
            self.params, self.states[copy], self.rng[copy], self.action[copy], self.obs[copy], self.outs[copy],
        )  # fmt: skip

    def state(self, copy: int = 0) -> Any:
        """The state by name."""
        memory = self.world.memory
        if memory.state.sizes_from is None:
            return memory.state(self.states[copy])
        return memory.state(self.states[copy], memory.params(self.params))

    def outcome(self, copy: int = 0) -> Outcome:
        """What came of the last step."""
        return Outcome(self.outs[copy])

    def metrics(self, copy: int = 0) -> dict[str, float]:
        """The metrics of an episode that has ended."""
        names = self.world.metrics
        return dict(zip(names, self.outs[copy, self.outs.shape[1] - len(names) :].tolist(), strict=True))

    def done(self, copy: int = 0) -> bool:
        """Whether the episode has ended."""
        outcome = self.outcome(copy)
        return bool(outcome.terminated or outcome.truncated)

    def parameters(self) -> Block:
        """The packed parameters by name."""
        return self.world.memory.params(self.params)
