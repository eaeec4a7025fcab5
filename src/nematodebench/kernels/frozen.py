"""What machine code of somebody else's functions is made of, as it is in this process.

Globals become constants when they are compiled. A table that a module reads from a file or computes from the
environment is such a value, and the sources do not change with it. The functions themselves count as they were
imported: whoever edits a file before they are compiled has other code on disk than in memory.
"""

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

__all__ = ["frozen_values"]

_PACKAGE = str(Path(__file__).resolve().parent.parent)


def frozen_values(function: Callable[..., Any]) -> str:
    """A hash of a function and those it calls, with all that they take from their modules; nothing of ours counts."""
    digest, seen, waiting = hashlib.sha256(), set[CodeType](), [function]
    while waiting:
        one = waiting.pop()
        one = getattr(one, "py_func", one)
        if not isinstance(one, FunctionType) or one.__code__ in seen or _is_ours(one):
            continue
        seen.add(one.__code__)
        digest.update(f"{_told(one.__code__)};".encode())
        for name, value in _outer_values(one):
            digest.update(f"{name}={told};".encode() if (told := _told(value)) else b"")
            waiting.append(value)
    return digest.hexdigest()


def _is_ours(function: FunctionType) -> bool:
    return function.__code__.co_filename.startswith(_PACKAGE)


def _outer_values(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """What a function finds under names that are not its own, sorted; of modules, what it asks them for."""
    names = sorted(_names(function.__code__))
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    yield from ((name, cell.cell_contents) for name, cell in cells)
    for name in names:
        value = function.__globals__.get(name)
        if isinstance(value, ModuleType):
            yield from ((f"{name}.{part}", getattr(value, part)) for part in names if hasattr(value, part))
        else:
            yield name, value


def _names(code: CodeType) -> set[str]:
    inner = [_names(one) for one in code.co_consts if isinstance(one, CodeType)]
    return set(code.co_names).union(*inner)


def _told(value: Any) -> str:
    """A value in words that are the same in every process; empty for what is no number, text, array, code or memory."""
    if isinstance(value, np.ndarray):
        plain = value.dtype.kind in "biufc"
        return f"{value.dtype}{value.shape}{hashlib.sha256(value.tobytes()).hexdigest()}" if plain else ""
    if isinstance(value, bool | int | float | complex | str | bytes | np.generic):
        return f"{type(value).__name__} {value!r}"
    if isinstance(value, tuple):
        return f"({','.join(map(_told, value))})"
    if isinstance(value, CodeType):
        return f"{value.co_code.hex()} {value.co_names} {value.co_varnames} {_told(value.co_consts)}"
    fields = getattr(value, "fields", None)
    if isinstance(value, type) and isinstance(fields, dict):  # a declared memory: its order and sizes are in the code
        return ",".join(f"{name} {field!r} {_told(getattr(field, 'part', None))}" for name, field in fields.items())
    return ""
