"""Seeds: one for the session, one for each run, mixed by a hash so that sessions never share runs by accident."""

import hashlib
import secrets

from nematodebench.errors import UsageError

__all__ = ["MAX_SESSION_SEED", "brain_seed", "run_seed", "session_seed"]

MAX_SESSION_SEED = 2**53 - 1
"""The largest whole number that every reader of JSON reads exactly."""


def session_seed(given: int | None = None) -> int:
    """The seed given, or a fresh one that is short enough to be typed."""
    if given is None:
        return secrets.randbelow(2**32)
    if not isinstance(given, int) or not 0 <= given <= MAX_SESSION_SEED:
        raise UsageError(f"seed is {given}: give a whole number from 0 to {MAX_SESSION_SEED}")
    return given


def run_seed(session: int, run: int) -> int:
    """64-bit seed of one run. Never session + run, which would collide across sessions."""
    text = f"nematodebench run seed/{session}/{run}"
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


def brain_seed(run: int) -> int:
    """What a brain is seeded with. From it nobody can tell the run's seed, which places the food."""
    text = f"nematodebench brain seed/{run}"
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")
