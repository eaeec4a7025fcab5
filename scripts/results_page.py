"""Measures the built-in learners on a task and writes ``docs/results.md`` from all that was measured.

``python scripts/results_page.py --measure pong-v2 wall-v2`` runs every learner and its twin with learning off, 50 runs
each, and keeps what came out in ``docs/results/<task>.json``; a learner that is there with the same runs and seed is
not run again. ``--brains mlp_ppo,mlp_dqn`` runs only these; the page names learners and tasks that are missing.
``--write`` makes the page from these files and leaves out tasks that a newer version has replaced; it writes also how
much the runs of each learner spread, which ``run --dry-run`` assumes. ``--check`` fails where these differ, and runs
one run of every task again and compares its hash.
"""

import argparse
import json
import math
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

import nematodebench as nb
from nematodebench import scoring
from nematodebench.brains.listing import list_summaries
from nematodebench.brains.registry import is_built_in
from nematodebench.sessions.detectable import SPREADS
from nematodebench.sessions.scores import RunScores, scores_of
from nematodebench.sessions.twins import gain
from nematodebench.stats import critical, t_critical, with_interval
from nematodebench.stats.intervals import deviations
from nematodebench.tasks.anchoring import TaskAnchors, load_anchors, normalise
from nematodebench.tasks.ranked import blind_line, newer_version
from nematodebench.tasks.registry import built_in_tasks, get_task
from nematodebench.vocabulary import BrainClass

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGE, DATA = DOCS / "results.md", DOCS / "results"
SPREAD_DATA = DOCS.parent / "src" / "nematodebench" / "tasks" / SPREADS
RUNS, SEED = 50, 2026
BRAINS = tuple(
    one.name
    for one in sorted(list_summaries(), key=lambda one: (get_args(BrainClass).index(one.kind), one.name))
    if is_built_in(one.name) and one.path == "compiled" and one.kind != "scripted"
)
"""Every compiled learner of this package, by class: a new one is measured without a change here."""
BEGIN, END = "<!-- measured:begin -->", "<!-- measured:end -->"


def _scores(session: nb.Session) -> RunScores:
    return scores_of(session.plan.task, {run.seed: dict(run.metrics) for run in session.runs})


def _std(scores: RunScores) -> float:
    """How much the runs spread, as comparisons see it."""
    return float(deviations(scores.values if scores.pseudo is None else scores.pseudo))


def _cell(task: str, brain: str, workers: int | None) -> dict[str, Any]:
    """The score of a learner, of its twin with learning off, and what learning added."""
    trained = nb.run(task, brain, runs=RUNS, seed=SEED, workers=workers)
    untrained = nb.run(task, brain, runs=RUNS, seed=SEED, workers=workers, learning=False)
    scores, found = _scores(trained), gain(_scores(trained), _scores(untrained))
    assert found is not None
    norm = normalise(scores.values.tolist(), load_anchors(get_task(task)), scores.pseudo)
    assert norm is not None
    assert norm.ci95 is not None
    return {
        "score": str(scores.summary),
        "normalised": with_interval(norm.estimate, norm.ci95),
        "low": norm.ci95[0],
        "untrained": str(found.untrained),
        "gain": str(found),
        "learned": found.learned,
        "std": _std(scores),
        "first_record": trained.runs[0].record_hash,
    }


def measure(task: str, brains: Sequence[str] = BRAINS, workers: int | None = None) -> None:
    """Runs what is missing of a task, and keeps every learner as it ends."""
    path = DATA / f"{task}.json"
    DATA.mkdir(exist_ok=True)
    kept = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    facts = {"runs": RUNS, "seed": SEED, "spec": get_task(task).spec_hash}
    if {key: kept.get(key) for key in facts} != facts:
        kept = {**facts, "brains": {}}
    for brain in brains:
        if brain not in kept["brains"]:
            kept["brains"][brain] = _cell(task, brain, workers)
            kept["brains"] = {name: kept["brains"][name] for name in BRAINS if name in kept["brains"]}
            path.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


def _lines(anchors: TaskAnchors) -> list[str]:
    """What a score is read against, as lines of the table."""
    named = {
        "reference": anchors.reference, "best blind policy": anchors.blind, "doing nothing": anchors.motionless,
        "chance": anchors.null,
    }  # fmt: skip
    rows = []
    for name, anchor in named.items():
        if anchor is not None:
            share = scoring.normalised(anchor.value, anchors.floor, anchors.ceiling)
            rows.append(f"| *{name}* | {anchor.value:z.3f} | {share:z.3f} | | |")
    return rows


