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

What the tasks look like. A task's page has its sensors, effectors, reward and anchors. A picture shows a real episode
of the brain that is named in its first line, after its training; some act at random, and some follow a fixed rule.
They are drawn by `python scripts/scene_pictures.py`; this page is written by `python scripts/gallery_page.py --write`.
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
    shown: dict[str, list[str]] = {}
    for task in newest(built_in_tasks()):
        line = f"- [{task.id}](tasks/{task.id}.md): {task.summary}"
        shown.setdefault(picture_of(task, folder) or "", []).append(line)
    without = shown.pop("", [])
    parts = [_section(picture.rpartition(".")[0], lines, picture) for picture, lines in shown.items()]
    return "".join([_TOP, *parts, *([_section("Without a picture", without)] if without else [])])


def _section(title: str, lines: list[str], picture: str = "") -> str:
    """A picture with the tasks that it shows."""
    image = f"![{title}](figures/scenes/{picture})\n\n" if picture else ""
    return f"\n## {title}\n\n{image}" + "\n".join(lines) + "\n"


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
