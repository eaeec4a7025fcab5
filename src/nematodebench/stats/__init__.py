"""Statistics over runs: intervals, aggregates and comparisons. Pure functions on arrays; same input, same output."""

from nematodebench.stats.aggregates import iqm, optimality_gap, performance_profile, stratified_bootstrap
from nematodebench.stats.bands import median_band
from nematodebench.stats.comparisons import Comparison, compare, holm
from nematodebench.stats.doubt import LATER_DOUBTS, MARK, MARK_MEANING, STEADY_RUNS, Doubt, doubt, share_doubt
from nematodebench.stats.improvement import improvement_interval, probability_of_improvement
from nematodebench.stats.intervals import (
    FEW_RUNS,
    Z95,
    IntervalMethod,
    critical,
    interval,
    pseudo_values,
    t_critical,
    wilson,
)
from nematodebench.stats.permutation import exchange_p_value, smallest_exchange_p_value
from nematodebench.stats.ranks import RankSets, rank_sets
from nematodebench.stats.values import IntervalKind, StatValue, plus_minus, with_interval
from nematodebench.stats.verdicts import (
    SMALLEST_EFFECT,
    Verdict,
    detectable_difference,
    equivalence_p_value,
    power,
    runs_to_detect,
    verdict,
)

__all__ = [
    "FEW_RUNS",
    "LATER_DOUBTS",
    "MARK",
    "MARK_MEANING",
    "SMALLEST_EFFECT",
    "STEADY_RUNS",
    "Z95",
    "Comparison",
    "Doubt",
    "IntervalKind",
    "IntervalMethod",
    "RankSets",
    "StatValue",
    "Verdict",
    "compare",
    "critical",
    "detectable_difference",
    "doubt",
    "equivalence_p_value",
    "exchange_p_value",
    "holm",
    "improvement_interval",
    "interval",
    "iqm",
    "median_band",
    "optimality_gap",
    "performance_profile",
    "plus_minus",
    "power",
    "probability_of_improvement",
    "pseudo_values",
    "rank_sets",
    "runs_to_detect",
    "share_doubt",
    "smallest_exchange_p_value",
    "stratified_bootstrap",
    "t_critical",
    "verdict",
    "wilson",
    "with_interval",
]
