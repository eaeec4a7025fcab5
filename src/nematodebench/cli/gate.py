"""The work behind ``nematodebench board gate``."""

from pathlib import Path

from nematodebench.board.changes import open_proposal
from nematodebench.board.gate import judge_proposal
from nematodebench.cli.show import print_json, printable

__all__ = ["judge_changes"]


def judge_changes(root: Path, base: str, head: str, author: str | None, *, json: bool) -> bool:
    """Judges the difference between two commits and says why it is refused; returns whether it is not."""
    proposal = open_proposal(root, base, head)
    found = judge_proposal(proposal, author)
    if json:
        print_json({**vars(found), "base": proposal.base, "head": proposal.head, "accepted": not found.refusals})
        return not found.refusals
    for line in found.refusals:
        print(f"refused: {printable(line)}")
    for path in found.submissions:
        print(f"new submission: {printable(path)}")
    kinds = ", ".join(found.kinds) or "nothing"
    word = "REFUSED" if found.refusals else "accepted"
    print(f"{word}: {found.files:,} files, {kinds} ({proposal.start[:12]} to {proposal.head[:12]})")
    if author is None:
        print("no author was given: who may add what was not checked")
    return not found.refusals
