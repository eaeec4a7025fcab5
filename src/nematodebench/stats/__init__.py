"""Statistics over runs: intervals, aggregates and comparisons. Pure functions on arrays; same input, same output."""

from nematodebench.stats.aggregates import iqm, optimality_gap, performance_profile, stratified_bootstrap
from nematodebench.stats.comparisons import Comparison, compare, holm, probability_of_improvement
from nematodebench.stats.ranks import RankSets, rank_sets
from nematodebench.stats.values import Z95, IntervalMethod, StatValue, interval, plus_minus

__all__ = [
    "Z95",
    "Comparison",
    "IntervalMethod",
    "RankSets",
    "StatValue",
    "compare",
    "holm",
    "interval",
    "iqm",
    "optimality_gap",
    "performance_profile",
    "plus_minus",
    "probability_of_improvement",
    "rank_sets",
    "stratified_bootstrap",
]
