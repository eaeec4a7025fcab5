"""Draws figures: SVG and PNG from one specification, the same bytes for the same figure."""

import re
from collections.abc import Callable

from nematodebench.errors import UsageError
from nematodebench.figures.figure import Figure
from nematodebench.figures.style import FONT, INK, LINE_ROLES, MUTED, RULE, SERIES

__all__ = ["FORMATS", "page_svg", "png", "svg", "with_fonts", "written"]

_LONG_NUMBER = re.compile(r"-?\d+\.\d{3,}(?:e-?\d+)?")
_DRAWING = re.compile(r'( (?:d|transform|x|y|x1|x2|y1|y2|width|height|r)=")([^"]*)(")')
_PAPER = "#ffffff"
_FONTS = f'font-family="{FONT}, Arial, Helvetica, sans-serif"'


def svg(figure: Figure, *, titled: bool = True, background: str | None = _PAPER) -> str:
    """The figure as SVG."""
    import vl_convert

    content = figure.vega_lite(titled=titled)
    if background is not None:
        content["background"] = background
    drawn: str = vl_convert.vegalite_to_svg(content, allowed_base_urls=[])
    return with_fonts(_DRAWING.sub(_shortened, drawn))


def with_fonts(drawn: str) -> str:
    """The drawing with other fonts of the same widths, for readers who lack the one that it was measured with."""
    return drawn.replace(f'font-family="{FONT}"', _FONTS).replace(f"font-family=\"'{FONT}'\"", _FONTS)


def _shortened(found: re.Match[str]) -> str:
    """Coordinates with two decimals: nobody sees more, and files are a third smaller."""
    begin, content, end = found.groups()
    return begin + _LONG_NUMBER.sub(lambda number: f"{float(number[0]):.2f}".rstrip("0").rstrip("."), content) + end


def png(figure: Figure, scale: float = 2.0) -> bytes:
    """The figure as PNG, on white."""
    import vl_convert

    drawn: bytes = vl_convert.svg_to_png(svg(figure), scale=scale)
    return drawn


def page_svg(figure: Figure, key: str) -> str:
    """The figure as a part of a page: without its title, in the page's font, with colours that follow light and dark.

    Args:
        figure: The figure.
        key: Of the element, unique in its page.
    """
    drawn = svg(figure, titled=False, background=None)
    for colour, name in _variables().items():
        drawn = drawn.replace(f'"{colour}"', f'"var(--{name}, {colour})"')
    drawn = drawn.replace(_FONTS, "")
    size = re.search(r'width="([\d.]+)" height="([\d.]+)"', drawn)
    width = size[1] if size else "640"
    style = f"max-width:{width}px;min-width:min(34rem,{width}px)"
    head = f'<svg role="img" aria-labelledby="{key}-title" style="{style}" class="figure"'
    drawn = re.sub(r'^<svg([^>]*?) class="marks" width="[\d.]+" height="[\d.]+"', rf"{head}\1", drawn)
    # One picture with one name: a screen reader does not go through thousands of marks.
    drawn = re.sub(r' (?:role="graphics-[a-z]+"|aria-roledescription="[^"]*")', "", drawn)
    return re.sub(r'(?<=.) aria-label="[^"]*"', "", drawn)


def _variables() -> dict[str, str]:
    """Colours of figures, with the page's variables that stand for them."""
    series = {colour: f"series-{k}" for k, colour in enumerate(SERIES)}
    return {**series, **{colour: role for role, colour in LINE_ROLES.items()}, INK: "ink", MUTED: "muted", RULE: "rule"}


def _text(write: Callable[[Figure], str]) -> Callable[[Figure], bytes]:
    return lambda figure: write(figure).encode()


FORMATS: dict[str, Callable[[Figure], bytes]] = {
    "svg": _text(svg), "png": png, "csv": _text(Figure.csv), "json": _text(Figure.json),
}  # fmt: skip
"""What a figure can be written as, by the ending of the file."""


def written(figure: Figure, ending: str) -> bytes:
    """The figure in one of its formats."""
    if ending not in FORMATS:
        raise UsageError(f"A figure cannot be written as {ending!r}. Choose {', '.join(FORMATS)}.")
    return FORMATS[ending](figure)
