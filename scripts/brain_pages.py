"""Writes the tables of ``docs/brains/*.md`` from real runs, or checks them by executing runs again.

A page says what it wants measured in a comment, and the table behind it is this script's:

    <!-- measured: tasks=foraging_small-v1,pong-v1 runs=20 seed=77 variants=default;plastic:false -->

A variant is ``default``, a change of parameters, or a file of ``configs/``. ``lines=yes`` adds the twin that never
learns, and the task's best blind policy and reference from their stored anchors; ``beside=mlp_ppo`` adds other brains
at their defaults.

A table may also be made of what ``scripts/results_page.py`` measured before, 50 runs of every learner and of its twin:

    <!-- results: tasks=foraging_small-v2,association-v2 -->

``python scripts/brain_pages.py --write sorn`` executes all runs of the page and writes the tables and, beside the page,
a file with the hash of every run's records. What is measured is kept in ``build/brain_pages`` until the page is whole,
so that a killed command goes on; remove that folder when the code has changed. ``--tables`` renews the tables of
results alone and executes nothing. ``--check`` executes the first run of every cell again and compares hashes.
"""

import argparse
import json
import re
import sys
from pathlib import Path
from typing import Any

import yaml

import nematodebench as nb
from nematodebench.tasks.anchoring import load_anchors
from nematodebench.tasks.registry import get_task

PAGES = Path(__file__).resolve().parents[1] / "docs" / "brains"
_PARTIAL = PAGES.parents[1] / "build" / "brain_pages"
_CONFIGS = PAGES.parents[1] / "configs"
_TWIN = "learning off"
_RESULTS = PAGES.parent / "results"
_TABLE = r"(?:\n\|.*?\n(?=\n|\Z))?"
_BLOCK = re.compile(rf"(<!-- measured: (.*?) -->\n){_TABLE}", re.S)
_KEPT = re.compile(rf"(<!-- results: tasks=(.*?) -->\n){_TABLE}", re.S)


def _wanted(text: str) -> dict[str, Any]:
    """The tasks, runs, seed and variants that a comment asks for."""
    given = dict(word.split("=", 1) for word in text.split())
    return {
        "tasks": given["tasks"].split(","),
        "runs": int(given["runs"]),
        "seed": int(given["seed"]),
        "variants": {name: _variant(name) for name in given.get("variants", "default").split(";")},
        "beside": given["beside"].split(",") if "beside" in given else [],
        "lines": "lines" in given,
    }


def _variant(name: str) -> dict[str, Any]:
    """The parameters that a row has changed."""
    if name.endswith(".yml"):
        changed: dict[str, Any] = yaml.safe_load((_CONFIGS / name).read_text(encoding="utf-8"))["config"]
        return changed
    return {} if name == "default" else dict(yaml.safe_load("{" + name.replace(":", ": ") + "}"))


def _rows(brain: str, wanted: dict[str, Any]) -> dict[str, tuple[str, dict[str, Any]]]:
    """What is executed on every task, by the name of its row."""
    rows = {name: (brain, config) for name, config in wanted["variants"].items()}
    rows |= {name: (name, {}) for name in wanted["beside"]}
    if wanted["lines"]:
        rows |= {_TWIN: (brain, {})}
    return rows | {"null_random": ("null_random", {})}


def _measure(
    brain: str, wanted: dict[str, Any], runs: int, partial: Path | None = None, workers: int | None = None
) -> dict[str, Any]:
    """Score and record hashes of every cell; the null's beside them. Cells of a ``partial`` file are not executed."""
    kept = json.loads(partial.read_text(encoding="utf-8")) if partial is not None and partial.is_file() else {}
    cells: dict[str, Any] = {}
    for task in wanted["tasks"]:
        for row, (name, config) in _rows(brain, wanted).items():
            key = f"{task} {row} {runs} {wanted['seed']}"
            if key in kept:
                cells[f"{task} {row}"] = kept[key]
                continue
            place = get_task(task).untrained().id if row == _TWIN else task
            session = nb.run(place, name, runs=runs, seed=wanted["seed"], config=config, workers=workers)
            score = session.measurement.session[session.plan.task.score_key]
            cells[f"{task} {row}"] = {
                "score": str(score),
                "records": [run.record_hash for run in session.runs],
            }
            if partial is not None:
                kept[key] = cells[f"{task} {row}"]
                partial.write_text(json.dumps(kept), encoding="utf-8")
    return cells


def _anchored(task: str, line: str) -> str:
    """A stored line of a task, which no run here measures; a dash if there is none. A measured floor is the null's."""
    anchors = load_anchors(get_task(task))
    anchor = getattr(anchors, line, None)
    if line == "null" and anchor is None:
        anchor = getattr(anchors, "floor", None)
    return "–" if anchor is None else f"{anchor.value:.3f}"


