"""Better, worse, equivalent or undecided, and how many runs would decide (EVALUATION.md, verdicts)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

from nematodebench.stats.comparisons import Comparison
from nematodebench.stats.intervals import t_critical

__all__ = [
    "EQUIVALENCE_RUNS", "LEVEL", "MOST_RUNS", "POWER", "SMALLEST_EFFECT", "Outcome", "Verdict", "detectable_difference",
    "equivalence_p_value", "power", "runs_to_detect", "verdict",
]  # fmt: skip

Outcome: TypeAlias = Literal["better", "worse", "equivalent", "undecided"]

LEVEL = 0.04
"""A difference needs a p-value below this. The t test of pseudo-values errs a little more often than it says, up to
5.8 % at 5 %. At 4 % the rate of false verdicts is below 5 % for every shape of runs in docs/coverage.md."""
EQUIVALENCE_LEVEL = 0.05
EQUIVALENCE_RUNS = 60
"""Fewer runs never show equivalence, however much they agree: they say nothing of the one in twenty that fails. In 60
runs it is missed in less than 5 % of all cases; rarer ones may be, and the verdict says so."""
POWER = 0.80
SMALLEST_EFFECT = 0.01
"""The smallest difference of a normalised score that matters, unless another one is declared."""
MOST_RUNS = 1_000_000
_NOTHING_LEFT = 7.0
"""So many standard errors from 0 an estimate has the wrong sign in 1 of 10^12 cases."""


@dataclass(frozen=True)
class Verdict:
    """What can be said of x against y.

    Attributes:
        outcome: x is better or worse than y, equivalent to it, or undecided.
        reason: In words, where there is more to say.
        more_runs: How many more runs of each side would decide, where that is known.
    """

    outcome: Outcome
    reason: str = ""
    more_runs: int | None = None


def equivalence_p_value(comparison: Comparison, smallest: float) -> float:
    """The larger p-value of the two one-sided t tests that the difference is above -smallest and below smallest."""
    if not comparison.se > 0.0:
        inside = abs(comparison.difference) < smallest
        return math.nan if math.isnan(comparison.se) else 0.0 if inside else 1.0
    from scipy.special import stdtr

    return float(stdtr(comparison.df, (abs(comparison.difference) - smallest) / comparison.se))


def verdict(
    comparison: Comparison, smallest: float = SMALLEST_EFFECT, p_value: float | None = None, level: float = LEVEL,
    equivalence_level: float = EQUIVALENCE_LEVEL,
) -> Verdict:  # fmt: skip
    """Judges a comparison.

    Args:
        comparison: x against y.
        smallest: The smallest difference that matters, in the units of the score.
        p_value: Adjusted for several comparisons; the comparison's own if None.
        level: A p-value below it shows a difference.
        equivalence_level: Of each of the two one-sided tests.
    """
    runs, difference = comparison.runs, comparison.difference
    if not comparison.can_tell:
        what = "pair" if comparison.pairs else "run"
        return Verdict("undecided", f"one {what} cannot tell" if runs == 1 else f"two {what}s cannot tell")
    if comparison.se == 0.0:
        return _constant(comparison, smallest)
    if equivalence_p_value(comparison, smallest) < equivalence_level:
        return _equivalent(runs, f"the difference is less than {smallest:.3g}")
    if (comparison.p_value if p_value is None else p_value) < level:
        return Verdict("better" if difference > 0 else "worse")
    more = _more_runs(comparison, smallest)
    return Verdict("undecided", "" if more is None else f"about {_rounded(more)} more runs would tell", more)


def _constant(comparison: Comparison, smallest: float) -> Verdict:
    difference = comparison.difference
    if difference == 0.0:
        return _equivalent(comparison.runs, "the same in every run")
    if abs(difference) < smallest:
        return _equivalent(comparison.runs, "the same small difference in every run")
    return Verdict("better" if difference > 0 else "worse", "the same difference in every run")


def _equivalent(runs: int, reason: str) -> Verdict:
    """Runs that agree, and how many may be unlike them: 3 in n, at 95 %."""
    if runs < EQUIVALENCE_RUNS:
        more = EQUIVALENCE_RUNS - runs
        return Verdict("undecided", f"{runs} runs agree, {more} more would show equivalence", more)
    return Verdict("equivalent", f"{reason}; up to {3 / runs:.1%} of runs may be unlike these {runs}")


def _spread(comparison: Comparison) -> float:
    """The standard deviation of the differences of pairs, or its like for two sides of `runs` runs."""
    return comparison.se * math.sqrt(comparison.runs)


def _more_runs(comparison: Comparison, smallest: float) -> int | None:
    """Runs that are missing until the difference seen would be shown, or shown to be too small to matter."""
    spread, size = _spread(comparison), abs(comparison.difference)
    wanted = [runs_to_detect(max(size, 1e-12), spread)]
    if size < smallest:
        # Either test may fail at 0, so both have to succeed there: half of the risk for each.
        room, risk = (smallest - size) / spread, (1 - POWER) / (2 if size < 0.1 * smallest else 1)
        wanted.append(math.ceil(((_normal(1 - EQUIVALENCE_LEVEL) + _normal(1 - risk)) / room) ** 2))
    total = min(wanted)
    return None if total >= MOST_RUNS else max(1, total - comparison.runs)


def _normal(share: float) -> float:
    from scipy.special import ndtri

    return float(ndtri(share))


def power(difference: float, std: float, runs: int, level: float = LEVEL) -> float:
    """The chance that a two-sided one-sample t test of so many runs (or pairs) finds a difference of this size."""
    from scipy.special import nctdtr

    if runs < 2:
        return 0.0
    shift, point = math.sqrt(runs) * abs(difference) / std, t_critical(runs - 1, 1 - level)
    # scipy's function is nan where it underflows: far out in the wrong direction, where nothing is left, and with many
    # standard errors in the right one, where nothing is missing.
    missed = float(nctdtr(runs - 1, shift, point))
    wrong_way = 0.0 if shift > _NOTHING_LEFT else float(nctdtr(runs - 1, shift, -point))
    return 1.0 if math.isnan(missed) else 1.0 - missed + wrong_way


def runs_to_detect(difference: float, std: float, wanted: float = POWER, level: float = LEVEL) -> int:
    """The fewest runs (or pairs) whose t test finds a difference of this size with the wanted power."""
    low, high = 2, 4
    while power(difference, std, high, level) < wanted:
        low, high = high, 2 * high
        if high > MOST_RUNS:
            return MOST_RUNS
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if power(difference, std, middle, level) < wanted else (low, middle)
    return high


def detectable_difference(std: float, runs: int, wanted: float = POWER, level: float = LEVEL) -> float:
    """The smallest difference that so many runs (or pairs) find with the wanted power; nan for a single run."""
    if runs < 2 or std == 0.0:
        return math.nan if runs < 2 else 0.0
    low, high = 0.0, std
    while power(high, std, runs, level) < wanted:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if power(middle, std, runs, level) < wanted else (low, middle)
    return high


def _rounded(runs: int) -> int:
    """Two digits are all that an estimate from few runs is worth."""
    unit = int(10 ** max(0, len(str(runs)) - 2))
    return math.ceil(runs / unit) * unit
