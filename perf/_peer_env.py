"""A task's worlds for learners of other libraries: their kind of actions, and a record of every episode."""

from typing import Any, Literal

import gymnasium
import numpy as np
from numpy.typing import NDArray

from nematodebench.interop.env import NematodeEnv
from nematodebench.tasks.base import Phase

__all__ = ["Actions", "RecordedEnv"]

LEVELS = 5
"""Values an effector can take, as many as our own learners give it by default."""

Actions = Literal["heads", "joint"]
"""Effectors as one choice each, or as one choice among all combinations."""


class RecordedEnv(gymnasium.Env[NDArray[np.float32], Any]):
    """A phase of a task. Effectors become choices among levels; ``rows`` holds what a run records of an episode."""

    def __init__(self, phase: Phase, actions: Actions) -> None:
        self._env, self._phase = NematodeEnv(phase.world), phase
        self.observation_space = self._env.observation_space
        self.action_space, self._effectors = self._env.action_space, 0
        if isinstance(self.action_space, gymnasium.spaces.Box):
            self._effectors = int(self.action_space.shape[0])
            heads = gymnasium.spaces.MultiDiscrete([LEVELS] * self._effectors)
            joint = gymnasium.spaces.Discrete(LEVELS**self._effectors)
            self.action_space = heads if actions == "heads" else joint
        self.rows: list[list[float]] = []
        self._reward, self._steps = 0.0, 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begins the next episode."""
        super().reset(seed=seed)
        self._reward, self._steps = 0.0, 0
        return self._env.reset(seed=seed)

    def step(self, action: Any) -> tuple[NDArray[np.float32], Any, bool, bool, dict[str, Any]]:
        """One step; the end of an episode is recorded."""
        obs, reward, terminated, truncated, info = self._env.step(self._translated(action))
        self._reward += float(reward)
        self._steps += 1
        if terminated or truncated:
            told = {"reward": self._reward, "steps": self._steps, "terminated": terminated, "truncated": truncated}
            self.rows.append([float({**info, **told}[name]) for name in self._phase.columns])
        return obs, reward, terminated, truncated, info

    def _translated(self, action: Any) -> Any:
        if not self._effectors:
            return int(action)
        if np.ndim(action) == 0 or np.size(action) == 1 < self._effectors:
            action = [int(action) // LEVELS**k % LEVELS for k in range(self._effectors)]
        return np.asarray(action, dtype=np.float32) / np.float32(LEVELS - 1)
