"""How the tests of forged submissions register a forgery and hold it against the check that must reject it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from submission_workshop import FOLLOWER, FORAGING, SHORT, Work, official

from nematodebench.submissions.evaluate import evaluate

__all__ = ["Forgeries", "Spoil", "assert_rejected", "claim"]

Spoil = Callable[[Work], None]
_BRAINS = {SHORT: "null_random", FORAGING: FOLLOWER}


class Forgeries(list[Any]):
    """Ways to spoil a submission, each with the check that must fail and what it must say."""

    def register(self, check: str, message: str, task: str = SHORT) -> Callable[[Spoil], Spoil]:
        """Adds the decorated function under its own name."""

        def add(spoil: Spoil) -> Spoil:
            self.named(spoil.__name__.removeprefix("_"), check, message, spoil, task)
            return spoil

        return add

    def named(self, name: str, check: str, message: str, spoil: Spoil, task: str = SHORT) -> None:
        """Adds a forgery under a name."""
        self.append(pytest.param(spoil, check, message, task, id=name))


def claim(**fields: object) -> Spoil:
    """A forgery that writes other values into the submission."""

    def spoil(work: Work) -> None:
        work.claims.update(fields)
        work.save()

    return spoil


def assert_rejected(folder: Path, spoil: Spoil, check: str, message: str, task: str) -> None:
    """Spoils a good submission: the check meant for it fails, and says the message and a way out."""
    work = official(folder / "repo", _BRAINS[task], task)
    spoil(work)
    report = evaluate(work.path, root=work.root)
    assert report.passed is False
    found = next(one for one in report.checks if one.name == check)
    assert found.outcome == "FAIL"
    assert message in found.message
    assert found.advice
