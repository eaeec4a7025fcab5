"""Docstrings as parts of a page: paragraphs, tables and code; everything else in them is text."""

import re
from collections.abc import Iterator
from typing import Any

__all__ = ["html_line", "html_of"]

_CODE = re.compile(r"(?::\w+:)?``?~?([^`]+)``?")
"""Code, and what a reference of Sphinx names."""


def html_of(docstring: str) -> Any:
    """The docstring as HTML; every word of it is escaped."""
    from markupsafe import Markup

    blocks = re.split(r"\n\s*\n", docstring.strip())
    return Markup("\n").join(part for block in blocks for part in _block(block))


def _block(block: str) -> Iterator[Any]:
    """Tables begin with a bar, code with spaces; what stands between is a paragraph."""
    from markupsafe import Markup

    lines = block.splitlines()
    kinds = [
        "table" if line.startswith("|") else "code" if line.startswith(("    ", ">>>")) else "text" for line in lines
    ]
    start = 0
    for end in range(1, len(lines) + 1):
        if end < len(lines) and kinds[end] == kinds[start]:
            continue
        part = lines[start:end]
        if kinds[start] == "table":
            yield _table(part)
        elif kinds[start] == "code":
            yield Markup("<pre tabindex=0>{}</pre>").format("\n".join(part))
        else:
            yield Markup("<p>{}</p>").format(_inline(" ".join(part)))
        start = end


def html_line(text: str) -> Any:
    """One line with its code as HTML; every word of it is escaped."""
    return _inline(" ".join(text.split()))


def _inline(text: str) -> Any:
    from markupsafe import Markup

    parts = _CODE.split(text)
    return Markup("").join(Markup("<code>{}</code>").format(part) if k % 2 else part for k, part in enumerate(parts))


def _table(lines: list[str]) -> Any:
    from markupsafe import Markup

    rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines]
    body = [row for row in rows[1:] if not all(re.fullmatch(r":?-+:?", cell) for cell in row)]
    head = Markup("").join(Markup('<th scope="col">{}</th>').format(_inline(cell)) for cell in rows[0])
    made = [
        Markup("<tr>{}</tr>").format(
            Markup("").join(Markup('<td class="words">{}</td>').format(_inline(cell)) for cell in row)
        )
        for row in body
    ]
    whole = Markup(
        '<div class="scroll" role="region" aria-label="{}" tabindex="0"><table class="told">'
        "<thead><tr>{}</tr></thead><tbody>{}</tbody></table></div>"
    )
    return whole.format(" and ".join(rows[0]), head, Markup("").join(made))
