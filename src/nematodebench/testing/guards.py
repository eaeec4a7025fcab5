"""Arrays between strips that nobody may write to."""

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

__all__ = ["Guarded"]

_STRIP = 64


class Guarded:
    """Zeros with a strip of marks on either side: compiled code checks no bounds, so this does."""

    def __init__(self, shape: tuple[int, ...], dtype: DTypeLike, mark: float = 77.0) -> None:
        size = int(np.prod(shape))
        self._whole: NDArray[Any] = np.full(size + 2 * _STRIP, mark, dtype)
        self._strip = self._whole[:_STRIP].tobytes()
        self.array: NDArray[Any] = self._whole[_STRIP : _STRIP + size].reshape(shape)
        self.array[...] = 0

    @property
    def intact(self) -> bool:
        """Whether the strips are as they were."""
        return self._whole[:_STRIP].tobytes() == self._strip == self._whole[-_STRIP:].tobytes()
