"""The names of brains, and the modules they are in. Files are read, not imported: a name needs no library."""

import re
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

__all__ = ["built_in_modules", "offered_brains", "older_names"]

_PACKAGE = "nematodebench.brains"
_FOLDER = Path(__file__).parent
_NAME = r'name(?:: ClassVar\[str\]|(?:, \w+)+)? = "([a-z0-9_]+)".*'
_ALIASES = r"aliases(?:: ClassVar\[tuple\[str, \.\.\.\]\])? = \(([a-z0-9_\", ]*)\)"
_DECLARED = re.compile(f"^    (?:{_NAME}|{_ALIASES})$", re.MULTILINE)


@cache
def _declared() -> tuple[dict[str, str], dict[str, str]]:
    """The package's brains with the modules they are in, and older names with the names of today.

    Every file that defines a class with ``name = "..."`` is a brain's; any other is a helper. A line
    ``aliases = ("...",)`` after it gives names under which the brain was known.
    """
    modules: dict[str, str] = {}
    aliases: dict[str, str] = {}
    for path in sorted(_FOLDER.glob("*/*.py")):
        current = ""
        for name, older in _DECLARED.findall(path.read_text(encoding="utf-8")):
            current = name or current
            modules[current] = f"{_PACKAGE}.{path.parent.name}.{path.stem}"
            aliases.update(dict.fromkeys(re.findall(r'"([a-z0-9_]+)"', older), current))
    return modules, aliases


def built_in_modules() -> dict[str, str]:
    """The package's brains, with the modules they are in."""
    return _declared()[0]


def older_names() -> dict[str, str]:
    """Names under which brains were known, with the names of today."""
    return _declared()[1]


@cache
def offered_brains() -> dict[str, EntryPoint]:
    """The brains that other packages offer."""
    return {point.name: point for point in entry_points(group="nematodebench.brains")}
