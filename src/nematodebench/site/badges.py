"""Badges: a small SVG with a label and a value, for a README."""

from xml.sax.saxutils import escape

__all__ = ["badge"]

_WIDTH, _PADDING = 6.6, 10
_MOST = 60


def badge(words: tuple[str, str]) -> str:
    """The badge of a label and a value."""
    label, value = (word if len(word) <= _MOST else f"{word[: _MOST - 1]}…" for word in words)
    left, right = (round(_WIDTH * len(word) + 2 * _PADDING) for word in (label, value))
    shown = escape(f"{label}: {value}", {'"': "&quot;"})
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img" aria-label="{shown}">'
        f'<rect width="{left + right}" height="20" rx="3" fill="#444"/>'
        f'<path d="M{left} 0h{right - 3}a3 3 0 0 1 3 3v14a3 3 0 0 1-3 3h-{right - 3}z" fill="#005f94"/>'
        f'<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle">'
        f'<text x="{left / 2}" y="14">{escape(label)}</text>'
        f'<text x="{left + right / 2}" y="14">{escape(value)}</text></g></svg>\n'
    )
