"""What a scene wrote of one moment, and what a renderer remembers of the moments before."""

from collections import deque
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nematodebench.kernels.abi import SCENE
from nematodebench.kernels.jit import F32M, F64M, first_class
from nematodebench.kernels.scene import BODY, COLUMNS, FIELD_SIDE, ROWS, TRACE
from nematodebench.worlds.arrays import WorldArrays

__all__ = ["Frame", "History", "capture"]

_LONGEST = 2048
"""How many moments are remembered at most, whatever a scene asks for."""


@dataclass(frozen=True)
class Frame:
    """One moment of a world.

    Attributes:
        rows: The primitives.
        field: The raster under them; None if the world has none.
        text: The world as text, for worlds without a scene.
    """

    rows: F64M
    field: F32M | None = None
    text: str = ""

    def of_kind(self, kind: float) -> F64M:
        """The rows of one kind."""
        found: F64M = self.rows[self.rows[:, 0] == kind]
        return found


def capture(arrays: WorldArrays, copy: int = 0) -> Frame:
    """Asks a world's scene for the present moment; it is compiled when it is asked first."""
    world = arrays.world
    if world.scene is None:
        return Frame(np.zeros((0, COLUMNS)), text=world.text(arrays.state(copy)))
    rows, field = np.zeros((ROWS, COLUMNS)), np.zeros((FIELD_SIDE, FIELD_SIDE), dtype=np.float32)
    scene = first_class(world.scene, SCENE)
    seen = arrays.params, arrays.states[copy], arrays.action[copy], arrays.obs[copy], arrays.outs[copy]
    count = scene(*seen, rows, field)
    return Frame(rows[:count].copy(), field if world.picture().field else None)


class History:
    """Where bodies were and what traces showed, the latest last: the n-th of one moment is the n-th of the next."""

    def __init__(self) -> None:
        self.bodies: list[deque[tuple[float, float]]] = []
        self.traces: list[deque[float]] = []

    def clear(self) -> None:
        """Forgets everything: another episode begins."""
        self.bodies, self.traces = [], []

    def add(self, frame: Frame) -> None:
        """Takes in a moment."""
        bodies, traces = frame.of_kind(BODY), frame.of_kind(TRACE)
        self.bodies += [deque(maxlen=_LONGEST) for _ in range(len(bodies) - len(self.bodies))]
        self.traces += [deque(maxlen=_LONGEST) for _ in range(len(traces) - len(self.traces))]
        for past, row in zip(self.bodies, bodies, strict=False):
            past.append((float(row[2]), float(row[3])))
        for values, row in zip(self.traces, traces, strict=False):
            values.append(float(row[7]))

    def course(self, body: int) -> NDArray[np.float64]:
        """Places of a body, the latest first, each once as long as it stayed there."""
        past = np.array(self.bodies[body], dtype=np.float64)[::-1]
        moved = np.r_[True, (np.diff(past, axis=0) != 0.0).any(axis=1)]
        kept: NDArray[np.float64] = past[moved]
        return kept