def _failings(kept: dict[str, Any], blind: float) -> list[str]:
    """Learners that are not shown to have learned, and those that are not above the best blind policy."""
    idle = [name for name, cell in kept["brains"].items() if not cell["learned"]]
    low = [name for name, cell in kept["brains"].items() if cell["low"] <= blind and name not in idle]
    missing = [name for name in BRAINS if name not in kept["brains"]]
    said = {
        "Not shown to have learned": idle,
        "Learned, but not shown to be above the best blind policy": low,
        "Not measured yet": missing,
    }
    return [f"{what}: {', '.join(names)}." for what, names in said.items() if names]


def _unmeasured() -> str:
    """Names the current tasks without a table."""
    current = [task for task in built_in_tasks().values() if task.scoring.has_score and newer_version(task) is None]
    names = [task.id for task in current if not (DATA / f"{task.id}.json").is_file()]
    said = f"Current tasks that have no table yet: {', '.join(names) or 'none'}."
    return "### Not measured yet\n\n" + textwrap.fill(said, 120, break_on_hyphens=False)


def _section(path: Path) -> str:
    kept, task = json.loads(path.read_text(encoding="utf-8")), get_task(path.stem)
    anchors = load_anchors(task)
    assert anchors is not None
    lines = [f"### {task.id}", "", f"{task.summary[:1].upper()}{task.summary[1:]}. Score: `{task.score_key}`.", ""]
    lines += ["| brain | score | normalised | learning off | gain |", "|---|---|---|---|---|"]
    for name, cell in kept["brains"].items():
        lines.append(f"| {name} | {cell['score']} | {cell['normalised']} | {cell['untrained']} | {cell['gain']} |")
    return "\n".join([*lines, *_lines(anchors), "", *_failings(kept, blind_line(anchors))]).rstrip()


def spreads() -> str:
    """By task and learner: the standard deviation of its runs, which `run --dry-run` assumes.

    Cells that were measured before they had it are read from the half of their interval, which has two or three digits.
    """
    found: dict[str, dict[str, float]] = {}
    for path in sorted(DATA.glob("*.json")):
        session = get_task(path.stem).score_key == "composite_score"
        in_errors = (t_critical(RUNS - 1) if session else critical(RUNS)) / math.sqrt(RUNS)
        for name, cell in json.loads(path.read_text(encoding="utf-8"))["brains"].items():
            half = cell["score"].partition("± ")[2].split(" ")[0].lstrip("<")
            std = cell["std"] if "std" in cell else float(half or 0.0) / in_errors
            found.setdefault(path.stem, {})[name] = float(f"{std:.3g}")
    return json.dumps(found, indent=1) + "\n"


def page() -> str:
    """The page with the tables of everything that was measured."""
    text = PAGE.read_text(encoding="utf-8")
    before, after = text.partition(BEGIN)[0], text.partition(END)[2]
    sections = [_section(path) for path in sorted(DATA.glob("*.json")) if newer_version(get_task(path.stem)) is None]
    return before + "\n\n".join([BEGIN, *sections, _unmeasured(), END]) + after


def check() -> list[str]:
    """What is wrong: a page that is not current, or a task whose first run comes out otherwise."""
    wrong = [] if page() == PAGE.read_text(encoding="utf-8") else ["docs/results.md is not current: --write it"]
    if spreads() != SPREAD_DATA.read_text(encoding="utf-8"):
        wrong.append(f"{SPREAD_DATA.name} of the package is not current: --write it")
    for path in sorted(DATA.glob("*.json")):
        kept = json.loads(path.read_text(encoding="utf-8"))
        brain = next(iter(kept["brains"]))
        again = nb.run(path.stem, brain, runs=1, seed=kept["seed"])
        if again.runs[0].record_hash != kept["brains"][brain]["first_record"]:
            wrong.append(f"{path.stem} {brain}: the first run has other records")
    return wrong


def main() -> None:
    """Entry point."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--measure", nargs="+", metavar="TASK", help="run every learner on these tasks")
    action.add_argument("--write", action="store_true", help="write the page from what was measured")
    action.add_argument("--check", action="store_true", help="compare the page, and one run of every task")
    parser.add_argument("--brains", default=",".join(BRAINS), help="learners to run, with commas between them")
    parser.add_argument("--workers", type=int, default=None, help="runs at a time; all cores if it is not given")
    options = parser.parse_args()
    brains = options.brains.split(",")
    if not set(brains) <= set(BRAINS):
        parser.error(f"--brains takes names of {', '.join(BRAINS)}")
    for task in options.measure or []:
        measure(task, brains, options.workers)
    if options.check:
        wrong = check()
        print("\n".join(wrong) or "docs/results.md agrees with runs executed now")
        sys.exit(bool(wrong))
    PAGE.write_text(page(), encoding="utf-8")
    SPREAD_DATA.write_text(spreads(), encoding="utf-8")


if __name__ == "__main__":
    main()
