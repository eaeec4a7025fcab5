"""Tasks with several agents as PettingZoo parallel environments."""

from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import ArrayLike, NDArray
from pettingzoo import ParallelEnv

from nematodebench.drawing.show import Show
from nematodebench.errors import UsageError
from nematodebench.interop.spaces import METADATA, Episodes, action_space, observation_space
from nematodebench.tasks.registry import get_task
from nematodebench.worlds.arrays import WorldArrays
from nematodebench.worlds.base import Effectors, World

__all__ = ["SwarmEnv", "parallel_env"]


class SwarmEnv(ParallelEnv[str, NDArray[np.float32], NDArray[np.float32]]):  # type: ignore[misc]
    """The world of a task; all agents act, then the world steps. All agents stay for the whole episode.

    | what | meaning |
    |---|---|
    | agents | ``agent_0``, ``agent_1``, ... |
    | observation | one float32 a sensor, within the sensor's range |
    | action | effectors in [0, 1] (``Box``) |
    | ``reset(seed=s)`` | episode 0 of a run with seed s (the same world stream); every further reset, the next one |
    | ``infos`` | empty, at the end of an episode the world's metrics by name, the same for every agent |
    | render modes | ``rgb_array``, ``ansi``, ``human`` (a window, through pygame) |

    Args:
        task: Id of a task, or a world.
        render_mode: ``rgb_array``, ``ansi``, ``human`` or None.
    """

    def __init__(self, task: str | World, render_mode: str | None = None) -> None:
        self.world = task if isinstance(task, World) else get_task(task).world
        if not isinstance(self.world.actions, Effectors):
            raise UsageError(
                f"World {self.world.name!r} has choices, and swarms have effectors: use its Gymnasium form."
            )
        self.metadata = {**METADATA, "name": self.world.name, "is_parallelizable": True}
        self.render_mode = render_mode
        self._show = Show(render_mode)
        self.possible_agents = [f"agent_{n}" for n in range(self.world.agents)]
        self.agents: list[str] = []
        self._observations = {agent: observation_space(self.world) for agent in self.possible_agents}
        self._actions = {agent: action_space(self.world) for agent in self.possible_agents}
        self._arrays = WorldArrays(self.world)
        self._arrays.compile()
        self._episodes, self._random = Episodes(), np.random.default_rng()

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The same object for an agent every time, as PettingZoo asks."""
        return self._observations[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """The same object for an agent every time, as PettingZoo asks."""
        return self._actions[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, NDArray[np.float32]], dict[str, dict[str, Any]]]:
        """Begins the next episode; a seed begins a new run."""
        self._arrays.begin(*self._episodes.following(seed, self._random))
        self._show.begin(self._arrays)
        self.agents = list(self.possible_agents)
        return self._seen(), {agent: {} for agent in self.agents}

    def step(
        self, actions: dict[str, ArrayLike]
    ) -> tuple[
        dict[str, NDArray[np.float32]],
        dict[str, float],
        dict[str, bool],
        dict[str, bool],
        dict[str, dict[str, Any]],
    ]:
        """One step of the world."""
        if not self.agents:
            raise UsageError("The episode is over: call reset.")
        for n, agent in enumerate(self.agents):
            self._arrays.action[0, n] = self._checked(agent, actions)
        self._arrays.step()
        self._show.stepped(self._arrays)
        outcome = self._arrays.outcome()
        rewards = outcome.reward[: self.world.agents].tolist()
        terminated, truncated = bool(outcome.terminated), bool(outcome.truncated)
        result = (
            self._seen(),
            dict(zip(self.agents, rewards, strict=True)),
            dict.fromkeys(self.agents, terminated),
            dict.fromkeys(self.agents, truncated),
            {agent: self._arrays.metrics() if terminated or truncated else {} for agent in self.agents},
        )
        if terminated or truncated:
            self.agents = []
        return result

    def _checked(self, agent: str, actions: dict[str, ArrayLike]) -> NDArray[Any]:
        if agent not in actions:
            raise UsageError(f"There is no action for {agent}.")
        given = np.asarray(actions[agent])
        if given.shape != self._arrays.action[0, 0].shape or not bool(((given >= 0.0) & (given <= 1.0)).all()):
            raise UsageError(f"Action {actions[agent]!r} of {agent} is not in {self._actions[agent]}.")
        return given

    def _seen(self) -> dict[str, NDArray[np.float32]]:
        return {agent: self._arrays.obs[0, n].copy() for n, agent in enumerate(self.agents)}

    def state(self) -> NDArray[np.float64]:
        """Everything the world remembers."""
        copied: NDArray[np.float64] = self._arrays.states[0].copy()
        return copied

    def render(self) -> Any:
        """The world as a picture or as text; a window shows every step by itself."""
        return self._show.render(self._arrays)

    def close(self) -> None:
        """Closes the window, if there is one."""
        self._show.close()


def parallel_env(task: str | World, render_mode: str | None = None) -> SwarmEnv:
    """The parallel environment of a task, like ``parallel_env("forage-v1")``."""
    return SwarmEnv(task, render_mode)
