"""Runs a search: an Optuna study whose trials all run the same seeds. It can prune, stop early and be resumed."""

import bisect
import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from nematodebench.errors import EditedError, UsageError
from nematodebench.search.space import Dimension
from nematodebench.search.target import Target, TrialFailedError
from nematodebench.search.verdict import Verdict, hold_out, search_seeds

__all__ = ["SAMPLERS", "SearchPlan", "SearchResult", "finished_trials", "importances", "run_search"]

SAMPLERS = ("tpe", "cmaes", "random", "grid", "nsga2")
_STARTUP = 8
"""Trials before the median prunes."""


@dataclass(frozen=True)
class SearchPlan:
    """Everything that decides a search.

    Attributes:
        name: Of the study in its storage.
        space: What is searched.
        sampler: One of SAMPLERS.
        trials: In total, those before a resumption included.
        runs: Seeds of every trial, the same for all.
        batches: Into how many parts they are divided; after each the trial reports and may be pruned.
        held_out: Seeds on which champion and default are judged.
        seed: Of the sampler and, hashed, of the runs.
        patience: Ends after so many finished trials without a better one; 0 for never.
        prune: Whether trials below the median of the others at the same batch are given up.
        storage: Journal file or URL.
        resume: Whether to continue a study of this name.
    """

    name: str
    space: tuple[Dimension, ...]
    sampler: str = "tpe"
    trials: int = 50
    runs: int = 8
    batches: int = 4
    held_out: int = 30
    seed: int = 0
    patience: int = 0
    prune: bool = True
    storage: str = "search.log"
    resume: bool = False


@dataclass(frozen=True)
class SearchResult:
    """The study, its best trial, and how that did on held-out seeds."""

    study: Any
    champion: dict[str, Any]
    search_value: float
    default_value: float | None
    verdict: Verdict


def finished_trials(study: Any) -> list[Any]:
    """Trials that ended, with any result. A trial that was killed did not end."""
    return [trial for trial in study.get_trials(deepcopy=False) if trial.state.is_finished()]


def _identity(plan: SearchPlan) -> dict[str, Any]:
    """What must not change when a study is resumed: values of its trials would not be comparable."""
    return {
        "runs": plan.runs, "seed": plan.seed, "space": [asdict(dimension) for dimension in plan.space],
    }  # fmt: skip


def _open(plan: SearchPlan, labels: dict[str, Any], storage: Any) -> Any:
    import optuna

    from nematodebench.search.samplers import SeededByTrial

    known = {one.study_name: one for one in optuna.get_all_study_summaries(storage=storage)}
    # The default is enqueued last: a search without a trial was killed while it was made, and is made again.
    begun = plan.name in known and known[plan.name].n_trials > 0
    if begun and not plan.resume:
        raise UsageError(
            f"Search {plan.name!r} exists there already. Continue it with --resume, or choose another name."
        )
    if plan.name not in known:  # a second one of the name would stay in the journal as a line
        optuna.create_study(storage=storage, study_name=plan.name, direction="maximize", load_if_exists=True)
    study = optuna.load_study(
        storage=storage, study_name=plan.name,
        sampler=SeededByTrial(plan.sampler, plan.space, plan.trials, plan.seed),
        pruner=optuna.pruners.MedianPruner(_STARTUP) if plan.prune else optuna.pruners.NopPruner(),
    )  # fmt: skip
    wanted = {**_identity(plan), **labels}
    if begun:
        _refuse_another(plan.name, wanted, study.user_attrs)
    else:
        for key, value in wanted.items():
            study.set_user_attr(key, value)
        study.enqueue_trial({dimension.name: dimension.default for dimension in plan.space})
    return study


def _refuse_another(name: str, wanted: dict[str, Any], stored: dict[str, Any]) -> None:
    changed = ", ".join(key for key in wanted if stored.get(key) != wanted[key])
    if changed:
        raise UsageError(f"Search {name!r} was begun with another {changed}: its trials cannot be compared.")


class _Stopped(BaseException):
    """A trial was stopped from outside: it did not fail, and Optuna, which catches errors, must not say that it did."""

    def __init__(self, why: BaseException) -> None:
        super().__init__(str(why))
        self.why = why


def _objective(target: Target, plan: SearchPlan) -> Callable[[Any], float]:
    from optuna import TrialPruned

    seeds_of = search_seeds(plan.seed, plan.runs)  # stay Python integers: an array would round 64 bits
    parts = np.array_split(np.arange(plan.runs), plan.batches)
    batches = [[seeds_of[k] for k in part] for part in parts if part.size]

    def objective(trial: Any) -> float:
        results: list[Any] = []
        try:
            config = {dimension.name: dimension.suggest(trial) for dimension in plan.space}
            for n, seeds in enumerate(batches):
                results += target.run(config, seeds)
                value = float(target.values(results).mean())
                trial.report(value, n)
                if n < len(batches) - 1 and trial.number > 0 and trial.should_prune():
                    raise TrialPruned
        except (KeyboardInterrupt, OSError, EditedError) as why:
            raise _Stopped(why) from why
        return value

    return objective


