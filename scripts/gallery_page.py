"""Writes ``docs/gallery.md``: a picture of every task that has one under ``docs/figures/scenes/``, or checks the page.

A picture is called like its task (``foraging_small-v2.gif``), like its task without the version, or like its world; a
moving one is taken before a still one.
"""

import argparse
import sys
from pathlib import Path

from nematodebench.tasks.base import Task
from nematodebench.tasks.registry import built_in_tasks

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "gallery.md"
PICTURES = ROOT / "docs" / "figures" / "scenes"
_ENDINGS = ("gif", "webp", "png", "svg")
_TOP = """\
# Gallery

What the worlds look like, with a line about each task; the title leads to its page, with sensors, effectors, reward and
anchors. The pictures are drawn from real episodes by `python scripts/scene_pictures.py`, and this page is written by
`python scripts/gallery_page.py --write`.
"""


def newest(tasks: dict[str, Task]) -> list[Task]:
    """The newest version of every task, by name."""
    best: dict[str, Task] = {}
    for task in tasks.values():
        name = task.id.rpartition("-v")[0]
        if name not in best or _version(task) > _version(best[name]):
            best[name] = task
    return [best[name] for name in sorted(best)]


def _version(task: Task) -> int:
    return int(task.id.rpartition("-v")[2])


def picture_of(task: Task, folder: Path = PICTURES) -> str | None:
    """The name of a task's picture; None if there is none."""
    for name in (task.id, task.id.rpartition("-v")[0], task.world.name):
        for ending in _ENDINGS:
            if (folder / f"{name}.{ending}").is_file():
                return f"{name}.{ending}"
    return None


def page(folder: Path = PICTURES) -> str:
    """The page with the pictures that are there."""
    parts, without = [_TOP], []
    for task in newest(built_in_tasks()):
        picture, link = picture_of(task, folder), f"[{task.id}](tasks/{task.id}.md)"
        if picture is None:
            without.append(link)
        else:
            parts.append(f"\n## {link}\n\n{task.summary}\n\n![{task.id}](figures/scenes/{picture})\n")
    if without:
        parts.append(f"\n## Without a picture\n\n{', '.join(without)}\n")
    return "".join(parts)


def main() -> None:
    """Entry point."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--write", action="store_true", help="write the page")
    action.add_argument("--check", action="store_true", help="exit with 1 if the page is not current")
    wanted = page()
    if parser.parse_args().write:
        PAGE.write_text(wanted, encoding="utf-8")
    current = PAGE.is_file() and PAGE.read_text(encoding="utf-8") == wanted
    print(f"docs/gallery.md: {'up to date' if current else 'NOT up to date'}")
    sys.exit(not current)


if __name__ == "__main__":
    main()
