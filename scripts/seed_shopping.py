"""What choosing seeds is worth: screens many sessions, submits the best ten and has them verified like any submission.

``python scripts/seed_shopping.py --sessions 1000`` prints what was claimed, what the verifier measured and whether the
claim is marked. Everything is real: the runs, the submission, the verification, its signature and the board.
"""

import argparse
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from nematodebench.board.collect import collect
from nematodebench.brains.registry import get_brain
from nematodebench.engine.executors import Watch, execute_all
from nematodebench.engine.run import RunSpec, compile_for, resolve_config
from nematodebench.engine.seeds import run_seed
from nematodebench.sessions.config import SessionConfig
from nematodebench.sessions.execution import run_plan
from nematodebench.sessions.plan import make_plan
from nematodebench.stats import StatValue
from nematodebench.submissions.build import Attribution
from nematodebench.submissions.publish import submit
from nematodebench.tasks.registry import get_task
from nematodebench.verification.keys import new_key, read_private
from nematodebench.verification.statement import ClaimTest
from nematodebench.verification.store import keep
from nematodebench.verification.verify import Job, verify

__all__ = ["Outcome", "main", "screen", "submitted"]

TASK, BRAIN, RUNS, BEST = "association-v2", "q_table", 50, 10
CONFIG = f"task: {TASK}\nbrain: {BRAIN}\nruns: {RUNS}\n"


@dataclass(frozen=True)
class Outcome:
    """What became of the best ten sessions.

    Attributes:
        claimed: The score that was submitted.
        ranked: The score that the board ranks.
        claim: The test of one against the other.
    """

    claimed: StatValue
    ranked: StatValue
    claim: ClaimTest


def screen(sessions: int, workers: int = 1) -> dict[int, float]:
    """The score of every session with a seed from 0 on: what somebody finds out who looks for good seeds."""
    task, brain = get_task(TASK), get_brain(BRAIN)
    config = resolve_config(BRAIN, brain, {})
    compile_for(task, brain)
    found = {}
    for seed in range(sessions):
        specs = [RunSpec(task, BRAIN, brain, config, run_seed(seed, k), k) for k in range(RUNS)]
        runs = sorted(execute_all(specs, "threads", workers, Watch()), key=lambda one: one.index)
        found[seed] = task.measure([run.records for run in runs]).session[task.score_key].mean
    return found


def submitted(seeds: list[int], root: Path, workers: int = 1) -> Outcome:
    """Runs sessions with these seeds, submits them, verifies and signs them, and looks at the board."""
    _git(root, "init", "-q")
    (root / "configs").mkdir()
    (root / "configs" / "shopped.yml").write_text(CONFIG)
    (root / ".gitignore").write_text("/experiments/\n")
    new_key(root, "Maintainer", root.parent / "private.pem")
    _commit(root)
    folders = []
    for seed in seeds:
        given = SessionConfig(task=TASK, brain=BRAIN, runs=RUNS, seed=seed)
        session = run_plan(make_plan(given, workers=workers, config_name="shopped.yml"), root=root / "experiments")
        folders.append(root / "experiments" / session.experiment_id)
    path, _ = submit(root, folders, Attribution("Somebody who shops", "shopper"))
    _commit(root)
    statement = verify(Job(path, root, root.parent / "work", workers=workers))
    keep(root, statement, read_private(root.parent / "private.pem"))
    (listing,) = collect(root).listings.values()
    claim = statement.predicate.claim
    assert claim is not None
    assert listing.score is not None
    assert listing.submission.score is not None
    assert listing.too_good == claim.too_good
    return Outcome(listing.submission.score, listing.score, claim)


def _git(root: Path, *words: str) -> None:
    root.mkdir(exist_ok=True)
    identity = ("-c", "user.name=Somebody", "-c", "user.email=somebody@example.org")
    subprocess.run(["git", *identity, *words], cwd=root, check=True)


def _commit(root: Path) -> None:
    _git(root, "add", "-A")
    _git(root, "commit", "-q", "-m", "change")


def main() -> None:
    """Screens, submits, verifies and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=1000, help="how many sessions are screened")
    parser.add_argument("--workers", type=int, default=1, help="runs at a time")
    given = parser.parse_args()
    scores = screen(given.sessions, given.workers)
    honest = StatValue.from_values(list(scores.values()))
    best = sorted(scores, key=lambda seed: -scores[seed])[:BEST]
    with tempfile.TemporaryDirectory() as folder:
        found = submitted(best, Path(folder) / "repo", given.workers)
    print(f"{BRAIN} on {TASK}: {given.sessions} sessions of {RUNS} runs, best {BEST} submitted")
    print(f"all sessions  {honest}")
    print(f"claimed       {found.claimed}")
    print(f"ranked        {found.ranked}")
    word = "too good" if found.claim.too_good else "not marked"
    print(f"claim         one-sided p = {found.claim.p:.2g} by {found.claim.unit}: {word}")


if __name__ == "__main__":
    main()
