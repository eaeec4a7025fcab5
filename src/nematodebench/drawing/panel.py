"""What stands above and below a scene: the caption, numbers, bars and the legend; and labels inside it."""

from dataclasses import dataclass
from functools import cache

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from nematodebench.drawing.frames import Frame
from nematodebench.drawing.palette import Colour, Theme
from nematodebench.kernels.scene import BAR, LABEL, READOUT, ROLES
from nematodebench.worlds.picture import Picture

__all__ = ["Panel", "Words", "draw_labels", "font", "words_of"]

_SMALL, _AT = 11.0, 300
"""Height of letters at a width, both in pixels; in larger pictures they grow more slowly."""
_GROWTH = 0.75


@cache
def font(size: float) -> ImageFont.FreeTypeFont:
    """The font that comes with Pillow, so that pictures are the same on every machine."""
    found = ImageFont.load_default(size)
    assert isinstance(found, ImageFont.FreeTypeFont)
    return found


def _spaced(text: str) -> str:
    """The text as it is drawn: a space of this font has two pixels in small letters, and words would run together."""
    return text.replace(" ", "  ")


def _number(value: float, decimals: float) -> str:
    return f"{value:.{int(decimals)}f}"


def _text(picture: Picture, word: float, decimals: float, value: float) -> str:
    name = picture.words[int(word)] if 0 <= word < len(picture.words) else ""
    return " ".join(part for part in (name, _number(value, decimals) if decimals >= 0 else "") if part)


@dataclass(frozen=True)
class Words:
    """What stands around a scene, for those who write it themselves.

    Attributes:
        numbers: The numbers above the scene, each with its name.
        bars: Name, share and colour of every bar.
        legend: What each colour means.
        field: What the ground shows; empty if the world has no field.
    """

    numbers: list[str]
    bars: list[tuple[str, float, Colour]]
    legend: list[tuple[Colour, str]]
    field: str


def words_of(picture: Picture, frame: Frame, theme: Theme) -> Words:
    """What stands around a scene at one moment."""
    numbers = [_text(picture, row[4], row[5], row[7]) for row in frame.of_kind(READOUT)]
    bars = [(_text(picture, row[4], -1.0, 0.0), float(row[7]), theme.role(row[1])) for row in frame.of_kind(BAR)]
    legend = [(theme.role(ROLES.index(role)), word) for role, word in picture.legend.items()]
    return Words(numbers, bars, legend, picture.field)


