"""Ablations switch a brain's mechanisms off one by one, under the seeds of the full brain."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nematodebench.engine.seeds import run_seed
from nematodebench.search.target import Target
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
    full = target.values(target.run({}, seeds))
    scores = {name: target.values(target.run({name: value}, seeds)) for name, value in off.items()}
    found = {name: compare(values, full, seeds, seeds) for name, values in scores.items()}
    adjusted = holm([comparison.p_value for comparison in found.values()])
    rows = [
        Ablation(name, off[name], StatValue.from_values(scores[name], "t"), comparison, float(p))
        for (name, comparison), p in zip(found.items(), adjusted, strict=True)
    ]
    return Ablations(StatValue.from_values(full, "t"), sorted(rows, key=lambda row: row.comparison.difference))
