"""A task as a Gymnasium environment."""

from typing import Any, SupportsFloat

import gymnasium
import numpy as np
from numpy.typing import ArrayLike, NDArray

from nematodebench.errors import UsageError
from nematodebench.interop import spaces as _worlds
from nematodebench.kernels.abi import OUT_REWARD, WORLD
from nematodebench.kernels.jit import first_class
from nematodebench.kernels.rng import RNG_WORDS, STREAM_WORLD, set_stream
from nematodebench.worlds.base import Discrete, World

__all__ = ["NematodeEnv"]


class NematodeEnv(gymnasium.Env[NDArray[np.float32], Any]):
    """The world of a task, one step at a time.

    | what | meaning |
    |---|---|
    | observation | one float32 a sensor, within the sensor's range |
    | action | a choice (``Discrete``), or effectors in [0, 1] (``Box``) |
    | ``reset(seed=s)`` | episode 0 of a run with seed s (the same world stream); every further reset, the next one |
    | ``info`` | empty, at the end of an episode the world's metrics by name |
    | render modes | ``rgb_array``, ``ansi`` |

    Args:
        task: Id of a task, or a world.
        render_mode: ``rgb_array``, ``ansi`` or None.
    """

    metadata = _worlds.METADATA

    def __init__(self, task: str | World, render_mode: str | None = None) -> None:
        self.world = _worlds.find_world(task)
        self.render_mode = render_mode
        self.observation_space = _worlds.observation_space(self.world)
        self.action_space = _worlds.action_space(self.world)
        self._choices = self.world.actions.n if isinstance(self.world.actions, Discrete) else 0
        self._reset = first_class(self.world.reset, WORLD)
        self._step = first_class(self.world.step, WORLD)
        self._params = self.world.pack()
        self._state = np.zeros(self.world.state_size)
        self._rng = np.zeros(RNG_WORDS, dtype=np.uint64)
        self._action = np.zeros((1, 1 if self._choices else self.world.actions.n), dtype=np.float32)
        self._obs = np.zeros((1, len(self.world.sensors)), dtype=np.float32)
        self._out = np.zeros(self.world.out_size)
        self._seed: int | None = None
        self._episode = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begins the next episode; a seed begins a new run."""
        super().reset(seed=seed)
        if seed is not None:
            self._seed, self._episode = int(seed) & _worlds.SEED_MASK, 0
        elif self._seed is None:
            self._seed = int(self.np_random.integers(2**63))
        set_stream(self._rng, np.uint64(self._seed), STREAM_WORLD, self._episode, 0)
        self._episode += 1
        self._reset(self._params, self._state, self._rng, self._action, self._obs, self._out)
        return self._obs[0].copy(), {}

    def step(self, action: ArrayLike) -> tuple[NDArray[np.float32], SupportsFloat, bool, bool, dict[str, Any]]:
        """One step of the world."""
        if not self._take(action):
            raise UsageError(f"Action {action!r} is not in {self.action_space}.")
        self._step(self._params, self._state, self._rng, self._action, self._obs, self._out)
        terminated, truncated = bool(self._out[0]), bool(self._out[1])
        info = self._metrics() if terminated or truncated else {}
        return self._obs[0].copy(), float(self._out[OUT_REWARD]), terminated, truncated, info

    def _take(self, action: ArrayLike) -> bool:
        """Puts an action where the world reads it; False if it is none."""
        given = np.asarray(action)
        if self._choices:
            if given.size != 1 or given.dtype.kind not in "iu" or not 0 <= given.item() < self._choices:
                return False
            self._action[0, 0] = given.item()
            return True
        if given.shape != self._action[0].shape or not bool(((given >= 0.0) & (given <= 1.0)).all()):
            return False
        self._action[0] = given
        return True

    def _metrics(self) -> dict[str, Any]:
        return dict(zip(self.world.metrics, self._out[OUT_REWARD + 1 :].tolist(), strict=True))

    def render(self) -> Any:
        """The world as a picture or as text."""
        return _worlds.draw(self.world, self._state, self.render_mode)
