"""Judges a champion on seeds that the search never used, paired with the default on the same seeds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike

from nematodebench.engine.seeds import run_seed
from nematodebench.search.target import Target
from nematodebench.stats import Comparison, StatValue, compare

__all__ = ["Verdict", "held_out_seeds", "hold_out", "judge", "search_seeds"]

_HELD_OUT = 1 << 20
"""Number of the first held-out run: no search has as many runs a trial."""
_DOUBT = 0.01
"""Largest p-value of an improvement: of searches where nothing matters, 1 in 200 claims one."""


def search_seeds(seed: int, runs: int) -> list[int]:
    """The seeds every trial of a search is run with."""
    return [run_seed(seed, k) for k in range(runs)]


def held_out_seeds(seed: int, runs: int) -> list[int]:
    """Seeds no trial of the search was run with."""
    return [run_seed(seed, _HELD_OUT + k) for k in range(runs)]


@dataclass(frozen=True)
class Verdict:
    """The champion against the default on held-out seeds.

    Attributes:
        champion: Its score.
        default: The default's, on the same seeds.
        comparison: Champion minus default, paired, with interval and probability of improvement.
        improved: Whether the champion is better beyond doubt: the whole 99 % interval of the difference is above 0.
    """

    champion: StatValue
    default: StatValue
    comparison: Comparison

    @property
    def improved(self) -> bool:
        """Whether the champion is better beyond doubt."""
        return self.comparison.difference > 0.0 and self.comparison.p_value < _DOUBT

    @property
    def words(self) -> str:
        """The verdict in one line."""
        if self.improved:
            return "improvement: on held-out seeds the 99 % interval of the difference is above 0"
        low, high = self.comparison.ci95
        if low == high == 0.0:
            return "no improvement: the default is the champion"
        if high < 0.0:
            return (
                "no improvement: on held-out seeds the champion is worse than the default, it was lucky in the search"
            )
        if low > 0.0:
            return "no improvement beyond doubt: the 99 % interval includes 0, try more --held-out seeds"
        return "no improvement: on held-out seeds the interval of the difference includes 0"


def judge(champion: ArrayLike, default: ArrayLike, seeds: Sequence[int]) -> Verdict:
    """Compares two sets of scores on the same seeds."""
    return Verdict(
        StatValue.from_values(champion, "t"), StatValue.from_values(default, "t"),
        compare(champion, default, seeds, seeds),
    )  # fmt: skip


def hold_out(target: Target, champion: Mapping[str, Any], seed: int, runs: int) -> Verdict:
    """Runs the champion and the default on held-out seeds."""
    seeds = held_out_seeds(seed, runs)
    return judge(target.values(target.run(champion, seeds)), target.values(target.run({}, seeds)), seeds)
