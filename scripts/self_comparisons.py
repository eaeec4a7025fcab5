"""Writes ``docs/self_comparisons.md``: how often published brains are called different from themselves.

``python scripts/self_comparisons.py --write`` draws two sets of runs of one published brain on one task, which share no
run, compares them as ``nematodebench compare`` does, and counts the verdicts that one is better than the other.
``--check`` counts again, and fails where more than 5 % of all verdicts are false or the page says something else.
"""

import argparse
import sys
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nematodebench import scoring, stats
from nematodebench.board.text import table
from nematodebench.measures.base import RunMetrics
from nematodebench.records.store import load_experiment
from nematodebench.sessions.rerun import task_of
from nematodebench.tasks.anchoring import load_anchors
from nematodebench.tasks.base import Task

ROOT = Path(__file__).resolve().parents[1]
PAGE, SESSIONS = ROOT / "docs" / "self_comparisons.md", ROOT / "artifacts" / "experiments"
SIZES, COMPARISONS, LEVEL = (10, 20, 50), 1000, 0.05
_HEAD = f"""\
# A brain against itself

[coverage.md](coverage.md) simulates runs. Here they are real: of every brain that was published when this page was
written two sets of runs were drawn that share no run, {COMPARISONS:,} times for each number of runs, and compared as
the command `compare` does. A cell is the share of comparisons with the verdict that one set is better than the other,
which is false; the last line is that of all comparisons. A share of {COMPARISONS:,} has a standard error of about
.6 %, so single cells may lie above 5 %. Runs that are all alike are never called different. Written by
`python scripts/self_comparisons.py --write`.

"""

Array = NDArray[np.float64]


def published(folder: Path = SESSIONS) -> dict[tuple[str, str], tuple[Task, list[RunMetrics]]]:
    """Runs of published sessions by task and brain, where there are enough of them."""
    found: dict[tuple[str, str], tuple[Task, list[RunMetrics]]] = {}
    for path in sorted(folder.iterdir()):
        record = load_experiment(path)
        task = task_of(record)
        runs = found.setdefault((record.task, record.brain), (task, []))[1]
        runs += [run.metrics for run in record.runs if run.metrics.get(task.score_key) is not None]
    return {key: pool for key, pool in sorted(found.items()) if len(pool[1]) >= 2 * max(SIZES)}


def columns(task: Task, runs: Sequence[RunMetrics]) -> Array:
    """What a score is made of, a row for each part: of a composite its parts, otherwise the score itself."""
    parts = ("success_rate", "distance_efficiency", "learning_speed", "final_success_rate")
    names = parts if task.score_key == "composite_score" else (task.score_key,)
    return np.array([[run[name] for run in runs] for name in names], dtype=np.float64)


def scores(parts: Array) -> tuple[Array, Array | None]:
    """Scores of a set of runs, and pseudo-values where a score depends on the other runs of the set."""
    if len(parts) == 1:
        return parts[0], None
    composite = scoring.composite(parts[0], parts[1], parts[2], scoring.stability(parts[3]))
    return np.asarray(composite), scoring.composite_pseudo_values(*parts)


def smallest(task: Task) -> float:
    """The smallest difference that matters, in units of the task's score."""
    anchors = load_anchors(task)
    gap = 1.0 if anchors is None else anchors.ceiling.value - anchors.floor.value
    return stats.SMALLEST_EFFECT * gap


def false_verdicts(parts: Array, n: int, effect: float, seed: int, comparisons: int = COMPARISONS) -> int:
    """How many comparisons of n runs with n others of the same brain end with a difference."""
    rng, count = np.random.default_rng([seed, n]), 0
    for _ in range(comparisons):
        drawn = rng.permutation(parts.shape[1])[: 2 * n]
        (x, dx), (y, dy) = scores(parts[:, drawn[:n]]), scores(parts[:, drawn[n:]])
        found = stats.compare(x, y, None, None, dx, dy)
        count += stats.verdict(found, effect).outcome in {"better", "worse"}
    return count


def page() -> tuple[str, list[str]]:
    """The page, and what on it does not hold."""
    rows, total = [], dict.fromkeys(SIZES, 0)
    pools = published()
    for (name, brain), (task, runs) in pools.items():
        parts, seed = columns(task, runs), zlib.crc32(f"{name} {brain}".encode())
        counts = {n: false_verdicts(parts, n, smallest(task), seed) for n in SIZES}
        total = {n: total[n] + counts[n] for n in SIZES}
        rows.append([name, brain, str(len(runs)), *(f"{100 * counts[n] / COMPARISONS:.1f} %" for n in SIZES)])
    shares = {n: total[n] / COMPARISONS / len(pools) for n in SIZES}
    rows.append(["**all**", "", "", *(f"**{100 * shares[n]:.2f} %**" for n in SIZES)])
    header = ("task", "brain", "runs published", *(f"{n} runs a side" for n in SIZES))
    wrong = [f"{100 * share:.2f} % false verdicts with {n} runs a side" for n, share in shares.items() if share > LEVEL]
    return _HEAD + "\n".join(table(header, rows)) + "\n", wrong


def main() -> int:
    """Writes or checks the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    choice = parser.add_mutually_exclusive_group(required=True)
    choice.add_argument("--write", action="store_true", help="count and write the page")
    choice.add_argument("--check", action="store_true", help="count and compare with the page")
    arguments = parser.parse_args()
    text, wrong = page()
    if arguments.write:
        PAGE.write_text(text, encoding="utf-8")
    elif PAGE.read_text(encoding="utf-8") != text:
        wrong.append("docs/self_comparisons.md is not current: --write it")
    print("\n".join(wrong) or "docs/self_comparisons.md holds")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
