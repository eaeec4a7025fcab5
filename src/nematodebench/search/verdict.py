"""Judges a champion on seeds that the search never used, paired with the default on the same seeds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from numpy.typing import ArrayLike

from nematodebench.engine.seeds import run_seed
from nematodebench.search.target import Target
from nematodebench.stats import Comparison, StatValue, compare

__all__ = ["Verdict", "errors", "held_out_seeds", "hold_out", "judge", "search_seeds"]

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
        found = self.comparison
        return found.can_tell and found.difference > 0.0 and found.p_value < _DOUBT

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


def judge(
    champion: ArrayLike, default: ArrayLike, seeds: Sequence[int],
    pseudo: tuple[ArrayLike | None, ArrayLike | None] = (None, None),
) -> Verdict:  # fmt: skip
    """Compares two sets of scores on the same seeds.

    Args:
        champion: One score for each seed.
        default: One score for each seed.
        seeds: The seeds.
        pseudo: Jackknife pseudo-values of either side, for a score that a run does not have on its own.
    """
    return Verdict(
        StatValue.from_values(champion, pseudo=pseudo[0]), StatValue.from_values(default, pseudo=pseudo[1]),
        compare(champion, default, seeds, seeds, *pseudo),
    )  # fmt: skip


def hold_out(target: Target, champion: Mapping[str, Any], seed: int, runs: int) -> Verdict:
    """Runs the champion and the default on held-out seeds."""
    seeds = held_out_seeds(seed, runs)
    sides = target.run(champion, seeds), target.run({}, seeds)
    return judge(
        target.values(sides[0]), target.values(sides[1]), seeds, (errors(target, sides[0]), errors(target, sides[1]))
    )


def errors(target: Target, results: Sequence[Any]) -> ArrayLike | None:
    """The pseudo-values of a target's results; None where it has no score that runs share."""
    found = getattr(target, "pseudo_values", None)
    return None if found is None else cast("ArrayLike | None", found(results))
