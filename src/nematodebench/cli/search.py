"""The work behind ``nematodebench search`` and ``nematodebench ablate``."""

import importlib
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from nematodebench.cli.resuming import asked_before, keeping, say_damaged
from nematodebench.cli.show import print_json, print_table
from nematodebench.engine.seeds import session_seed
from nematodebench.errors import Interrupted, StorageError, UsageError
from nematodebench.scoring import PROFILES, ProfileName
from nematodebench.search.ablation import Ablations, ablate
from nematodebench.search.output import write_output
from nematodebench.search.space import declared_space, switches
from nematodebench.search.study import SAMPLERS, SearchPlan, finished_trials, run_search
from nematodebench.search.target import BrainTarget, TrialFailedError, brain_target
from nematodebench.sessions.begun import decided_by
from nematodebench.sessions.config import parse_assignments
from nematodebench.stats import MARK

__all__ = ["AblationRequest", "SearchRequest", "ablate_command", "search_command"]


_WAY_ON = "the same command with --resume"


@dataclass(frozen=True, kw_only=True)
class SearchRequest:
    """The options of a search as they were given."""

    brain: str
    task: str
    trials: int
    sampler: str
    importance: str
    runs: int
    held_out: int
    episodes: int | None
    seed: int
    assign: list[str]
    prune: bool
    patience: int
    profile: str
    storage: str
    study: str
    resume: bool
    output: Path | None
    workers: int | None
    executor: str | None


@dataclass(frozen=True, kw_only=True)
class AblationRequest:
    """The options of an ablation as they were given."""

    brain: str
    task: str
    runs: int
    episodes: int | None
    seed: int | None
    assign: list[str]
    only: str
    profile: str
    workers: int | None
    executor: str | None
    resume: str | None = None


def _profile(name: str) -> ProfileName:
    if name not in PROFILES:
        raise UsageError(f"Profile {name!r} does not exist. Choose {' or '.join(PROFILES)}.")
    return name


def search_command(request: SearchRequest, *, json: bool) -> None:
    """Searches, writes the output folder and prints the verdict."""
    from nematodebench.brains.registry import get_brain

    if request.sampler not in SAMPLERS:
        raise UsageError(f"Sampler {request.sampler!r} does not exist. Choose {', '.join(SAMPLERS)}.")
    brain, fixed = request.brain, parse_assignments(request.assign)
    space = [d for d in declared_space(brain, get_brain(brain), request.importance) if d.name not in fixed]
    if not space:
        raise UsageError("Every parameter of the search space is fixed by --set: nothing is left to search.")
    profile, seed = _profile(request.profile), session_seed(request.seed)
    importlib.import_module("optuna")  # where it is not installed, that is said before anything is compiled
    target = brain_target(brain, request.task, fixed, request.episodes, request.workers, profile, request.executor)
    name = request.study or f"{brain.replace(':', '_')}_{target.task.category}_{request.sampler}"
    folder = request.output or Path("searches") / name
    plan = SearchPlan(
        name=name,
        space=tuple(space),
        sampler=request.sampler,
        trials=request.trials,
        runs=request.runs,
        batches=min(4, max(1, request.runs)),
        held_out=request.held_out,
        seed=seed,
        patience=request.patience,
        prune=request.prune,
        storage=request.storage or str(folder / "journal.log"),
        resume=request.resume,
    )
    try:
        result = run_search(target, plan, _labels(target), None if json else _show_trial(plan.trials))
    except KeyboardInterrupt as stop:
        raise Interrupted(f"{_WAY_ON} goes on") from stop
    except OSError as error:
        raise StorageError(
            f"Cannot write to {folder}: {error.strerror or error}. Make room, then {_WAY_ON} goes on."
        ) from error
    content = write_output(folder, target, plan, result)
    if json:
        print_json({**content, "output": str(folder)})
    else:
        _print_search(content, folder)


def _labels(target: BrainTarget) -> dict[str, Any]:
    return {
        "brain": target.brain_name, "task": target.task.id, "task_spec": target.task.spec_hash, "fixed": target.base,
        "profile": target.profile if target.anchors else "", **decided_by(target),
    }  # fmt: skip


