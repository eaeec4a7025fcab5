"""Where the named arrays of a brain lie in its flat memory: a page reads them there, to show them and to hash them.

What a brain has learned is told by its ``learned``, in Python. A page has no Python, so it is asked here what it would
tell of a memory in which every number is its own place.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from nematodebench.kernels.memory import Layout, Memory

__all__ = ["fields_of", "learned_arrays"]


def _fields(brain: Memory, prefix: str = "") -> Iterator[dict[str, Any]]:
    for name, field in type(brain).fields.items():
        if field.part is not None:
            yield from _fields(brain._part(field), f"{prefix}{name}.")
        elif not field.is_loaded and field.kind != "constants":
            array, at = brain._where(field)
            bank = "ints" if array is brain._arrays[1] else "mem"
            yield {"name": prefix + name, "bank": bank, "at": int(at), "shape": list(np.shape(getattr(brain, name)))}


def fields_of(memory: type[Memory], layout: Layout) -> Iterator[dict[str, Any]]:
    """All that a brain writes: name, bank (``ints`` or ``mem``), place and shape."""
    yield from _fields(memory(layout.hyper, layout.ints.copy(), np.zeros(layout.memory, dtype=np.float32)))


def _told(memory: type[Memory], layout: Layout, counters: list[int], marked: bool) -> tuple[list[Any], Any, Any]:
    """What a brain tells of a memory in which each float is its place, and counters are 0, or numbers from 1 on."""
    ints, mem = layout.ints.copy(), np.arange(max(1, layout.memory), dtype=np.float32)
    for mark, place in enumerate(counters, start=1):
        ints[place] = mark if marked else 0
    return list(memory(layout.hyper, ints, mem).learned()), ints, mem


def _place(value: Any, bank: Any) -> tuple[int, list[int]] | None:
    """Where an array lies in a bank, and its strides in elements; None if it is not of this bank."""
    if not np.may_share_memory(value, bank) or not value.size:
        return None
    begin = value.__array_interface__["data"][0] - bank.__array_interface__["data"][0]
    return begin // bank.itemsize, [stride // bank.itemsize for stride in value.strides]


def learned_arrays(memory: type[Memory], layout: Layout) -> Iterator[dict[str, Any]]:
    """What a brain has learned, in the order of its hash: name, bank, place, shape and strides of every array.

    A list that is only so long as a counter says has the counter's place as its ``count``.
    """
    counters = [one["at"] for one in fields_of(memory, layout) if one["bank"] == "ints" and not one["shape"]]
    marked, ints, mem = _told(memory, layout, counters, True)
    empty, _, _ = _told(memory, layout, counters, False)
    for (name, value), (_, other) in zip(marked, empty, strict=True):
        bank = "mem" if value.dtype == np.float32 else "ints"
        entry: dict[str, Any] = {"name": name, "bank": bank, "shape": list(value.shape)}
        found = _place(value, mem if bank == "mem" else ints)
        if found is not None:
            entry["at"], entry["strides"] = found
        elif not value.shape:
            number = int(value)
            entry |= {"at": number if bank == "mem" else counters[number - 1], "strides": []}
        else:
            raise TypeError(f"{name!r} of {memory.__qualname__} is no view of its memory: a page cannot read it")
        if value.shape != other.shape:
            entry["count"] = counters[value.shape[0] - 1]
        yield entry
