"""What may stand in text that others wrote and we show."""

import unicodedata

__all__ = ["is_invisible", "plain"]

_INVISIBLE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
"""Unicode categories of control, format and unassigned characters and of line separators."""


def is_invisible(character: str) -> bool:
    """Whether a terminal or a browser would act on a character instead of showing it."""
    return unicodedata.category(character) in _INVISIBLE


def plain(text: str, limit: int = 500) -> str:
    """Text that somebody else wrote, fit to be shown: one line, nothing invisible, not longer than ``limit``."""
    shown = "".join("?" if is_invisible(character) else character for character in " ".join(text.split()))
    return shown if len(shown) <= limit else f"{shown[: limit - 3]}..."
