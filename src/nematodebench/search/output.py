"""Writes the folder of a search: the champion as a config, importances, the history as a picture, all numbers."""

import io
import itertools
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nematodebench.errors import StorageError
from nematodebench.files import atomic_write, clean_leftovers
from nematodebench.search.space import Dimension
from nematodebench.search.study import SearchPlan, SearchResult, finished_trials, importances
from nematodebench.search.target import BrainTarget
from nematodebench.sessions.config import SessionConfig, config_text

__all__ = ["summary", "write_output"]


def summary(target: BrainTarget, plan: SearchPlan, result: SearchResult) -> dict[str, Any]:
    """All numbers as plain data."""
    states = [trial.state.name for trial in result.study.get_trials(deepcopy=False)]
    verdict, comparison = result.verdict, result.verdict.comparison
    return {
        "brain": target.brain_name, "task": target.task.id, "sampler": plan.sampler, "seed": plan.seed,
        "score": target.profile if target.anchors else target.task.score_key, "study": plan.name,
        "trials": {state.lower(): states.count(state) for state in sorted(set(states))}, "runs": plan.runs,
        "held_out": plan.held_out, "champion": result.champion, "champion_number": _number(result),
        "search": {"champion": result.search_value, "default": result.default_value},
        "champion_score": vars(verdict.champion), "default_score": vars(verdict.default),
        "difference": comparison.difference, "ci95": [_finite(end) for end in comparison.ci95],
        "p_value": _finite(comparison.p_value), "doubt": comparison.doubt,
        "probability_of_improvement": comparison.probability_of_improvement, "improved": verdict.improved,
        "verdict": verdict.words, "importances": importances(result.study, plan.space),
        "history": [_trial(trial) for trial in finished_trials(result.study)],
    }  # fmt: skip


def _trial(trial: Any) -> dict[str, Any]:
    """One trial: how it ended, and its value; one that was given up has the last value it reached."""
    reached = max(trial.intermediate_values.items(), default=(0, None))[1] if trial.value is None else trial.value
    value = None if reached is None else _finite(float(reached))
    return {"number": trial.number, "state": trial.state.name.lower(), "value": value}


def _number(result: SearchResult) -> int:
    return int(next(t.number for t in finished_trials(result.study) if t.value == result.search_value))


def _finite(value: float) -> float | None:
    return None if math.isnan(value) else value


def write_output(folder: Path, target: BrainTarget, plan: SearchPlan, result: SearchResult) -> dict[str, Any]:
    """Writes ``best.yml``, ``result.json``, ``importances.json`` and ``history.png``; returns the numbers."""
    content = summary(target, plan, result)
    best = SessionConfig(
        task=target.task.id, brain=target.brain_name, config=target.full_config(result.champion),
        episodes=None if target.anchors else target.task.episodes_override or None,
    )  # fmt: skip
    try:
        folder.mkdir(parents=True, exist_ok=True)
        clean_leftovers(folder)
        atomic_write(folder / "best.yml", config_text(best).encode())
        atomic_write(folder / "importances.json", (json.dumps(content["importances"], indent=1) + "\n").encode())
        atomic_write(folder / "result.json", (json.dumps(content, indent=1) + "\n").encode())
        _plot(folder / "history.png", finished_trials(result.study), content, plan.space)
    except OSError as error:
        raise StorageError(f"Cannot write to {folder}: {error.strerror or error}.") from error
    return content


def _plot(path: Path, trials: Sequence[Any], content: dict[str, Any], space: Sequence[Dimension]) -> None:
    """Every trial, the best so far, and what champion and default are worth on held-out seeds."""
    from matplotlib.figure import Figure

    done = [(t.number, t.value) for t in trials if t.state.name == "COMPLETE"]
    pruned = [(t.number, max(t.intermediate_values.items())[1]) for t in trials if t.state.name == "PRUNED"]
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    axes.plot(*zip(*done, strict=True), "o", ms=4, label="trial (search seeds)")
    if pruned:
        axes.plot(*zip(*pruned, strict=True), "x", ms=4, color="0.6", label="pruned")
    best = list(itertools.accumulate((value for _, value in done), max))
    axes.step([number for number, _ in done], best, where="post", label="best so far")
    for name, colour in (("champion", "C2"), ("default", "C3")):
        score = content[f"{name}_score"]
        axes.axhline(score["mean"], color=colour, label=f"{name} on held-out seeds")
        axes.axhspan(*score["ci95"], color=colour, alpha=0.15)
    axes.set(xlabel="trial", ylabel=content["score"], title=f"{content['brain']} on {content['task']}")
    axes.legend(fontsize="small")
    content_of_it = io.BytesIO()
    figure.savefig(content_of_it, format="png", dpi=120)
    atomic_write(path, content_of_it.getvalue())
