"""Which ranks may each of several brains have? Simultaneous over all of them (EVALUATION.md, ranking).

Every pair is compared, and Holm's method keeps the chance of a single wrong order among all pairs at 5 %. A brain's
ranks begin behind those that are shown to be better and end before those that are shown to be worse. So all the true
ranks lie in their sets at once with 95 % confidence (the construction of Mogstad, Romano, Shaikh and Wilhelm, 2024,
with Holm's comparisons). The true rank is 1 + the number of brains whose true mean is higher.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from nematodebench.stats.checks import BoolArray, FloatArray, vector

__all__ = ["RankSets", "rank_sets"]

_LEVEL = 0.05
_MOST_LETTERED = 100


@dataclass(frozen=True)
class RankSets:
    """What the comparisons leave open.

    Attributes:
        ranges: First and last rank that each may have, in the order given.
        apart: Whether the one in the row and the one in the column are told apart.
        groups: For each the letters of its groups. What shares a letter is not told apart, each from each. Empty for
            more than 100 of them.
    """

    ranges: list[tuple[int, int]]
    apart: BoolArray
    groups: list[str]

    @property
    def resolution(self) -> float | None:
        """The share of pairs that are told apart; None without a pair."""
        count = len(self.ranges)
        return None if count < 2 else float(self.apart.sum()) / (count * (count - 1))


def rank_sets(means: ArrayLike, errors: ArrayLike) -> RankSets:
    """The sets of ranks of independent means with known standard errors; the highest mean is best.

    Args:
        means: Mean score of each.
        errors: Standard error of each mean, over enough runs for it to be normal.
    """
    m, se = vector("means", means), vector("errors", errors)
    if m.size != se.size or (se < 0).any():
        raise ValueError(f"errors has {se.size} value(s) for {m.size} mean(s): pass one each, none below 0")
    apart = np.zeros((m.size, m.size), dtype=np.bool_)
    i, j = np.triu_indices(m.size, 1)
    if i.size:
        apart[i, j] = apart[j, i] = _told_apart(m[i] - m[j], np.sqrt(se[i] * se[i] + se[j] * se[j]))
    higher = m[np.newaxis, :] > m[:, np.newaxis]
    first, last = 1 + (apart & higher).sum(axis=1), m.size - (apart & ~higher).sum(axis=1)
    ranges = [(int(a), int(b)) for a, b in zip(first, last, strict=True)]
    return RankSets(ranges, apart, _letters(m.tolist(), apart))


def _told_apart(differences: FloatArray, errors: FloatArray) -> BoolArray:
    """Which differences Holm's method tells from zero; those without an error differ or they do not.

    P-values count from the smallest on, and the first that is too large ends it. There are millions of them for a
    thousand entries, so they are not put in order: what is beyond the bound for as many as are left is shown, which
    leaves fewer and a lower bound, until nothing more is beyond it. Only what lies next to the last bound is computed.
    """
    ratios = np.where(differences == 0.0, 0.0, np.inf)
    np.divide(np.abs(differences), errors, out=ratios, where=errors > 0.0)
    ratios /= math.sqrt(2.0)
    shown, least = 0, math.inf
    while shown < ratios.size:
        level = _LEVEL / (ratios.size - shown)
        least = min(least, _beyond(level))
        count = int(np.count_nonzero(ratios >= least))
        if count == shown:  # nothing more is sure: the next one is looked at
            following = float(ratios[ratios < least].max())
            if math.erfc(following) * (ratios.size - shown) >= _LEVEL:
                break
            least = following
            count = int(np.count_nonzero(ratios >= least))
        shown = count
    return ratios >= least if shown else np.zeros(ratios.size, dtype=np.bool_)


def _beyond(level: float) -> float:
    """A ratio from which on p-values are surely below a level, however their last digits are rounded."""
    low, high = 0.0, 27.0
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (middle, high) if math.erfc(middle) > level else (low, middle)
    return high + 1e-6


def _letters(means: list[float], apart: BoolArray) -> list[str]:
    """A letter for each largest group that is not told apart, the best group first; none where nobody could read them.

    There are about as many groups as brains, and each brain is in many of them.
    """
    if len(means) > _MOST_LETTERED:
        return [""] * len(means)
    order = sorted(range(len(means)), key=lambda k: (-means[k], k))
    groups = sorted(_cliques([], order, [], apart), key=lambda group: sorted(order.index(k) for k in group))
    return ["".join(_letter(n) for n, group in enumerate(groups) if k in group) for k in range(len(means))]


def _letter(n: int) -> str:
    return chr(ord("a") + n % 26) + (str(n // 26) if n >= 26 else "")


def _cliques(group: list[int], candidates: list[int], used: list[int], apart: BoolArray) -> Iterator[list[int]]:
    """Every largest set in which no two are told apart (Bron and Kerbosch, with a pivot)."""
    if not candidates and not used:
        yield sorted(group)
        return
    pivot = max([*candidates, *used], key=lambda k: sum(not apart[k, n] for n in candidates))
    for k in [n for n in candidates if n == pivot or apart[pivot, n]]:
        near = [n for n in candidates if n != k and not apart[k, n]]
        yield from _cliques([*group, k], near, [n for n in used if not apart[k, n]], apart)
        candidates, used = [n for n in candidates if n != k], [*used, k]