def _show_trial(total: int) -> Callable[[Any, Any], None]:
    """A line that overwrites itself, where somebody is watching."""
    best: dict[str, Any] = {}

    def show(study: Any, trial: Any) -> None:
        if not sys.stderr.isatty():
            return
        # A search that goes on has trials already; after the first call only the new trial can be better.
        ended = [trial] if "known" in best else finished_trials(study)
        complete = [one for one in (*best.values(), *ended) if one.state.name == "COMPLETE"]
        best["known"] = max(complete, key=lambda one: one.value, default=trial)
        known = best["known"]
        text = f"best {known.value:.4f} (trial {known.number})" if complete else "none is complete"
        print(f"\rtrial {trial.number + 1} of {total}, {trial.state.name.lower()}, {text}  ", end="", file=sys.stderr)

    return show


def _print_search(content: dict[str, Any], folder: Path) -> None:
    counts = ", ".join(f"{number} {state}" for state, number in content["trials"].items())
    print(
        f"\n{content['brain']} on {content['task']}, {content['sampler']}, trials: {counts}, seed {content['seed']}\n"
    )
    found = content["importances"]
    rows = [[name, f"{value:.4g}", f"{found.get(name, 0.0):.2f}"] for name, value in content["champion"].items()]
    print_table(["parameter", "champion", "importance"], rows)
    print()
    searched = content["search"]
    lines = [
        [name, "-" if searched[name] is None else f"{searched[name]:.4f}", _score(content[f"{name}_score"])]
        for name in ("champion", "default")
    ]
    print_table(["", f"{content['runs']} search seeds", f"{content['held_out']} held-out seeds"], lines)
    low, high = content["ci95"]
    mark = f" {MARK}" if content["doubt"] else ""
    p_value = "the same difference in every run" if low == high else f"p = {content['p_value']:.2g}"
    print(f"\ndifference {content['difference']:.4f} [{low:.4f}, {high:.4f}]{mark}, {p_value}, ", end="")
    print(f"probability of improvement {content['probability_of_improvement']:.2f}")
    print(f"{content['verdict']}\n{folder}: best.yml, result.json, importances.json, history.png")


def _score(value: dict[str, Any]) -> str:
    mark = f" {MARK}" if value["doubt"] else ""
    return f"{value['mean']:.4f} ± {(value['ci95'][1] - value['ci95'][0]) / 2:.4f}{mark}"


def ablate_command(request: AblationRequest, *, json: bool) -> None:
    """Switches mechanisms off one by one and prints what that costs."""
    from nematodebench.brains.registry import get_brain

    request, work = asked_before(request, "ablate")
    if not request.brain:
        raise UsageError("Say which brain: nematodebench ablate BRAIN. `nematodebench brains` lists them.")
    brain, runs = request.brain, request.runs
    off = switches(brain, get_brain(brain))
    names = [name.strip() for name in request.only.split(",")] if request.only else list(off)
    for name in names:
        if name not in off:
            raise UsageError(f"{name!r} of brain {brain!r} cannot be switched off. These can: {', '.join(off)}.")
    if runs < 2:
        raise UsageError(f"runs is {runs}: give at least 2, one run has no interval")
    seed, fixed = session_seed(request.seed), parse_assignments(request.assign)
    target = brain_target(
        brain, request.task, fixed, request.episodes, request.workers, _profile(request.profile), request.executor
    )
    with keeping(replace(request, seed=seed), "ablate", work, target) as keep:
        try:
            found = ablate(replace(target, keep=keep), {name: off[name] for name in names}, seed, runs)
        except TrialFailedError as error:
            raise UsageError(f"{brain} cannot be ablated on {target.task.id}: a {error}") from error
    say_damaged(target.damaged)
    if json:
        print_json(_ablation_data(found, target, seed, runs))
        return
    print(f"{brain} on {target.task.id}, {runs} runs each on the same seeds, seed {seed}\n")
    rows = [
        [
            f"{row.name} = {row.off}", str(row.score), f"{row.comparison.difference:+.4f}",
            "[{:.4f}, {:.4f}]".format(*row.comparison.ci95) + (f" {MARK}" if row.comparison.doubt else ""),
            "constant" if row.comparison.se == 0.0 else f"{row.p_holm:.2g}",
        ]
        for row in found.rows
    ]  # fmt: skip
    print_table(["switched off", "score", "difference", "95 % interval", "p (Holm)"],
                [["(nothing)", str(found.full), "", "", ""], *rows])  # fmt: skip


def _ablation_data(found: Ablations, target: BrainTarget, seed: int, runs: int) -> dict[str, Any]:
    rows = [
        {"name": row.name, "off": row.off, "score": vars(row.score), **vars(row.comparison), "p_holm": row.p_holm}
        for row in found.rows
    ]
    return {
        "brain": target.brain_name, "task": target.task.id, "seed": seed, "runs": runs, "full": vars(found.full),
        "ablations": rows,
    }  # fmt: skip
