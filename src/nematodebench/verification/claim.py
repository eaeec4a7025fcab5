"""Is a claim too good? The claimed sessions against the fresh ones, one-sided at 1 % (EVALUATION.md, claims)."""

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from nematodebench.measures.base import Measurement
from nematodebench.stats import compare, exchange_p_value, smallest_exchange_p_value
from nematodebench.verification.statement import ClaimTest

__all__ = ["TOO_GOOD", "claim_p_value", "claim_test", "deciding_unit"]

TOO_GOOD = 0.01
"""A claim that lies this improbably far above the fresh sessions, if one brain made both, is marked as too good."""

Rows = Sequence[NDArray[np.float64]]
"""Numbers of runs, session by session."""


def claim_test(claimed: Sequence[Measurement], fresh: Sequence[Measurement], score_key: str) -> ClaimTest | None:
    """Compares a claim with what the verifier measured; None where there is no score to compare.

    Args:
        claimed: The sessions of the submission.
        fresh: Those on seeds that the verifier drew.
        score_key: The metric that is ranked.
    """
    ours, theirs = _values(fresh, score_key), _values(claimed, score_key)
    if not ours or not theirs:
        return None
    p, by_session = claim_p_value(theirs, ours, _pseudo(claimed, score_key), _pseudo(fresh, score_key))
    return ClaimTest(
        claimed_mean=float(np.concatenate(theirs).mean()),
        fresh_mean=float(np.concatenate(ours).mean()),
        p=p,
        too_good=p < TOO_GOOD,
        unit="sessions" if by_session else "runs",
    )


def deciding_unit(claimed: int, fresh: int) -> Literal["sessions", "runs"]:
    """What is exchanged or compared where there are so many sessions of each kind."""
    return "sessions" if smallest_exchange_p_value(claimed, fresh) <= TOO_GOOD / 10 else "runs"


def claim_p_value(
    claimed: Rows, fresh: Rows, pseudo_claimed: Rows | None = None, pseudo_fresh: Rows | None = None
) -> tuple[float, bool]:
    """The chance of a claim this far above the measurement if both came from one brain, and whether sessions decided.

    Whoever shops for seeds chooses sessions, so sessions are exchanged: that is exact for every distribution, also for
    a score that only a session as a whole has, and finds more than a comparison of runs. With too few fresh sessions
    the runs are compared, with the errors of their pseudo-values. It is 1 where nobody can tell.
    """
    if deciding_unit(len(claimed), len(fresh)) == "sessions":
        return exchange_p_value([runs.mean() for runs in claimed], [runs.mean() for runs in fresh]), True
    x, y = np.concatenate(claimed), np.concatenate(fresh)
    if np.allclose(x, y[0], rtol=1e-12, atol=0) and np.allclose(y, y[0], rtol=1e-12, atol=0):
        return 1.0, False
    errors = [None if rows is None else np.concatenate(rows) for rows in (pseudo_claimed, pseudo_fresh)]
    found = compare(x, y, pseudo_x=errors[0], pseudo_y=errors[1])
    if math.isnan(found.p_value):
        return 1.0, False
    return (found.p_value / 2 if found.difference > 0 else 1 - found.p_value / 2), False


def _values(sessions: Sequence[Measurement], name: str) -> list[NDArray[np.float64]]:
    found = [[float(value) for row in one.runs if (value := row.get(name)) is not None] for one in sessions]
    return [np.array(runs) for runs in found if runs]


def _pseudo(sessions: Sequence[Measurement], name: str) -> list[NDArray[np.float64]] | None:
    return [one.pseudo[name] for one in sessions] if all(name in one.pseudo for one in sessions) else None