class Panel:
    """Lines of text and bars around a scene of some width."""

    def __init__(self, picture: Picture, width: int, theme: Theme, caption: str = "") -> None:
        self.picture, self.width, self.theme, self.caption = picture, width, theme, caption
        self.size: int = round(_SMALL * (width / _AT) ** _GROWTH)
        self.line: int = round(1.55 * self.size)
        self.margin: int = round(0.6 * self.size)
        self._font = font(self.size)
        self._legend = self._legend_lines()

    def _width(self, text: str) -> float:
        return self._font.getlength(_spaced(text))

    def _write(
        self, pen: ImageDraw.ImageDraw, place: tuple[float, float], text: str, fill: Colour, anchor: str = "la"
    ) -> None:
        pen.text(place, _spaced(text), fill=fill, font=self._font, anchor=anchor)

    def _legend_lines(self) -> list[list[tuple[str, str]]]:
        """The legend's entries (role, word) in as many lines as they need."""
        entries = [*self.picture.legend.items(), *([("field", self.picture.field)] if self.picture.field else [])]
        lines: list[list[tuple[str, str]]] = []
        room = 0.0
        for role, word in entries:
            needed = self._width(word) + 2.6 * self.size
            if needed > room or not lines:
                lines.append([])
                room = self.width - 2.0 * self.margin
            lines[-1].append((role, word))
            room -= needed
        return lines

    def head(self, frame: Frame) -> int:
        """Pixels above the scene."""
        lines = int(bool(self.caption)) + int(len(frame.of_kind(READOUT)) > 0)
        return lines * self.line + self.margin * bool(lines)

    def foot(self, frame: Frame) -> int:
        """Pixels below the scene."""
        lines = len(frame.of_kind(BAR)) + len(self._legend)
        return lines * self.line + self.margin * bool(lines)

    def draw_head(self, pen: ImageDraw.ImageDraw, frame: Frame) -> None:
        """The caption, then all numbers in one line."""
        y = self.margin / 2
        if self.caption:
            self._write(pen, (self.margin, y), self._fit(self.caption), self.theme.role(ROLES.index("ink")))
            y += self.line
        numbers = words_of(self.picture, frame, self.theme).numbers
        self._write(pen, (self.margin, y), self._fit("  ".join(numbers)), self._muted)

    @property
    def _muted(self) -> Colour:
        return self.theme.role(ROLES.index("muted"))

    def _fit(self, text: str) -> str:
        while self._width(text) > self.width - 2 * self.margin and len(text) > 1:
            text = text[:-2].rstrip() + "…"
        return text

    def draw_foot(self, pen: ImageDraw.ImageDraw, frame: Frame, top: int) -> None:
        """Bars, one a line, then the legend."""
        y = top + self.margin * 0.6
        bars = words_of(self.picture, frame, self.theme).bars
        start = self.margin + max((self._width(name) for name, _, _ in bars), default=0.0) + self.size
        for name, share, colour in bars:
            self._write(pen, (self.margin, y), name, self._muted)
            self._draw_bar(pen, start, y, share, colour)
            y += self.line
        for entries in self._legend:
            x = float(self.margin)
            for role, word in entries:
                self._draw_swatch(pen, x, y, role)
                self._write(pen, (x + 1.3 * self.size, y), word, self._muted)
                x += self._width(word) + 2.6 * self.size
            y += self.line

    def _draw_bar(self, pen: ImageDraw.ImageDraw, start: float, y: float, share: float, colour: Colour) -> None:
        number = f"{100 * share:.0f} %"
        end = self.width - self.margin - self._width("100 %") - self.size / 2
        top, bottom = y + 0.3 * self.size, y + 0.95 * self.size
        pen.rounded_rectangle((start, top, end, bottom), radius=self.size * 0.3, fill=self.theme.hairline)
        if share * (end - start) >= 1.0:
            pen.rounded_rectangle((start, top, start + share * (end - start), bottom), self.size * 0.3, fill=colour)
        self._write(pen, (self.width - self.margin, y), number, self._muted, "ra")

    def _draw_swatch(self, pen: ImageDraw.ImageDraw, x: float, y: float, role: str) -> None:
        top, size = y + 0.3 * self.size, 0.8 * self.size
        if role != "field":
            pen.rounded_rectangle((x, top, x + size, top + size), size / 3, fill=self.theme.role(ROLES.index(role)))
            return
        ramp = self.theme.field(np.linspace(0.0, 1.0, 8, dtype=np.float32))
        for n, colour in enumerate(ramp):
            left = x + n * size / 8
            pen.rectangle(
                (left, top, left + size / 8, top + size), fill=(int(colour[0]), int(colour[1]), int(colour[2]))
            )


def draw_labels(image: Image.Image, picture: Picture, frame: Frame, theme: Theme, top: int) -> None:
    """Labels inside a scene that begins ``top`` pixels below the upper edge."""
    left, _, right, upper = picture.view
    scale = image.width / (right - left)
    pen = ImageDraw.Draw(image)
    for row in frame.of_kind(LABEL):
        _, role, x, y, word, height, decimals, value = (float(number) for number in row)
        place = (x - left) * scale, top + (upper - y) * scale
        letters = font(max(8.0, round(height * scale)))
        text = _spaced(_text(picture, word, decimals, value))
        pen.text(place, text, fill=theme.role(role), font=letters, anchor="mm")
