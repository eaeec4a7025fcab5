"""Records of one submission: none is ever replaced, and a rule that nobody can bend says which of them decides.

The record with the most claimed runs executed again decides; among equals one in which a run came out otherwise, then
the one that was finished first. So a verification with more runs counts as soon as it is there, and one more of the
same size changes nothing, however good its fresh seeds were: nobody can verify again until the score is pleasant.
"""

import re
from collections.abc import Mapping

from nematodebench.verification.statement import Outcome, Summary

__all__ = ["decides", "is_name_of", "name_of", "repeats"]

SUFFIX = ".dsse.json"


def name_of(submission_id: str, number: int) -> str:
    """The file of a submission's first record, or of a later one."""
    return f"{submission_id}{'' if number == 1 else f'.{number}'}{SUFFIX}"


def is_name_of(name: str, submission_id: str) -> bool:
    """Whether a file is called as a record of this submission is."""
    return (
        re.fullmatch(rf"{re.escape(submission_id)}(\.([2-9]|[1-9][0-9]{{1,3}}))?{re.escape(SUFFIX)}", name) is not None
    )


def decides(records: Mapping[str, Summary]) -> str:
    """The name of the record that decides."""

    def place(name: str) -> tuple[int, bool, str, int, str]:
        one = records[name]
        return -one.reexecution.executed, one.result == "PASSED", one.finished, len(name), name

    return min(records, key=place)


def repeats(one: Outcome, other: Outcome) -> bool:
    """Whether two records tell of the same verification, and one of them is enough."""
    same = one.challenge == other.challenge and one.brain_class == other.brain_class
    return same and one.reexecution == other.reexecution
