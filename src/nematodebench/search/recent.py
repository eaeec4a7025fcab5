"""A sampler that looks at so many trials at most, so that the thousandth costs what the 250th did."""

import heapq
import operator
from typing import Any, cast

from optuna.samplers import TPESampler
from optuna.trial import TrialState

__all__ = ["LOOKED_AT", "RecentTPESampler"]

LOOKED_AT = 250
"""Trials that are looked at: the latest of all, and the best."""
_BEST = 25
"""Optuna's sampler takes no more than this many trials for good ones."""


_value = operator.attrgetter("value")


class _Recent:
    """A study that shows the best trials and the latest; everything else is the study's own."""

    def __init__(self, study: Any) -> None:
        self._study = study

    def __getattr__(self, name: str) -> Any:
        return getattr(self._study, name)

    def _get_trials(self, *arguments: Any, **options: Any) -> list[Any]:
        trials = self._study._get_trials(*arguments, **options)
        if len(trials) <= LOOKED_AT:
            return list(trials)
        latest, older = trials[_BEST - LOOKED_AT :], trials[: _BEST - LOOKED_AT]
        complete = [trial for trial in older if trial.state is TrialState.COMPLETE]
        best = heapq.nlargest(_BEST, complete, key=_value)
        return sorted(best, key=lambda trial: trial.number) + list(latest)


class RecentTPESampler(TPESampler):
    """Optuna's TPE, which gives older trials ever less weight; here the oldest have none.

    The trials it takes for good ones are the same: the best of all stay in sight. Up to ``LOOKED_AT`` trials, and where
    a version of Optuna asks for trials in another way, it is exactly Optuna's.
    """

    def sample_relative(self, study: Any, trial: Any, search_space: dict[str, Any]) -> Any:
        """Values for all parameters at once."""
        return super().sample_relative(cast("Any", _Recent(study)), trial, search_space)

    def sample_independent(self, study: Any, trial: Any, param_name: str, param_distribution: Any) -> Any:
        """A value for one parameter."""
        return super().sample_independent(cast("Any", _Recent(study)), trial, param_name, param_distribution)
