"""Writes ``docs/tasks/*.md``, one page for each built-in task and an index, or checks that they are current.

Everything on a page comes from the task itself, its stored anchors, the published submissions and, in the index, from
independent searches for policies that ignore their input: ``--again wall-v2 pong-v2`` searches with other seeds and the
same budget, and keeps what came out in ``docs/tasks/searches/<task>.json``.
"""

import argparse
import json
import re
import sys
from pathlib import Path

from nematodebench.board.ranking import TaskBoard
from nematodebench.board.text import table
from nematodebench.calibration.anchors import SEARCH_TOLERANCE, search_advantage, search_again
from nematodebench.cli.task_page import published_boards, summary_table, task_page
from nematodebench.tasks.anchoring import TaskAnchors, load_anchors
from nematodebench.tasks.base import Task
from nematodebench.tasks.ranked import newer_version
from nematodebench.tasks.registry import built_in_tasks, get_task

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / "docs" / "tasks"
SEARCHES = PAGES / "searches"
PICTURES = ROOT / "docs" / "figures" / "scenes"
_TOP = 4
"""Lines of a page before its picture: title and summary, each with an empty line."""
_INDEX = """\
# Tasks

Written by `python scripts/task_pages.py --write`. Scores are normalised: 0 is chance, 1 the ceiling. A task is ranked
only if the null policy is within 0.01 of 0, the best policy found that ignores its input gets at most 0.25, the
reference at least 0.9, and at least two published learners are told apart
([EVALUATION.md](../nematodebench/EVALUATION.md#ranking)). *Resolution* is the share of pairs of published learners that
are told apart. *Motionless* takes the action `stay` in every step, the last action where there is no `stay`, and
leaves effectors at 0. A task that is not ranked stays runnable.
"""
_EARLIER = """\
## Earlier versions

What newer versions have replaced. They stay runnable, so that their scores can be measured again.
"""
_SEARCHED = f"""\
## The search behind each blind line

What was played to find the best policy that ignores its input ([blind.md](../blind.md) says how), for every task that
no newer version has replaced. *Independent search* is how much better (+) or worse (-) a second search with other seeds
and the same budget came out, as a share of the way from floor to ceiling; more than +{SEARCH_TOLERANCE:g} would show
that the first was too short. `python scripts/task_pages.py --again TASK` searches once more.
"""
_PLAYED = re.compile(r"([\d,]+) policies played, ([\d,]+) episodes, ([\d,]+) ticks")


def picture(task: Task) -> list[str]:
    """The lines with a still picture of a task's world, which leads to the moving one; none without a picture."""
    still = f"{task.world.name}.png"
    if not (PICTURES / still).is_file():
        return []
    films = [f"{name}.gif" for name in (task.id.rpartition("-v")[0], task.world.name)]
    film = next((name for name in films if (PICTURES / name).is_file()), None)
    image = f"![A moment in the world {task.world.name}](../figures/scenes/{still})"
    if film is None:
        return [image, ""]
    return [
        f"[{image}](../figures/scenes/{film})",
        "",
        f"A moment in the world. [It also moves](../figures/scenes/{film}).",
        "",
    ]


def _page(task: Task, board: TaskBoard | None) -> str:
    """A task's page: its title and summary, its picture, and all the rest."""
    lines = task_page(task, board)
    return "\n".join([*lines[:_TOP], *picture(task), *lines[_TOP:]]) + "\n"


def pages(root: Path = ROOT) -> dict[str, str]:
    """What every file should hold, by name."""
    boards, tasks = published_boards(root), list(built_in_tasks().values())
    found = {f"{task.id}.md": _page(task, boards.get(task.id)) for task in tasks}
    searched = "\n".join(_searched(tasks))
    current = [task for task in tasks if newer_version(task) is None]
    now, before = (
        "\n".join(summary_table(some, boards)) for some in (current, [task for task in tasks if task not in current])
    )
    index = f"{_INDEX}\n{now}\n\n{_EARLIER}\n{before}\n\n{_SEARCHED}\n{searched}\n"
    return {"README.md": index, **found}


def stale(wanted: dict[str, str], folder: Path = PAGES) -> list[str]:
    """Files that are not what they should be, are missing, or belong to no task."""
    there = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.md")}
    return sorted(name for name in {*wanted, *there} if wanted.get(name) != there.get(name))


def search(task: Task, workers: int) -> None:
    """Searches once more, and keeps what was found with the specification it was found on."""
    found = search_again(task, workers)
    kept = {"spec": task.spec_hash, "value": found.value, "se": found.se, "policy": found.policy}
    SEARCHES.mkdir(parents=True, exist_ok=True)
    text = json.dumps({**kept, "budget": found.budget}, indent=1) + "\n"
    (SEARCHES / f"{task.id}.json").write_text(text, encoding="utf-8")


def advantage(task: Task, anchors: TaskAnchors) -> float | None:
    """By how much the independent search was better than the stored line; None where nobody searched again."""
    path = SEARCHES / f"{task.id}.json"
    if not path.is_file() or anchors.blind is None:
        return None
    kept = json.loads(path.read_text(encoding="utf-8"))
    return search_advantage(anchors, kept["value"]) if kept["spec"] == task.spec_hash else None


def beaten(tasks: list[Task]) -> list[str]:
    """Tasks whose stored line an independent search has clearly beaten."""
    known = {task.id: load_anchors(task) for task in tasks}
    gaps = {task.id: advantage(task, anchors) for task in tasks if (anchors := known[task.id]) is not None}
    return [name for name, gap in gaps.items() if gap is not None and gap > SEARCH_TOLERANCE]


def _searched(tasks: list[Task]) -> list[str]:
    """The table of searches."""
    rows = []
    for task in tasks:
        anchors = load_anchors(task)
        if anchors is not None and anchors.blind is not None and newer_version(task) is None:
            match, gap = _PLAYED.search(anchors.blind.budget), advantage(task, anchors)
            played = [match[1], match[2], f"{int(match[3].replace(',', '')) / 1e6:.1f}"] if match else ["–"] * 3
            again = "not searched again" if gap is None else f"{gap:+z.3f}"
            rows.append([f"[{task.id}]({task.id}.md)", *played, again])
    return table(("task", "policies", "episodes", "million ticks", "independent search"), rows)


def main() -> None:
    """Entry point."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--write", action="store_true", help="write the pages")
    action.add_argument("--check", action="store_true", help="exit with 1 if a page is not current or a line is beaten")
    action.add_argument("--again", nargs="+", metavar="TASK", help="search once more on these tasks, then write")
    parser.add_argument("--workers", type=int, default=2, help="threads of a search")
    options = parser.parse_args()
    for name in options.again or []:
        search(get_task(name), options.workers)
        print(f"{name}: searched", flush=True)
    wanted = pages()
    old = stale(wanted)
    if not options.check:
        PAGES.mkdir(parents=True, exist_ok=True)
        for name in old:
            if name in wanted:
                (PAGES / name).write_text(wanted[name], encoding="utf-8")
            else:
                (PAGES / name).unlink()
    print("\n".join(f"{name}: {'NOT up to date' if options.check else 'written'}" for name in old) or "up to date")
    lost = beaten(list(built_in_tasks().values()))
    print("".join(f"{name}: an independent search is clearly better than the stored line\n" for name in lost), end="")
    sys.exit(bool(lost) or (bool(old) and options.check))


if __name__ == "__main__":
    main()
