"""The continual task as a Gymnasium environment: one body, and a world that changes without a word."""

from typing import Any, SupportsFloat

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import ArrayLike, NDArray

from nematodebench.drawing.show import Show
from nematodebench.errors import UsageError, unknown_name
from nematodebench.interop.spaces import METADATA, Episodes
from nematodebench.tasks.registry import get_task
from nematodebench.worlds.arrays import WorldArrays

__all__ = ["ContinualEnv"]


class ContinualEnv(gymnasium.Env[NDArray[np.float32], Any]):
    """The environments of a continual task one after another, in the body that scored brains have.

    | what | meaning |
    |---|---|
    | observation | as many float32 as the widest world has sensors; a narrower world leaves the rest at 0 |
    | action | ``Discrete``, as many as the richest world has; a world takes those beyond its own as doing nothing (or as a wrong answer) |
    | ``reset(seed=s)`` | the first episode of a run with seed s; every further reset is the next episode of that run, so the world changes when its episodes are over, and after the last world the first comes again |
    | ``info`` | empty; at the end of an episode the world's metrics by name, and ``environment``, its name |
    | render modes | ``rgb_array``, ``ansi``, ``human`` (a window, through pygame) |

    Args:
        task: Id of the continual task.
        environment: Stay in this one environment, in the same body; None for all of them in their order.
        render_mode: ``rgb_array``, ``ansi``, ``human`` or None.
    """  # noqa: E501  (rows of a table)

    metadata = METADATA

    def __init__(
        self, task: str = "continual-v1", environment: str | None = None, render_mode: str | None = None
    ) -> None:
        phases = {phase.name: phase for phase in get_task(task).phases}
        if environment is not None and environment not in phases:
            raise unknown_name("environment", environment, phases)
        sensors, choices = get_task(task).body_sensors, get_task(task).body_actions
        low, high = ([getattr(sensor, end) for sensor in sensors] for end in ("low", "high"))
        self.observation_space = spaces.Box(np.array(low, np.float32), np.array(high, np.float32), dtype=np.float32)
        self.action_space = spaces.Discrete(choices)
        self.render_mode = render_mode
        self._show = Show(render_mode)
        wanted = [phase for phase in phases.values() if environment in {None, phase.name}]
        self._worlds = {phase.name: WorldArrays(phase.world, inputs=len(sensors)) for phase in wanted}
        for arrays in self._worlds.values():
            arrays.compile()
        self._plan = [phase.name for phase in wanted for _ in range(phase.episodes)]
        self._episodes = Episodes()
        self.environment = self._plan[0]
        """The environment of the current episode. A brain that is scored is never told."""

    @property
    def _arrays(self) -> WorldArrays:
        return self._worlds[self.environment]

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begins the next episode; a seed begins a new run."""
        super().reset(seed=seed)
        run, episode = self._episodes.following(seed, self.np_random)
        self.environment = self._plan[episode % len(self._plan)]
        self._arrays.begin(run, episode)
        self._show.begin(self._arrays)
        return self._arrays.obs[0, 0].copy(), {}

    def step(self, action: ArrayLike) -> tuple[NDArray[np.float32], SupportsFloat, bool, bool, dict[str, Any]]:
        """One step of the current world."""
        given = np.asarray(action)
        if given.size != 1 or given.dtype.kind not in "iu" or not self.action_space.contains(given.item()):
            raise UsageError(f"Action {action!r} is not in {self.action_space}.")
        arrays = self._arrays
        arrays.action[0, 0] = given.item()
        arrays.step()
        self._show.stepped(arrays)
        outcome = arrays.outcome()
        terminated, truncated = bool(outcome.terminated), bool(outcome.truncated)
        ended: dict[str, Any] = {**arrays.metrics(), "environment": self.environment}
        observation, reward = arrays.obs[0, 0].copy(), float(outcome.reward[0])
        return observation, reward, terminated, truncated, ended if terminated or truncated else {}

    def render(self) -> Any:
        """The current world as a picture or as text; a window shows every step by itself."""
        return self._show.render(self._arrays)

    def close(self) -> None:
        """Closes the window, if there is one."""
        self._show.close()
