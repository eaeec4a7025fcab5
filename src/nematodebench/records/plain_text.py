"""What may stand in text that others wrote and we show."""

import unicodedata

__all__ = ["is_invisible"]

_INVISIBLE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
"""Unicode categories of control, format and unassigned characters and of line separators."""


def is_invisible(character: str) -> bool:
    """Whether a terminal or a browser would act on a character instead of showing it."""
    return unicodedata.category(character) in _INVISIBLE
