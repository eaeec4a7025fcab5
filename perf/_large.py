"""The index, the board and the site of 100,000 synthetic entries, held in memory: nothing of them is written.

``python -m perf._large`` prints the table of docs/scale.md, ``--write`` puts it there; numbers are other sizes.
"""

import resource
import sys
import time
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from nematodebench.board.collect import Collection, Listing, signed
from nematodebench.board.markdown import leaderboard, leaders
from nematodebench.records.submission_schema import NematodeBenchSubmission, SessionReference
from nematodebench.site.board_site import build_site
from nematodebench.submissions.history import History
from nematodebench.submissions.neighbours import Neighbours
from perf._page import PAGE, exponent, write_block
from perf._synthetic import REPOSITORY

COUNTS, EACH = (1_000, 10_000, 100_000), 10
"""Each brain was submitted so many times."""


def _entries(known: list[Listing], count: int, brains: int, first: int = 0) -> Iterator[Listing]:
    """Listings like published ones, with names, seeds and scores of their own."""
    for number in range(first, first + count):
        noise, base = np.random.default_rng(number), known[number % len(known)]
        one = base.submission.sessions[0]
        seeds = array("Q", noise.integers(0, 2**63, base.submission.total_runs).tolist())
        changes = {
            "file_path": f"artifacts/experiments/synthetic_{number}/record.json",
            "run_seeds": seeds,
            "records_sha256": noise.bytes(32).hex(),
            "num_runs": len(seeds),
        }
        reference = SessionReference.model_construct(**{**dict(one), **changes})
        name = f"synthetic_{number % brains}"
        made = base.submission.model_copy(
            update={"sessions": [reference], "contributor": f"Synthetic contributor {number % 5000}",
                    "brain_type": name, "submission_id": f"synthetic_{number}"}
        )  # fmt: skip
        mean = base.entry.mean + 0.05 * float(noise.normal())
        half = (base.entry.ci95[1] - base.entry.ci95[0]) / 2
        entry = replace(base.entry, id=made.submission_id, brain=name, mean=mean, ci95=(mean - half, mean + half),
                        date=f"2020{1 + number % 12:02d}01_000000", place=number)  # fmt: skip
        yield replace(base, entry=entry, submission=made, path=f"benchmarks/synthetic/{number}.json", record=None)


@dataclass(frozen=True)
class Cost:
    """What a board of so many entries costs: seconds of a processor, sizes, and the most memory so far."""

    entries: int
    index: float
    question: float
    ranking: float
    markdown: float
    markdown_mb: float
    site: float
    site_files: int
    site_mb: float
    first_page_mb: float
    memory_gb: float


def measured(known: list[Listing], count: int, brains: int) -> Cost:
    """Builds the index, ranks, and writes the tables and the pages of synthetic entries, all in memory."""
    listings = {one.entry.id: one for one in _entries(known, count, brains)}
    submissions: list[tuple[str, NematodeBenchSubmission]] = [(one.path, one.submission) for one in listings.values()]
    asking = [(one.path, one.submission) for one in _entries(known, 1000, brains, first=count)]
    times = [time.process_time()]
    index = Neighbours(submissions, History())
    times.append(time.process_time())
    for path, made in asking:  # they are not among the others yet
        assert not list(index.with_seeds(path, made)) and not index.with_records(path, made)
    times.append(time.process_time())
    found = Collection(listings=listings)
    found.boards()
    times.append(time.process_time())
    text = leaderboard(found) + leaders(found)
    times.append(time.process_time())
    files = build_site(REPOSITORY, found)
    times.append(time.process_time())
    indexing, asked, ranking, markdown, site = np.diff(times).tolist()
    return Cost(
        count, indexing, asked / len(asking), ranking, markdown, len(text.encode()) / 1e6, site, len(files),
        sum(map(len, files.values())) / 1e6, len(files["index.html"]) / 1e6,
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
    )  # fmt: skip


def page(costs: Sequence[Cost]) -> str:
    """The table for docs/scale.md, with how each cost grows."""

    def row(what: str, cells: Sequence[str], values: Sequence[float]) -> str:
        return f"| {what} | {' | '.join(cells)} | {exponent([one.entries for one in costs], values):.2f} |"

    def seconds(what: str, values: Sequence[float]) -> str:
        return row(what, [f"{value:.1f} s" for value in values], values)

    head = ["synthetic entries", *(f"{one.entries:,}" for one in costs), "exponent"]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    lines.append(seconds("index of all run seeds, episodes and names", [one.index for one in costs]))
    answers = [1000 * one.question for one in costs]
    lines.append(row("one question to it: does this entry share anything?", [f"{x:.2f} ms" for x in answers], answers))
    lines.append(seconds("ranks, every pair of learners of a task compared", [one.ranking for one in costs]))
    lines.append(seconds("`LEADERBOARD.md` and the tables of the README", [one.markdown for one in costs]))
    lines.append(row("their size", [f"{one.markdown_mb:.1f} MB" for one in costs], [one.markdown_mb for one in costs]))
    lines.append(seconds("static site, without the sessions' own data", [one.site for one in costs]))
    lines.append(row("its files", [f"{one.site_files:,}" for one in costs], [one.site_files for one in costs]))
    lines.append(row("its size", [f"{one.site_mb:,.0f} MB" for one in costs], [one.site_mb for one in costs]))
    lines.append(
        row("of which the first page", [f"{one.first_page_mb:.1f} MB" for one in costs],
            [one.first_page_mb for one in costs])
    )  # fmt: skip
    lines.append(row("memory at most", [f"{one.memory_gb:.1f} GB" for one in costs], [one.memory_gb for one in costs]))
    return "\n".join(lines)


def main(counts: Sequence[int] = COUNTS, write: bool = False) -> None:
    """Measures and prints, and puts the table into docs/scale.md if that is wanted."""
    known = [one for one in signed(REPOSITORY).listings.values() if one.entry.learns]
    costs = [measured(known, count, max(1, count // EACH)) for count in counts]
    print(page(costs))
    if write:
        write_block(PAGE, "large", page(costs))


if __name__ == "__main__":
    numbers = [int(word) for word in sys.argv[1:] if word.isdigit()]
    main(numbers or COUNTS, "--write" in sys.argv)
