"""A value with its spread and its interval. The unit is the run, never the episode; sample deviations (ddof 1)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from nematodebench.stats.checks import FloatArray, vector
from nematodebench.stats.doubt import MARK, Doubt, doubt, share_doubt, whole_doubt
from nematodebench.stats.intervals import (
    FEW_RUNS,
    Z95,
    IntervalMethod,
    critical,
    deviations,
    half_widths,
    interval,
    is_share,
    t_critical,
    wilson,
)

__all__ = ["IntervalKind", "StatValue", "plus_minus", "with_interval"]

IntervalKind: TypeAlias = Literal["plain", "normal", "t", "bootstrap", "jackknife", "wilson", "sessions"]
"""How an interval was computed. "plain" is 1.96 standard errors at any n, as results of older versions have it."""

_ODD_SESSIONS = 0.01


def plus_minus(value: float, half: float, *, digits: int = 4) -> str:
    """`0.867 ± 0.023`; a small interval gets as many as ``digits``, because only a constant has none."""
    if not 0 < half < 0.0005:
        return f"{value:z.3f} ± {half:.3f}"
    least = 10.0**-digits
    return f"{value:z.3f} ± " + (f"<{least:.{digits}f}" if digits == 3 or half < least / 2 else f"{half:.{digits}f}")


def with_interval(value: float, ci95: tuple[float, float] | None, doubt: str = "", *, digits: int = 4) -> str:
    """`0.867 ± 0.023 (!)`: with the mark where there is a doubt, and the value alone where no interval is known."""
    if ci95 is None or math.isnan(ci95[0]):
        return f"{value:z.3f}"
    return plus_minus(value, (ci95[1] - ci95[0]) / 2, digits=digits) + (f" {MARK}" if doubt else "")


@dataclass(frozen=True)
class StatValue:
    """A metric over n values: `str()` prints mean ± half the 95 % interval, like `0.867 ± 0.023`.

    An interval that is not symmetric prints as `1.000 [0.929, 1.000]`, and one that may cover less than 93 % has the
    mark `(!)`. A single value has std 0 and ci95 (nan, nan), and prints as `0.867 (n = 1)`: its interval is unknown.
    """

    mean: float
    std: float
    min: float
    max: float
    n: int
    ci95: tuple[float, float]
    kind: IntervalKind = "plain"
    doubt: Doubt = ""

    @classmethod
    def from_values(
        cls, values: ArrayLike, method: IntervalMethod = "auto", *, pseudo: ArrayLike | None = None, share: bool = False
    ) -> StatValue:
        """Summarise one number per run.

        Args:
            values: One number per run.
            method: Of the interval, see `interval`.
            pseudo: Jackknife pseudo-values, for a metric that a run does not have on its own.
            share: Whether the metric lies between 0 and 1. Where all runs are at 0 or 1, the interval is Wilson's.
        """
        array = vector("values", values)
        if share and is_share(array):
            return cls._share(array, array)
        if pseudo is not None and array.size > 1:
            half = float(half_widths(vector("pseudo", pseudo), t_critical(array.size - 1)))
            return cls._summary(array, _around(array, half), "jackknife", doubt(array))
        kind: IntervalKind = method if method != "auto" else "t" if array.size < FEW_RUNS else "normal"
        return cls._summary(array, interval(array, method), kind, doubt(array) if array.size > 1 else "")

    @classmethod
    def of_session(cls, value: float, pseudo: ArrayLike) -> StatValue:
        """Summarise what only a session as a whole has: its value, and an interval by the jackknife.

        Args:
            value: The session's.
            pseudo: Its pseudo-values, one for each run. n and std are theirs.
        """
        runs = vector("pseudo", pseudo)
        if runs.size < 3:  # without one of two runs there is no stability to compare with
            return cls(value, 0.0, value, value, runs.size, (math.nan, math.nan), "jackknife")
        half = float(half_widths(runs, t_critical(runs.size - 1)))
        ends = (value - half, value + half)
        return cls(value, float(deviations(runs)), value, value, runs.size, ends, "jackknife", whole_doubt(runs))

    @classmethod
    def pooled(
        cls, sessions: Sequence[ArrayLike], pseudo: Sequence[ArrayLike] | None = None, *, share: bool = False
    ) -> StatValue:
        """Summarise a submission: mean, std, min, max and n over the session means, ci95 over all runs.

        Where the session means differ by more than their runs explain (F test, 1 %), ci95 is Student's over sessions.

        Args:
            sessions: For each session, one number per run, or one number for a metric that only sessions have.
            pseudo: For each session, the pseudo-values of a metric that a run does not have on its own.
            share: Whether the metric lies between 0 and 1.
        """
        arrays = _sessions(sessions)
        means = np.array([runs.mean() for runs in arrays])
        runs = np.concatenate(arrays)
        if share and is_share(runs):
            return cls._share(means, runs)
        spread = arrays if pseudo is None else _sessions(pseudo)
        n = sum(one.size for one in spread)
        if n == 1:
            return cls._summary(means, (math.nan, math.nan), "normal")
        if _sessions_differ(spread):
            return cls._summary(means, interval(means, "t"), "sessions", "few runs")
        factor = critical(n) if pseudo is None else t_critical(n - 1)
        half = float(half_widths(np.concatenate(spread), factor))
        kind: IntervalKind = "jackknife" if pseudo is not None else "t" if n < FEW_RUNS else "normal"
        if runs.size != n:  # only sessions have the metric, and each rests on its own runs
            doubts = [whole_doubt(one) for one in spread]
            return cls._summary(means, _around(means, half), kind, next(filter(None, doubts), ""))
        return cls._summary(means, _around(means, half), kind, doubt(runs))

    @classmethod
    def plain(cls, sessions: Sequence[ArrayLike]) -> StatValue:
        """As results of older versions have it: of one session over its runs, of several over their means."""
        arrays = _sessions(sessions)
        runs = np.concatenate(arrays)
        summarised = runs if len(arrays) == 1 else np.array([one.mean() for one in arrays])
        half = float(half_widths(runs, Z95)) if runs.size > 1 else math.nan
        return cls._summary(summarised, _around(summarised, half), "plain")

    @classmethod
    def _share(cls, summarised: FloatArray, runs: FloatArray) -> StatValue:
        hits = float(runs.sum())
        return cls._summary(summarised, wilson(hits, runs.size), "wilson", share_doubt(hits, runs.size))

    @classmethod
    def _summary(cls, array: FloatArray, ci95: tuple[float, float], kind: IntervalKind, why: Doubt = "") -> StatValue:
        std = float(deviations(array)) if array.size > 1 else 0.0
        return cls(float(array.mean()), std, float(array.min()), float(array.max()), array.size, ci95, kind, why)

    @property
    def has_interval(self) -> bool:
        """Whether the interval is known: one value tells nothing about its spread."""
        return not any(math.isnan(end) for end in self.ci95)

    def text(self, digits: int = 4) -> str:
        """What `str()` prints, with as many digits of a small interval."""
        if not self.has_interval:
            return f"{self.mean:z.3f} (n = {self.n})"
        if self.kind == "wilson":
            low, high = self.ci95
            return f"{self.mean:z.3f} [{low:z.3f}, {high:z.3f}]" + (f" {MARK}" if self.doubt else "")
        return with_interval(self.mean, self.ci95, self.doubt, digits=digits)

    def __str__(self) -> str:
        return self.text()


def _around(array: FloatArray, half: float) -> tuple[float, float]:
    mean = float(array.mean())
    return mean - half, mean + half


def _sessions(sessions: Sequence[ArrayLike]) -> list[FloatArray]:
    if len(sessions) == 0:
        raise ValueError("sessions is empty: pass at least one session of runs")
    return [vector(f"sessions[{k}]", runs) for k, runs in enumerate(sessions)]


def _sessions_differ(sessions: Sequence[FloatArray]) -> bool:
    """Whether session means differ by more than the spread of their runs explains; no code of ours makes them."""
    groups, n = len(sessions), sum(runs.size for runs in sessions)
    if groups < 2 or n <= groups:
        return False
    whole = np.concatenate(sessions).mean()
    between = sum(runs.size * (runs.mean() - whole) ** 2 for runs in sessions) / (groups - 1)
    within = sum(((runs - runs.mean()) ** 2).sum() for runs in sessions) / (n - groups)
    if within <= 0.0:
        return bool(between > 0.0)
    from scipy.special import fdtrc

    return bool(fdtrc(groups - 1, n - groups, between / within) < _ODD_SESSIONS)