class _End:
    """Ends a search after its trials, or where patience is over. It looks at every trial once, whoever ran it."""

    def __init__(self, plan: SearchPlan) -> None:
        self._plan = plan
        self._known = 0
        self._open: list[int] = []
        self._ended: list[int] = []
        self._best, self._best_number = -math.inf, -1

    def __call__(self, study: Any, _trial: Any) -> None:
        """Is called by Optuna when a trial of this process has ended."""
        if self.reached(study):
            study.stop()

    @property
    def left(self) -> int:
        """Trials that have not ended, as far as is known."""
        return self._plan.trials - len(self._ended)

    def reached(self, study: Any) -> bool:
        """Whether the search has come to its end."""
        trials = study.get_trials(deepcopy=False)
        looked_at = [*self._open, *range(self._known, len(trials))]
        self._known, self._open = len(trials), [k for k in looked_at if not trials[k].state.is_finished()]
        for trial in (trials[k] for k in looked_at if trials[k].state.is_finished()):
            bisect.insort(self._ended, trial.number)
            if trial.state.name == "COMPLETE" and trial.value >= self._best:
                self._best, self._best_number = trial.value, max(self._best_number, trial.number)
        waited = len(self._ended) - bisect.bisect_right(self._ended, self._best_number)
        impatient = bool(self._plan.patience) and waited >= self._plan.patience
        return len(self._ended) >= self._plan.trials or impatient


def _run_trials(
    study: Any, objective: Callable[[Any], float], end: _End, watch: Callable[[Any, Any], None] | None
) -> None:
    """Runs the trials that are left; what stops a trial from outside is passed on as it is."""
    if end.reached(study) or study.sampler.exhausted(study):
        return
    try:
        study.optimize(
            objective, n_trials=end.left, callbacks=[end, *([watch] if watch else [])], catch=(TrialFailedError,)
        )
    except _Stopped as stopped:
        raise stopped.why from None
    except (UnboundLocalError, AssertionError) as error:
        # Optuna stumbles where it is interrupted, or the disk fails, while it writes a trial's end.
        behind = error.__context__
        while behind is not None and not isinstance(behind, KeyboardInterrupt | OSError | EditedError):
            behind = behind.__context__
        if behind is None:
            raise
        raise behind from None


def run_search(
    target: Target,
    plan: SearchPlan,
    labels: dict[str, Any] | None = None,
    watch: Callable[[Any, Any], None] | None = None,
) -> SearchResult:
    """Searches, then judges the best trial on held-out seeds.

    Args:
        target: What is made better.
        plan: How.
        labels: Further facts a resumed search must share, like brain and task.
        watch: Called with the study and each trial that ended.
    """
    _check(plan)
    import optuna

    from nematodebench.search.storage import opened_storage

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        with opened_storage(plan.storage) as (storage, share):
            study = _open(plan, labels or {}, storage)
            share()
            _run_trials(study, _objective(target, plan), _End(plan), watch)
    complete = [trial for trial in study.get_trials(deepcopy=False) if trial.state.name == "COMPLETE"]
    if not complete:
        raise UsageError(f"No trial of search {plan.name!r} finished: nothing to judge.")
    best = max(complete, key=lambda trial: trial.value)
    default = next((trial.value for trial in complete if trial.number == 0), None)
    champion = {dimension.name: best.params[dimension.name] for dimension in plan.space}
    return SearchResult(study, champion, best.value, default, hold_out(target, champion, plan.seed, plan.held_out))


def _check(plan: SearchPlan) -> None:
    if plan.sampler not in SAMPLERS:
        raise UsageError(f"Sampler {plan.sampler!r} does not exist. Choose {', '.join(SAMPLERS)}.")
    for name, least in {"trials": 1, "runs": 1, "batches": 1, "held_out": 2, "patience": 0}.items():
        if getattr(plan, name) < least:
            raise UsageError(f"{name.replace('_', '-')} is {getattr(plan, name)}: give at least {least}")


def importances(study: Any, space: Sequence[Dimension]) -> dict[str, float]:
    """Share of each parameter in telling good trials from the rest; empty for too few trials."""
    from optuna.importance import PedAnovaImportanceEvaluator, get_param_importances

    try:
        found = get_param_importances(study, evaluator=PedAnovaImportanceEvaluator(), params=[d.name for d in space])
    except (ValueError, RuntimeError):
        return {}
    return {name: float(value) for name, value in found.items()}
