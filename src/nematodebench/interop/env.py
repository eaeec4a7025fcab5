"""A task as a Gymnasium environment."""

from typing import Any, SupportsFloat

import gymnasium
import numpy as np
from numpy.typing import ArrayLike, NDArray

from nematodebench.drawing.show import Show
from nematodebench.errors import UsageError
from nematodebench.interop.spaces import METADATA, Episodes, action_space, find_world, observation_space
from nematodebench.worlds.arrays import WorldArrays
from nematodebench.worlds.base import World

__all__ = ["NematodeEnv"]


class NematodeEnv(gymnasium.Env[NDArray[np.float32], Any]):
    """The world of a task, one step at a time.

    | what | meaning |
    |---|---|
    | observation | one float32 a sensor, within the sensor's range |
    | action | a choice (``Discrete``), or effectors in [0, 1] (``Box``) |
    | ``reset(seed=s)`` | episode 0 of a run with seed s (the same world stream); every further reset, the next one |
    | ``info`` | empty, at the end of an episode the world's metrics by name |
    | render modes | ``rgb_array``, ``ansi``, ``human`` (a window, through pygame) |

    Args:
        task: Id of a task, or a world.
        render_mode: ``rgb_array``, ``ansi``, ``human`` or None.
    """

    metadata = METADATA

    def __init__(self, task: str | World, render_mode: str | None = None) -> None:
        self.world = find_world(task)
        self.render_mode = render_mode
        self._show = Show(render_mode)
        self.observation_space = observation_space(self.world)
        self.action_space = action_space(self.world)
        self._arrays = WorldArrays(self.world)
        self._arrays.compile()
        self._episodes = Episodes()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begins the next episode; a seed begins a new run."""
        super().reset(seed=seed)
        self._arrays.begin(*self._episodes.following(seed, self.np_random))
        self._show.begin(self._arrays)
        return self._arrays.obs[0, 0].copy(), {}

    def step(self, action: ArrayLike) -> tuple[NDArray[np.float32], SupportsFloat, bool, bool, dict[str, Any]]:
        """One step of the world."""
        if not self._take(action):
            raise UsageError(f"Action {action!r} is not in {self.action_space}.")
        self._arrays.step()
        self._show.stepped(self._arrays)
        outcome = self._arrays.outcome()
        terminated, truncated = bool(outcome.terminated), bool(outcome.truncated)
        info: dict[str, Any] = {**self._arrays.metrics()} if terminated or truncated else {}
        return self._arrays.obs[0, 0].copy(), float(outcome.reward[0]), terminated, truncated, info

    def _take(self, action: ArrayLike) -> bool:
        """Puts an action where the world reads it; False if it is none."""
        given, wanted = np.asarray(action), self._arrays.action[0, 0]
        if self._arrays.choices:
            if given.size != 1 or given.dtype.kind not in "iu" or not 0 <= given.item() < self._arrays.choices:
                return False
            wanted[:] = given.item()
            return True
        if given.shape != wanted.shape or not bool(((given >= 0.0) & (given <= 1.0)).all()):
            return False
        wanted[:] = given
        return True

    def render(self) -> Any:
        """The world as a picture or as text; a window shows every step by itself."""
        return self._show.render(self._arrays)

    def close(self) -> None:
        """Closes the window, if there is one."""
        self._show.close()
