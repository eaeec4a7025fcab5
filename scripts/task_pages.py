"""Writes ``docs/tasks/*.md``, one page for each built-in task and an index, or checks that they are current.

Everything on a page comes from the task itself, its stored anchors and the published submissions.
"""

import argparse
import sys
from pathlib import Path

from nematodebench.cli.task_page import published_boards, summary_table, task_page
from nematodebench.tasks.registry import built_in_tasks

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / "docs" / "tasks"
_INDEX = """\
# Tasks

Written by `python scripts/task_pages.py --write`. Scores are normalised: 0 is chance, 1 the ceiling. A task is ranked
only if the null policy is within 0.01 of 0, the best policy found that ignores its input gets at most 0.25, the
reference at least 0.9, and at least two published learners are told apart
([EVALUATION.md](../nematodebench/EVALUATION.md#ranking)). *Resolution* is the share of pairs of published learners that
are told apart. *Motionless* takes the action `stay` in every step, the last action where there is no `stay`, and
leaves effectors at 0. A task that is not ranked stays runnable.
"""


def pages(root: Path = ROOT) -> dict[str, str]:
    """What every file should hold, by name."""
    boards, tasks = published_boards(root), list(built_in_tasks().values())
    found = {f"{task.id}.md": "\n".join(task_page(task, boards.get(task.id))) + "\n" for task in tasks}
    return {"README.md": _INDEX + "\n" + "\n".join(summary_table(tasks, boards)) + "\n", **found}


def stale(wanted: dict[str, str], folder: Path = PAGES) -> list[str]:
    """Files that are not what they should be, are missing, or belong to no task."""
    there = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.md")}
    return sorted(name for name in {*wanted, *there} if wanted.get(name) != there.get(name))


def main() -> None:
    """Entry point."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--write", action="store_true", help="write the pages")
    action.add_argument("--check", action="store_true", help="exit with 1 if a page is not current")
    options = parser.parse_args()
    wanted = pages()
    old = stale(wanted)
    if options.write:
        PAGES.mkdir(parents=True, exist_ok=True)
        for name in old:
            if name in wanted:
                (PAGES / name).write_text(wanted[name], encoding="utf-8")
            else:
                (PAGES / name).unlink()
    print("\n".join(f"{name}: {'written' if options.write else 'NOT up to date'}" for name in old) or "up to date")
    sys.exit(bool(old) and options.check)


if __name__ == "__main__":
    main()
