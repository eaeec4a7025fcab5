"""Seeds nobody can choose: they follow from a number the verifier draws and from the bytes of the submission.

The submission is fixed first, then the challenge is drawn. Whoever submits cannot know the fresh seeds, and whoever
verifies cannot choose them without changing the recorded challenge.
"""

import hashlib
import secrets
from collections.abc import Collection
from typing import Final

__all__ = ["SEED_BITS", "chosen", "draw", "repeated", "session_seeds"]

SEED_BITS: Final = 53
"""Bits of a fresh session seed; records of before have 32."""


def draw() -> str:
    """A new challenge: 32 random bytes of the operating system, in hexadecimal."""
    return secrets.token_hex(32)


def _number(challenge: str, submission_sha256: str, what: str, k: int, size: int) -> int:
    text = f"nematodebench verification 1\n{challenge}\n{submission_sha256}\n{what} {k}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:size], "big")


def session_seeds(
    challenge: str, submission_sha256: str, count: int, taken: Collection[int], bits: int = SEED_BITS
) -> list[int]:
    """Fresh session seeds, all different from each other and from those in ``taken``.

    A brain is told a one-way function of its run's seed, and could try all seeds of few bits until one fits.
    """
    size = -(-bits // 8)
    seeds: list[int] = []
    k = 0
    while len(seeds) < count:
        seed = _number(challenge, submission_sha256, "session", k, size) >> (8 * size - bits)
        if seed not in taken and seed not in seeds:
            seeds.append(seed)
        k += 1
    return seeds


def chosen(challenge: str, submission_sha256: str, total: int, count: int) -> list[int]:
    """Which of ``total`` claimed runs are executed again when there is no time for all of them."""
    if count >= total:
        return list(range(total))
    keys = [(_number(challenge, submission_sha256, "run", k, 16), k) for k in range(total)]
    return sorted(k for _, k in sorted(keys)[:count])


def repeated(challenge: str, submission_sha256: str, sessions: int, runs: int) -> list[int]:
    """Which run of each fresh session is executed a second time: a brain that counts its runs does not know which."""
    return [_number(challenge, submission_sha256, "repeated", k, 16) % runs for k in range(sessions)]
