"""Writes the table of times in ``docs/nematodebench/VERIFICATION.md`` from the signed records that decide.

``python scripts/verification_times.py --write`` after ``board regenerate``; ``--check`` fails where the page differs.
"""

import argparse
import sys
from datetime import datetime
from pathlib import Path

from nematodebench.board.collect import Listing, collect
from nematodebench.board.text import code, table

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "nematodebench" / "VERIFICATION.md"
BEGIN, END = "<!-- times:begin -->", "<!-- times:end -->"
HEADER = ("task", "brain", "claimed runs executed", "fresh runs", "seconds")


def rows(listings: list[Listing]) -> list[list[str]]:
    """A row for every verified entry, by task and brain."""
    found = []
    for one in listings:
        record = one.verified
        if record is not None:
            took = datetime.fromisoformat(record.finished) - datetime.fromisoformat(record.started)
            done = f"{record.reexecution.executed} of {record.reexecution.claimed}"
            name = Path(record.brain).name
            found.append([record.task, code(name), done, str(record.fresh_runs), f"{took.total_seconds():.0f}"])
    return sorted(found)


def page(text: str, listings: list[Listing]) -> str:
    """The page with its table renewed."""
    before, after = text.partition(BEGIN)[0], text.partition(END)[2]
    return before + "\n".join([BEGIN, *table(HEADER, rows(listings)), END]) + after


def main() -> int:
    """Writes or checks the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    choice = parser.add_mutually_exclusive_group(required=True)
    choice.add_argument("--write", action="store_true", help="write the table")
    choice.add_argument("--check", action="store_true", help="compare the page with the records")
    options = parser.parse_args()
    old = PAGE.read_text(encoding="utf-8")
    new = page(old, list(collect(ROOT).listings.values()))
    if options.write:
        PAGE.write_text(new, encoding="utf-8")
    elif old != new:
        print("docs/nematodebench/VERIFICATION.md is not current: --write it")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
