"""Marks of a run: one byte for every few episodes, by which a page tells where another run left the recorded one."""

from base64 import b64encode
from collections.abc import Mapping
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from nematodebench.tasks.base import Task

__all__ = ["EVERY", "marks"]

EVERY = 8
"""Episodes of a mark on a board: its marks of 500 runs of 500 episodes are 44 KB."""


def marks(task: Task, records: Mapping[str, NDArray[np.float64]], every: int = 1) -> str:
    """How many episodes a mark stands for, and the marks: low bytes of a CRC-32 that goes on through all phases.

    The numbers are those of the record's hash, as little-endian float64. ``web/src/run/verdict.ts`` reads it.

    Args:
        task: With the columns that the records have.
        records: The episodes of one run, by phase.
        every: Episodes of a mark; the last one of a phase may stand for fewer.
    """
    found, crc = bytearray(), 0
    for phase in task.phases:
        rows = np.ascontiguousarray(records[phase.name], dtype="<f8")
        for first in range(0, len(rows), every):
            crc = crc32(rows[first : first + every].tobytes(), crc)
            found.append(crc & 255)
    return f"{every}:{b64encode(found).decode()}"
