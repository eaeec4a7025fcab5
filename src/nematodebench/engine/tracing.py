"""Keeps what happens in chosen episodes of a run, moment by moment, without changing a bit of it.

The run loop itself, interpreted, calls the world's functions through these for the episodes that somebody wants. All
others go through the compiled loop on the same arrays, so that one wanted episode takes hardly longer than none.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nematodebench.engine.loop import Plan
from nematodebench.kernels.abi import Outcome, WorldFunction
from nematodebench.kernels.jit import F32M, F64, F64M, U64
from nematodebench.tasks.base import Phase

__all__ = ["Trace", "TracedEpisode"]

_FLAGS = len(Outcome.singles)


@dataclass(frozen=True)
class TracedEpisode:
    """One episode of a run: T steps and the T + 1 moments around them.

    Attributes:
        phase: The phase it belongs to, with the world.
        number: Its number in the phase, from 0.
        observation: ``[moment, agent, input]``, float32: what the brains saw; the last is the final one.
        state: ``[moment, :]``, float64: everything that the world remembered.
        action: ``[step, agent, :]``, float32: what the brains did.
        outcome: ``[step, :]``, float64: terminated, truncated, the reward of each agent, the world's metrics.
    """

    phase: Phase
    number: int
    observation: NDArray[np.float32]
    state: F64M
    action: NDArray[np.float32]
    outcome: F64M

    @property
    def steps(self) -> int:
        """How many steps it took."""
        return len(self.action)

    @property
    def terminated(self) -> NDArray[np.bool_]:
        """Of every step, whether the episode ended with it."""
        flags: NDArray[np.bool_] = self.outcome[:, Outcome.singles["terminated"]] != 0.0
        return flags

    @property
    def truncated(self) -> NDArray[np.bool_]:
        """Of every step, whether the episode was cut short there."""
        flags: NDArray[np.bool_] = self.outcome[:, Outcome.singles["truncated"]] != 0.0
        return flags

    @property
    def reward(self) -> F64M:
        """``[step, agent]``: what each agent was paid."""
        return self.outcome[:, _FLAGS : _FLAGS + self.phase.world.agents]


class Trace:
    """Which episodes of a run are wanted, and who is given them.

    Args:
        keep: Is given every wanted episode when it is over.
        wants: Whether an episode of a phase is wanted, by the phase's name and its number there; all if not given.
    """

    def __init__(self, keep: Callable[[TracedEpisode], None], wants: Callable[[str, int], bool] | None = None) -> None:
        self._keep, self._wants = keep, wants
        self._phase: Phase | None = None
        self._number = 0
        self._moments: list[tuple[Any, Any]] = []
        self._steps: list[tuple[Any, F64]] = []

    def wants(self, phase: str, episode: int) -> bool:
        """Whether this episode is to be kept."""
        return self._wants is None or self._wants(phase, episode)

    def functions(self, phase: Phase, plan: Plan) -> tuple[WorldFunction, WorldFunction]:
        """What the run loop is given in the place of the world's ``reset`` and ``step``."""
        world = phase.world

        def reset(params: F64, state: F64, rng: U64, action: F32M, obs: F32M, out: F64) -> None:
            world.reset(params, state, rng, action, obs, out)
            self._phase, self._number = phase, plan.episode
            self._moments, self._steps = [(obs.copy(), state.copy())], []

        def step(params: F64, state: F64, rng: U64, action: F32M, obs: F32M, out: F64) -> None:
            done = action.copy()
            world.step(params, state, rng, action, obs, out)
            self._moments.append((obs.copy(), state.copy()))
            self._steps.append((done, out.copy()))

        return reset, step

    def end_episode(self, out: F64) -> None:
        """Gives away the episode that is over. ``out`` says how it ended: the loop may have cut it short itself."""
        if self._phase is None or not self._steps:
            return
        _, last = self._steps[-1]
        Outcome(last).truncated = Outcome(out).truncated
        observation, state = (np.stack(column) for column in zip(*self._moments, strict=True))
        action, outcome = (np.stack(column) for column in zip(*self._steps, strict=True))
        self._keep(TracedEpisode(self._phase, self._number, observation, state, action, outcome))
        self._phase, self._moments, self._steps = None, [], []
