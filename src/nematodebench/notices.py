"""What a long step is at, told to whoever shows it. Nothing is printed here, and nobody has to listen."""

import contextlib
from collections.abc import Callable, Iterator
from typing import TypeAlias

__all__ = ["Listener", "listening", "tell"]

Listener: TypeAlias = Callable[[str], None]

_LISTENERS: list[Listener] = []


@contextlib.contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Hands everything that is told inside the block to ``listener``, and to no other."""
    _LISTENERS.append(listener)
    try:
        yield
    finally:
        _LISTENERS.remove(listener)


def tell(text: str) -> None:
    """Tells the listener of the innermost block."""
    if _LISTENERS:
        _LISTENERS[-1](text)
