"""Ablations switch a brain's mechanisms off one by one, under the seeds of the full brain."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nematodebench.engine.seeds import run_seed
from nematodebench.search.target import Target
from nematodebench.search.verdict import errors
from nematodebench.stats import Comparison, StatValue, compare, holm

__all__ = ["Ablation", "Ablations", "ablate"]


@dataclass(frozen=True)
class Ablation:
    """One mechanism: the score without it, and that minus the full brain's (negative: it is needed)."""

    name: str
    off: Any
    score: StatValue
    comparison: Comparison
    p_holm: float


@dataclass(frozen=True)
class Ablations:
    """The full brain and each of its ablations, the one that hurts most first."""

    full: StatValue
    rows: list[Ablation]


def ablate(target: Target, off: Mapping[str, Any], seed: int, runs: int) -> Ablations:
    """Runs the full brain and each ablation on the same seeds; p-values are Holm's over all of them."""
    seeds = [run_seed(seed, k) for k in range(runs)]
    whole = target.run({}, seeds)
    full, full_errors = target.values(whole), errors(target, whole)
    results = {name: target.run({name: value}, seeds) for name, value in off.items()}
    scores = {name: target.values(runs) for name, runs in results.items()}
    pseudo = {name: errors(target, runs) for name, runs in results.items()}
    found = {name: compare(scores[name], full, seeds, seeds, pseudo[name], full_errors) for name in scores}
    adjusted = holm([comparison.p_value for comparison in found.values()])
    rows = [
        Ablation(name, off[name], StatValue.from_values(scores[name], pseudo=pseudo[name]), comparison, float(p))
        for (name, comparison), p in zip(found.items(), adjusted, strict=True)
    ]
    return Ablations(
        StatValue.from_values(full, pseudo=full_errors), sorted(rows, key=lambda row: row.comparison.difference)
    )
