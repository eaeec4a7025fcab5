"""What is wrong with a function that cannot be compiled, in one line that names the file and the line.

Numba tells it in dozens of lines, of which two matter: the place in the user's file, and what stands there.
"""

import linecache
import re
from pathlib import Path
from typing import Any

import numba

__all__ = ["cannot_be_compiled"]

_LIBRARIES = (Path(__file__).resolve().parents[1], Path(numba.__file__).resolve().parent)
_PLACE = re.compile(r"(?:at|Raised from) (?P<file>[^\n]+?\.py) \((?P<line>\d+)\)")
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_STEP = re.compile(r"(Failed in nopython mode pipeline|During:)[^\n]*\n?")
_SPECIFIC = re.compile(r"Numba\w*Error: (?P<text>[^\n]+)")
_CALL = re.compile(r">>> (?P<text>[^\n]+)")
_MADE = ("NRT required but not enabled", "Only accept returning of array passed into the function")
"""How Numba says that memory would have to be reserved."""
_NO_MEMORY = (
    "a compiled function makes no arrays, lists, dictionaries or texts. Declare what it needs in the memory, as in "
    "values = floats(8), and copy arrays in a loop"
)


def cannot_be_compiled(error: Exception, function: Any) -> str:
    """The line for an error that Numba raised while it compiled a function."""
    text = _COLOUR.sub("", str(error))
    file, line = _place(text, error, function)
    source = linecache.getline(file, line).strip()
    shown = f", `{source}`" if source else ""
    return f"{Path(file).name}, line {line}{shown}, cannot be compiled: {_reason(text)}"


def _place(text: str, error: Exception, function: Any) -> tuple[str, int]:
    """The innermost line that is neither in this package nor in Numba; the function's first one if there is none."""
    places = [(found["file"], int(found["line"])) for found in _PLACE.finditer(text)]
    told = getattr(error, "loc", None)
    if told is not None:
        places.append((str(told.filename), int(told.line)))
    for file, line in places:
        if not any(Path(file).resolve().is_relative_to(library) for library in _LIBRARIES):
            return file, line
    code = getattr(function, "py_func", function).__code__
    return code.co_filename, code.co_firstlineno


def _reason(text: str) -> str:
    """What is wrong there."""
    if any(words in text for words in _MADE):
        return f"{_NO_MEMORY}."
    if specific := [found["text"] for found in _SPECIFIC.finditer(text)]:
        reason = specific[0]
    elif call := _CALL.search(text):
        reason = f"there is no {call['text']}"
    else:
        reason = next((line.strip() for line in _STEP.sub("", text).splitlines() if line.strip()), "")
    return re.sub(r"\.* Raised from .*", "", _short(reason)).rstrip(".") + "."


def _short(text: str) -> str:
    """Names of types without their contents: ``Memory(my_brain.Memory;rate:constant()...)`` is ``my_brain.Memory``."""
    while found := re.search(r"\b(?:Memory|Block)\((?=[\w.]+;)", text):
        depth, end = 1, found.end()
        while depth and end < len(text):
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        name = text[found.end() : end].partition(";")[0]
        text = text[: found.start()] + name + text[end:]
    return re.sub(r"Literal\[(\w+)\]\(([^()]*)\)", r"\2", text)
