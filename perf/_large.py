"""The index and the board of 100,000 synthetic entries, held in memory: nothing of them is written."""

import resource
import sys
import time
from array import array
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from nematodebench.board.collect import Collection, Listing, signed
from nematodebench.board.markdown import leaderboard, leaders
from nematodebench.records.submission_schema import NematodeBenchSubmission, SessionReference
from nematodebench.submissions.history import History
from nematodebench.submissions.neighbours import Neighbours
from perf._synthetic import REPOSITORY

ENTRIES, BRAINS = 100_000, 10_000
"""Each of the brains was submitted ten times."""


def _entries(known: list[Listing], count: int, brains: int) -> Iterator[Listing]:
    """Listings like published ones, with names, seeds and scores of their own."""
    for number in range(count):
        noise, base = np.random.default_rng(number), known[number % len(known)]
        one = base.submission.sessions[0]
        seeds = array("Q", noise.integers(0, 2**63, base.submission.total_runs).tolist())
        changes = {"run_seeds": seeds, "records_sha256": noise.bytes(32).hex(), "num_runs": len(seeds)}
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
        yield replace(base, entry=entry, submission=made, path=f"benchmarks/synthetic/{number}.json")


def main(count: int = ENTRIES, brains: int = BRAINS) -> None:
    """Measures and prints."""
    known = [one for one in signed(REPOSITORY).listings.values() if one.entry.learns]
    listings = {one.entry.id: one for one in _entries(known, count, brains)}
    submissions: list[tuple[str, NematodeBenchSubmission]] = [(one.path, one.submission) for one in listings.values()]
    started = time.process_time()
    index = Neighbours(submissions, History())
    built = time.process_time()
    for path, made in submissions[:: max(1, count // 1000)]:
        assert not list(index.with_seeds(path, made))
    asked = time.process_time()
    found = Collection(listings=listings)
    boards = found.boards()
    ranked = time.process_time()
    text = leaderboard(found) + leaders(found)
    written = time.process_time()
    runs = sum(len(made.sessions[0].run_seeds) for _, made in submissions)
    learners = [len(board.learners) for board in boards]
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"{count:,} synthetic entries of {brains:,} brains on {len(boards)} tasks, {runs:,} seeds")
    print(f"index of seeds, episodes and names: {built - started:.1f} s")
    print(f"one question to it: {(asked - built) / len(submissions[:: max(1, count // 1000)]) * 1000:.2f} ms")
    print(f"ranking, {min(learners)} to {max(learners)} learners a task: {ranked - asked:.1f} s")
    print(f"Markdown: {written - ranked:.1f} s, {len(text.encode()) / 1e6:.1f} MB")
    print(f"memory at most: {memory:.1f} GB (seconds are those of the processor)")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
