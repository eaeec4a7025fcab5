"""A task as a Gymnasium vector environment: all lanes step in one compiled call."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, NDArray

from nematodebench.drawing.show import still
from nematodebench.errors import UsageError
from nematodebench.interop.lanes import EPISODE, FLAGS, LANE_WORDS, SEED, compile_lanes
from nematodebench.interop.spaces import METADATA, SEED_MASK, action_space, find_world, observation_space
from nematodebench.worlds.arrays import WorldArrays
from nematodebench.worlds.base import World

__all__ = ["NematodeVectorEnv"]

_METADATA = {**METADATA, "render_modes": ["rgb_array", "ansi"], "autoreset_mode": AutoresetMode.NEXT_STEP}


class NematodeVectorEnv(VectorEnv[NDArray[np.float32], Any, NDArray[Any]]):
    """``num_envs`` independent copies of :class:`~nematodebench.interop.env.NematodeEnv`, bit for bit.

    | what | meaning |
    |---|---|
    | ``reset(seed=s)`` | lane i is seeded s + i; a list gives every lane its own seed (None: its next episode) |
    | autoreset | in the step after an episode's last one, which ignores the action and pays 0; or in the same step |
    | infos | empty, unless an episode ended: the world's metrics by name, as Gymnasium batches them |

    Args:
        task: Id of a task, or a world.
        num_envs: Number of lanes.
        render_mode: ``rgb_array``, ``ansi`` or None.
        autoreset_mode: When a lane whose episode ended begins anew: ``NEXT_STEP`` or ``SAME_STEP``.
        copy: Whether every step returns new arrays. Without it observations, rewards, flags and infos are the same
            arrays every time, overwritten by the next step: faster, for those who are done with them by then.
    """

    metadata = _METADATA

    def __init__(
        self,
        task: str | World,
        num_envs: int = 1,
        render_mode: str | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        copy: bool = True,
    ) -> None:
        self.world = find_world(task)
        self.num_envs = num_envs
        self.render_mode = render_mode
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        if self.autoreset_mode is AutoresetMode.DISABLED:
            raise UsageError("Lanes always begin anew by themselves: use autoreset mode NEXT_STEP or SAME_STEP.")
        self.copy = copy
        self.metadata = {**_METADATA, "autoreset_mode": self.autoreset_mode}
        self.single_observation_space = observation_space(self.world)
        self.single_action_space = action_space(self.world)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._lay_out()

    def _lay_out(self) -> None:
        """The memory of all lanes, in the order in which the compiled functions take it."""
        lanes = self.num_envs
        self._arrays = WorldArrays(self.world, lanes, extra_words=LANE_WORDS)
        self._seeded = np.zeros(lanes, dtype=np.bool_)
        self._flags = np.zeros((len(FLAGS), lanes), dtype=np.bool_)
        self._results = np.zeros((1 + len(self.world.metrics), lanes))
        self._bind()

    def _bind(self) -> None:
        """Names the parts of the memory and binds the compiled functions to it."""
        arrays, lanes = self._arrays, self.num_envs
        self._words, self._obs = arrays.rng, arrays.obs.reshape(lanes, -1)
        memory = (arrays.params, arrays.states, arrays.rng, arrays.action.reshape(lanes, -1), self._obs, arrays.outs)
        restart, advance = compile_lanes(self.world.reset, self.world.step, arrays.choices > 0)
        self._restart = partial(restart, *memory)
        self._advance = partial(advance, *memory, self._flags, self._results, arrays.choices)
        self._terminations, self._truncations, self._ended = self._flags
        self._rewards, *_ = self._results
        self._metrics = self._results[1:]
        self._info_names = (*self.world.metrics, *(f"_{name}" for name in self.world.metrics))
        self._shared_infos = self._named(self._metrics, self._ended)

    def __setstate__(self, state: dict[str, Any]) -> None:
        # A copy's views are arrays of their own, so they must be taken anew.
        self.__dict__.update(state)
        self._bind()

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begins the next episode of every lane; a seed begins a new run."""
        seeds = self._lane_seeds(seed)
        super().reset(seed=seeds[0])
        for lane, own in enumerate(seeds):
            if own is None and not self._seeded[lane]:
                own = int(self.np_random.integers(2**63))  # noqa: PLW2901
            if own is not None:
                self._words[lane, SEED] = own & SEED_MASK
                self._words[lane, EPISODE] = 0
        self._seeded[:] = True
        self._restart(np.ones(self.num_envs, dtype=np.bool_))
        return self._obs.copy() if self.copy else self._obs, {}

    def _lane_seeds(self, seed: int | Sequence[int | None] | None) -> list[int | None]:
        if seed is None:
            return [None] * self.num_envs
        if isinstance(seed, int | np.integer):
            return [int(seed) + lane for lane in range(self.num_envs)]
        seeds = list(seed)
        if len(seeds) != self.num_envs:
            raise UsageError(f"{len(seeds)} seeds for {self.num_envs} lanes: give one a lane, or a single number.")
        return seeds

    def step(
        self, actions: ArrayLike
    ) -> tuple[NDArray[np.float32], NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """One step of every lane."""
        try:
            ended = self._advance(actions)
        except TypeError:  # the compiled function takes one type of array, which it checks faster than we could
            ended = self._advance(self._converted(actions))
        if ended < 0:
            raise self._illegal(actions)
        infos = self._infos() if ended else {}
        if self.copy:
            return (
                self._obs.copy(), self._rewards.copy(), self._terminations.copy(), self._truncations.copy(), infos,
            )  # fmt: skip
        return self._obs, self._rewards, self._terminations, self._truncations, infos

    def _converted(self, actions: ArrayLike) -> NDArray[Any]:
        given = np.asarray(actions)
        wanted = np.int64 if self._arrays.choices else np.float32
        if not np.can_cast(given.dtype, wanted, "same_kind") or given.shape != self.action_space.shape:
            raise self._illegal(actions)
        return np.array(given, dtype=wanted, order="C")

    def _illegal(self, actions: ArrayLike) -> UsageError:
        return UsageError(f"Actions {actions!r} are not in {self.action_space}.")

    def _named(self, metrics: NDArray[np.float64], mask: NDArray[np.bool_]) -> dict[str, Any]:
        return dict(zip(self._info_names, (*metrics, *(mask,) * len(metrics)), strict=True))

    def _infos(self) -> dict[str, Any]:
        """Metrics of the lanes whose episode just ended, with a mask of these lanes for each."""
        infos = self._named(self._metrics.copy(), self._ended.copy()) if self.copy else self._shared_infos.copy()
        if self.autoreset_mode is AutoresetMode.NEXT_STEP:
            return infos
        mask = self._ended.copy()
        last = np.full(self.num_envs, None, dtype=object)
        for lane in np.flatnonzero(mask):
            last[lane] = self._obs[lane].copy()
        self._restart(mask)
        return {"final_obs": last, "_final_obs": mask, "final_info": infos, "_final_info": mask}

    def render(self) -> tuple[Any, ...] | None:
        """Every lane as a picture, without trails, or as text."""
        if self.render_mode is None:
            return None
        return tuple(still(self._arrays, self.render_mode, lane) for lane in range(self.num_envs))
