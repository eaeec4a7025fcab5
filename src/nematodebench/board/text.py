"""Puts text of others into our Markdown so that it is shown as it is and does nothing."""

import re
from collections.abc import Sequence
from urllib.parse import quote

from nematodebench.records.plain_text import is_invisible

__all__ = ["code", "escape", "link", "table"]

_PLAIN_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:-]*")
_HARMLESS = set(" -,'()")


def escape(text: str) -> str:
    """Words that mean nothing to Markdown or HTML: punctuation becomes character references, which never structure.

    Line breaks and invisible characters become spaces. A full stop inside a word is taken for the middle of an address.
    """
    words = "".join(" " if is_invisible(character) else character for character in text).split()
    return " ".join(_word(word) for word in words)


def _word(word: str) -> str:
    inner, end = (word[:-1], word[-1:]) if word.endswith(".") else (word, "")
    return "".join(c if c in _HARMLESS or not c.isascii() or c.isalnum() else f"&#{ord(c)};" for c in inner) + end


def code(name: str) -> str:
    """A name as code, where it is a plain one."""
    return f"`{name}`" if _PLAIN_NAME.fullmatch(name) else escape(name)


def link(label: str, target: str) -> str:
    """A link; ``label`` is Markdown already, ``target`` is not."""
    return f"[{label}]({quote(target, safe='/:.')})"


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """The lines of a Markdown table."""
    return [f"| {' | '.join(line)} |" for line in (header, ["---"] * len(header), *rows)]
