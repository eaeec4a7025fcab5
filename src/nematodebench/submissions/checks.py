"""Defines what a check is and goes through lists of them."""

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from nematodebench.errors import UsageError
from nematodebench.records.evaluation_schema import CheckResult
from nematodebench.submissions.case import Case

__all__ = ["Caution", "Check", "check", "judge"]

Finder = Callable[[Case], Iterable[str]]

_SHOWN = 5


class Caution(str):
    """Something to know that is no reason to reject."""

    __slots__ = ()


@dataclass(frozen=True)
class Check:
    """One check.

    Attributes:
        name: What it is called in reports.
        good: What is true where it passes.
        advice: What to do where it fails.
        find: Yields every problem found, as a text; or raises UsageError.
        needs: Checks that must have passed for this one to make sense.
    """

    name: str
    good: str
    advice: str
    find: Finder
    needs: tuple[str, ...] = ()


def check(name: str, good: str, advice: str, needs: tuple[str, ...] = ()) -> Callable[[Finder], Check]:
    """Makes a check of a function that yields problems."""
    return lambda find: Check(name, good, advice, find, needs)


def judge(case: Case, checks: Sequence[Check], before: Sequence[CheckResult] = ()) -> list[CheckResult]:
    """Makes checks in order. A check that cannot be made is skipped and does not pass."""
    results = list(before)
    for one in checks:
        good = {result.name for result in results if result.outcome in {"PASS", "WARN"}}
        missing = [name for name in one.needs if name not in good]
        results.append(_skip(one, missing) if missing else _judge_one(case, one))
    return results


def _skip(one: Check, missing: Sequence[str]) -> CheckResult:
    return CheckResult(name=one.name, outcome="SKIP", message=f"not checked, because of: {', '.join(missing)}")


def _judge_one(case: Case, one: Check) -> CheckResult:
    found: list[str] = []
    try:
        found += itertools.islice(one.find(case), _SHOWN + 1)
    except UsageError as error:
        found.append(str(error))
    problems = [text for text in found if not isinstance(text, Caution)]
    if problems:
        return CheckResult(name=one.name, outcome="FAIL", message=_join(problems), advice=one.advice)
    if found:
        return CheckResult(name=one.name, outcome="WARN", message=_join(found))
    return CheckResult(name=one.name, outcome="PASS", message=one.good)


def _join(problems: Sequence[str]) -> str:
    text = "; ".join(problem.rstrip(".") for problem in problems[:_SHOWN])
    return text + ("; and more" if len(problems) > _SHOWN else "")
