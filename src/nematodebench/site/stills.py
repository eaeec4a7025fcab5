"""Pictures of worlds for pages: a moment of an episode, for readers whose browser executes nothing."""

import struct
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nematodebench.tasks.base import Task

__all__ = ["SCENES", "Stills"]

SCENES = Path("docs", "figures", "scenes")
"""Where a repository keeps them; those on dark ground in a folder of their own."""
_PARTS = ("", "dark/")


@dataclass(frozen=True)
class Stills:
    """The pictures that a repository has of the worlds of some tasks, by their place in the site."""

    files: dict[str, bytes]

    @classmethod
    def of(cls, root: Path, tasks: Iterable[Task]) -> "Stills":
        """Reads them; a world without a picture has none."""
        names = sorted({task.world.name for task in tasks})
        found = {f"pictures/{part}{name}.png": root / SCENES / f"{part}{name}.png" for name in names for part in _PARTS}
        return cls({place: path.read_bytes() for place, path in found.items() if path.is_file()})

    def of_task(self, task: Task) -> dict[str, Any] | None:
        """What a template needs of the picture of a task's world; None where there is none."""
        place, dark = (f"pictures/{part}{task.world.name}.png" for part in _PARTS)
        if place not in self.files:
            return None
        size = _size(self.files[place])
        return {"file": place, "dark": dark if dark in self.files else "", "world": task.world.name, "size": size}


def _size(content: bytes) -> tuple[int, int]:
    """Width and height of a PNG picture: a page keeps room for it before it is there."""
    width, height = struct.unpack(">II", content[16:24])
    return int(width), int(height)
