"""Random numbers for runs side by side: every lane has a generator of its own and draws from no other."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Streams"]


class Streams:
    """Lane n draws what ``numpy.random.default_rng(seeds[n]).random()`` would, however many lanes there are.

    Numbers are made in blocks, because a call of a generator costs more than a number.
    """

    def __init__(self, seeds: Sequence[int], block: int = 1024) -> None:
        """Makes a generator a lane.

        Args:
            seeds: The seeds of the lanes.
            block: Numbers that a lane makes at a time.
        """
        self._generators = [np.random.default_rng(seed) for seed in seeds]
        self._block = np.zeros((len(seeds), block + 1))  # the last column is what a lane gets that draws nothing
        self._next = np.full(len(seeds), block)
        self._sure = 0  # calls before any lane can have used up its numbers
        self._all = np.arange(len(seeds))

    def state_of(self, lane: int) -> dict[str, Any]:
        """Where a lane is: its generator, and the numbers it has made already."""
        generator, numbers = self._generators[lane].bit_generator.state, self._block[lane, :-1].copy()
        return {"generator": generator, "numbers": numbers, "next": int(self._next[lane])}

    def put(self, lane: int, state: dict[str, Any]) -> None:
        """Sets a lane to where another one was."""
        self._generators[lane].bit_generator.state = state["generator"]
        self._block[lane, :-1], self._next[lane] = state["numbers"], state["next"]
        self._sure = 0

    def random(self, lanes: NDArray[np.bool_]) -> NDArray[np.float64]:
        """The next number in [0, 1) of the given lanes; the others draw nothing, and their numbers mean nothing."""
        size = self._block.shape[1] - 1
        if self._sure == 0:
            for lane in np.flatnonzero(lanes & (self._next == size)):
                self._block[lane, :-1] = self._generators[lane].random(size)
                self._next[lane] = 0
            self._sure = max(1, size - int(self._next.max()))
        self._sure -= 1
        numbers: NDArray[np.float64] = self._block[self._all, self._next]
        self._next += lanes
        return numbers