def _table(brain: str, wanted: dict[str, Any], cells: dict[str, Any]) -> str:
    names = {"default": brain, _TWIN: f"{brain}, {_TWIN}", **{row: row for row in ["null_random", *wanted["beside"]]}}
    lines = [f"| | {' | '.join(wanted['tasks'])} |", "|---" * (len(wanted["tasks"]) + 1) + "|"]
    for row in _rows(brain, wanted):
        scores = [cells[f"{task} {row}"]["score"] for task in wanted["tasks"]]
        lines.append(f"| {names.get(row, f'{brain}, {row}')} | {' | '.join(scores)} |")
    for line in ("blind", "reference") if wanted["lines"] else ():
        scores = [_anchored(task, line) for task in wanted["tasks"]]
        lines.append(f"| {'best blind policy' if line == 'blind' else line} | {' | '.join(scores)} |")
    return "\n" + "\n".join(lines) + "\n"


def _kept(brain: str, tasks: list[str]) -> str:
    """What the brain and its twin reached by the files of results, and the lines of the tasks."""
    found = [json.loads((_RESULTS / f"{task}.json").read_text(encoding="utf-8"))["brains"][brain] for task in tasks]
    rows = {brain: [one["score"] for one in found], f"{brain}, {_TWIN}": [one["untrained"] for one in found]}
    for name, line in {"null_random": "null", "best blind policy": "blind", "reference": "reference"}.items():
        rows[name] = [_anchored(task, line) for task in tasks]
    lines = [f"| | {' | '.join(tasks)} |", "|---" * (len(tasks) + 1) + "|"]
    return "\n" + "\n".join([*lines, *(f"| {name} | {' | '.join(row)} |" for name, row in rows.items())]) + "\n"


def renewed(page: Path) -> str:
    """The page with the tables that are made of results as those are now."""
    text = page.read_text(encoding="utf-8")
    return _KEPT.sub(lambda match: match[1] + _kept(page.stem, match[2].split(",")), text)


def write(page: Path, workers: int | None = None) -> None:
    """Executes every run of a page and writes its tables and hashes."""
    kept: list[Any] = []
    partial = _PARTIAL / f"{page.stem}.json"
    partial.parent.mkdir(parents=True, exist_ok=True)

    def measured(match: re.Match[str]) -> str:
        wanted = _wanted(match[2])
        kept.append(_measure(page.stem, wanted, wanted["runs"], partial, workers))
        return match[1] + _table(page.stem, wanted, kept[-1])

    text = _BLOCK.sub(measured, renewed(page))
    page.write_text(text, encoding="utf-8")
    page.with_suffix(".json").write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    partial.unlink(missing_ok=True)


def check(page: Path) -> list[str]:
    """Executes the first run of every cell again; the cells that differ."""
    stored = json.loads(page.with_suffix(".json").read_text(encoding="utf-8"))
    differing = [] if renewed(page) == page.read_text(encoding="utf-8") else ["tables of results: renew them"]
    for match, cells in zip(_BLOCK.finditer(page.read_text(encoding="utf-8")), stored, strict=True):
        again = _measure(page.stem, _wanted(match[2]), 1)
        differing += [name for name, cell in again.items() if cell["records"] != cells[name]["records"][:1]]
        differing += [
            name for name, cell in cells.items() if f" {cell['score']} |" not in page.read_text(encoding="utf-8")
        ]
    return differing


def main() -> None:
    """Entry point."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("brains", nargs="*", help="names of pages; all of them if none is given")
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--write", action="store_true", help="execute all runs and write the tables")
    action.add_argument("--check", action="store_true", help="execute the first run of every cell and compare it")
    action.add_argument("--tables", action="store_true", help="renew the tables of results, executing nothing")
    parser.add_argument("--workers", type=int, default=None, help="runs at a time; all cores if it is not given")
    options = parser.parse_args()
    pages = [PAGES / f"{name}.md" for name in options.brains] or sorted(PAGES.glob("*.md"))
    for page in pages:
        if not page.is_file():
            sys.exit(f"brain_pages: there is no page {page}")
    if options.tables:
        for page in pages:
            page.write_text(renewed(page), encoding="utf-8")
        return
    if options.write:
        for page in pages:
            write(page, options.workers)
        return
    differing = [f"{page.stem}: {cell}" for page in pages for cell in check(page)]
    print("\n".join(differing) or f"{len(pages)} pages agree with runs executed now")
    sys.exit(bool(differing))


if __name__ == "__main__":
    main()
