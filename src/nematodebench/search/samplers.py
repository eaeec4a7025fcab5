"""Samplers whose choice for a trial depends on its number and the trials before it alone.

A generator that runs through the whole search would be in another state after a search was killed and resumed, and the
rest of its trials would be others. So every trial has a sampler with a seed of its own.
"""

import math
from collections.abc import Sequence
from typing import Any

from optuna import samplers

from nematodebench.engine.seeds import run_seed
from nematodebench.search.recent import RecentTPESampler
from nematodebench.search.space import Dimension

__all__ = ["SeededByTrial"]

_SEEDS = 2**32
"""Optuna's generators take seeds below this."""


class SeededByTrial(samplers.BaseSampler):
    """One of Optuna's samplers, made anew for every trial.

    Args:
        kind: One of ``SAMPLERS``.
        space: What is searched.
        trials: Of the whole search, by which a grid chooses its points.
        seed: Of the search.
    """

    def __init__(self, kind: str, space: Sequence[Dimension], trials: int, seed: int) -> None:
        self._kind, self._seed = kind, seed
        points = max(2, math.floor(trials ** (1 / len(space)) + 1e-9))
        self._grid = {d.name: d.grid(points) for d in space} if kind == "grid" else {}
        self._own = self._first = self._make(0)

    def _make(self, trial: int) -> samplers.BaseSampler:
        seed = run_seed(self._seed, trial) % _SEEDS
        if self._kind == "grid":
            return samplers.GridSampler(self._grid, seed=seed)
        if self._kind == "cmaes":
            return samplers.CmaEsSampler(seed=seed, warn_independent_sampling=False)
        kinds = {"tpe": RecentTPESampler, "random": samplers.RandomSampler, "nsga2": samplers.NSGAIISampler}
        made: samplers.BaseSampler = kinds[self._kind](seed=seed)
        return made

    def exhausted(self, study: Any) -> bool:
        """Whether a grid has no point left; no other sampler ever comes to an end."""
        return isinstance(self._own, samplers.GridSampler) and bool(self._own.is_exhausted(study))

    def before_trial(self, study: Any, trial: Any) -> None:
        """A trial begins."""
        self._own = self._make(trial.number)
        self._own.before_trial(study, trial)

    def infer_relative_search_space(self, study: Any, trial: Any) -> dict[str, Any]:
        """The parameters that are chosen together.

        They follow from the trials alone. The first sampler remembers those it has seen; a new one would look at all.
        """
        return dict(self._first.infer_relative_search_space(study, trial))

    def sample_relative(self, study: Any, trial: Any, search_space: dict[str, Any]) -> dict[str, Any]:
        """Values for them."""
        return dict(self._own.sample_relative(study, trial, search_space))

    def sample_independent(self, study: Any, trial: Any, param_name: str, param_distribution: Any) -> Any:
        """A value for any other parameter."""
        return self._own.sample_independent(study, trial, param_name, param_distribution)

    def after_trial(self, study: Any, trial: Any, state: Any, values: Sequence[float] | None) -> None:
        """A trial has ended."""
        self._own.after_trial(study, trial, state, values)
