"""Draws rows of primitives with Pillow: larger than wanted, then reduced, which smooths all edges alike."""

import itertools
import math
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from nematodebench.drawing.bodies import draw_body, trail
from nematodebench.drawing.frames import Frame, History
from nematodebench.drawing.palette import Colour, Theme
from nematodebench.kernels.scene import BODY, KINDS, ROLES, TRACE
from nematodebench.worlds.picture import Picture

__all__ = ["Canvas", "draw_scene"]

_FINE = 3
"""How many times larger a picture is drawn than it will be."""
_LEAST_RADIUS = 1.6
"""Pixels: nothing is drawn smaller, so that it can be seen."""
_NEAR = 1e-3
"""Slices are side by side if they are not farther from it than this share of their width."""

Point = tuple[float, float]


class Canvas:
    """A picture of a view in the world's own units, y up."""

    def __init__(self, picture: Picture, width: int, theme: Theme) -> None:
        left, bottom, right, top = picture.view
        self.picture, self.theme = picture, theme
        self.height = max(1, round(width * (top - bottom) / (right - left)))
        self.scale = _FINE * width / (right - left)
        self.image = Image.new("RGB", (_FINE * width, _FINE * self.height), theme.surface)
        self._pen = ImageDraw.Draw(self.image, "RGBA")

    def point(self, x: float, y: float) -> Point:
        """Where a place lies on the large picture."""
        return (x - self.picture.view[0]) * self.scale, (self.picture.view[3] - y) * self.scale

    def length(self, size: float, least: float = _LEAST_RADIUS) -> float:
        """A length on the large picture, never so small that it is not seen."""
        return max(size * self.scale, least * _FINE)

    def lay(self, values: NDArray[np.float32]) -> None:
        """The field under everything else."""
        colours = Image.fromarray(self.theme.field(values)[::-1])
        self.image.paste(colours.resize(self.image.size, Image.Resampling.BICUBIC))

    def disc(self, x: float, y: float, radius: float, colour: Colour, opacity: float = 1.0) -> None:
        """A filled circle."""
        (px, py), r = self.point(x, y), self.length(radius)
        self._pen.ellipse((px - r, py - r, px + r, py + r), fill=_blend(colour, opacity))

    def ring(self, x: float, y: float, radius: float, width: float, colour: Colour, opacity: float) -> None:
        """A circle."""
        (px, py), r = self.point(x, y), self.length(radius)
        line = max(1, round(self.length(width, 0.5)))
        self._pen.ellipse((px - r, py - r, px + r, py + r), outline=_blend(colour, opacity), width=line)

    def line(self, points: Sequence[Point], width: float, colour: Colour, opacity: float = 1.0) -> None:
        """Straight lines through points; a width of 0 is a hairline. Opaque ones have round ends and corners."""
        places = [self.point(*point) for point in points]
        broad = max(1, round(self.length(width, 0.5)))
        self._pen.line(places, fill=_blend(colour, opacity), width=broad, joint="curve")
        if opacity >= 1.0 and broad > 2 * _FINE:
            for px, py in (places[0], places[-1]):
                self._pen.ellipse((px - broad / 2, py - broad / 2, px + broad / 2, py + broad / 2), fill=colour)

    def veil(self, pieces: Iterable[tuple[Sequence[Point], float, float]], colour: Colour) -> None:
        """Lines, each with a width and an opacity, that cover each other instead of adding up."""
        mask = Image.new("L", self.image.size)
        pen = ImageDraw.Draw(mask)
        for points, width, opacity in pieces:
            broad, shade = max(1, round(self.length(width, 0.5))), round(255 * opacity)
            places = [self.point(*point) for point in points]
            pen.line(places, fill=shade, width=broad)
            for px, py in places if broad > _FINE else ():
                pen.ellipse((px - broad / 2, py - broad / 2, px + broad / 2, py + broad / 2), fill=shade)
        self.image.paste(colour, mask=mask)

    def polygon(self, points: Sequence[Point], colour: Colour, opacity: float = 1.0) -> None:
        """A filled polygon."""
        self._pen.polygon([self.point(*point) for point in points], fill=_blend(colour, opacity))

    def together(self, shapes: Iterable[Sequence[Point]], colour: Colour, opacity: float) -> None:
        """Polygons as one: where they meet or overlap they are not darker."""
        mask = Image.new("L", self.image.size)
        pen, shade = ImageDraw.Draw(mask), _blend(colour, opacity)[3]
        for points in shapes:
            pen.polygon([self.point(*point) for point in points], fill=shade)
        self.image.paste(colour, mask=mask)

    def clear_around(self, x: float, y: float, radius: float) -> None:
        """Nothing is seen outside of a circle."""
        mask = Image.new("L", self.image.size, 255)
        (px, py), r = self.point(x, y), self.length(radius)
        ImageDraw.Draw(mask).ellipse((px - r, py - r, px + r, py + r), fill=0)
        self.image.paste(self.theme.surface, mask=mask)

    def finished(self) -> Image.Image:
        """The picture in the size that was wanted."""
        return self.image.reduce(_FINE)


def _blend(colour: Colour, opacity: float) -> tuple[int, int, int, int]:
    return (*colour, round(255 * min(max(opacity, 0.0), 1.0)))


def turned(x: float, y: float, angle: float, corners: Sequence[Point]) -> list[Point]:
    """Corners around the origin, turned and moved."""
    c, s = math.cos(angle), math.sin(angle)
    return [(x + u * c - v * s, y + u * s + v * c) for u, v in corners]


def _corners(canvas: Canvas, row: NDArray[np.float64]) -> list[Point]:
    x, y, width, height, angle, _ = row[2:]
    least = 0.5 * _FINE / canvas.scale
    w, h = max(width / 2, least), max(height / 2, least)
    return turned(x, y, angle, [(-w, -h), (w, -h), (w, h), (-w, h)])


def _is_next_slice(before: NDArray[np.float64], row: NDArray[np.float64]) -> bool:
    """Whether two rectangles are slices of one shape: of one width, turned alike, side by side, both translucent."""
    if KINDS[int(row[0])] != "rectangle" or row[7] >= 1.0 or (before[[0, 1, 4, 6, 7]] != row[[0, 1, 4, 6, 7]]).any():
        return False
    along = (row[2] - before[2]) * math.cos(row[6]) + (row[3] - before[3]) * math.sin(row[6])
    apart = math.hypot(row[2] - before[2], row[3] - before[3])
    return bool(max(abs(along - row[4]), abs(apart - row[4])) < _NEAR * row[4])


def _slices(rows: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """The rows, those together that are slices of one shape."""
    starts = [n for n in range(len(rows)) if n == 0 or not _is_next_slice(rows[n - 1], rows[n])]
    return [rows[start:end] for start, end in itertools.pairwise([*starts, len(rows)])]


def _is_rim(row: NDArray[np.float64]) -> bool:
    """Whether a ring is the wall around the world: outside of it nothing is to be seen."""
    return bool(KINDS[int(row[0])] == "ring" and ROLES[int(row[1])] == "wall")


def _triangle(canvas: Canvas, row: NDArray[np.float64], colour: Colour) -> None:
    x, y, length, width, direction, opacity = row[2:]
    least = 2.0 * _LEAST_RADIUS * _FINE / canvas.scale
    long, w = max(length, least), max(width, least)
    corners = turned(x, y, direction, [(0.6 * long, 0.0), (-0.4 * long, w / 2), (-0.4 * long, -w / 2)])
    if opacity >= 1.0:
        grown = turned(x, y, direction, [(0.78 * long, 0.0), (-0.5 * long, 0.66 * w), (-0.5 * long, -0.66 * w)])
        canvas.polygon(grown, canvas.theme.surface, 0.85)
    canvas.polygon(corners, colour, opacity)


def _trace(canvas: Canvas, row: NDArray[np.float64], colour: Colour, values: Sequence[float]) -> None:
    """The past of a number as a curve that ends where it is now."""
    x, y, width, half, ticks, _ = row[2:]
    shown = list(values)[-int(ticks) :]
    start = x - width * (len(shown) - 1) / ticks
    points = [(start + width * n / ticks, y + half * min(max(v, -1.0), 1.0)) for n, v in enumerate(shown)]
    if len(points) > 1:
        canvas.line(points, half * 0.04, colour, 0.9)
    canvas.disc(*points[-1], half * 0.07, colour)


def _disc(canvas: Canvas, row: NDArray[np.float64], colour: Colour) -> None:
    x, y, radius, _, _, opacity = row[2:]
    if opacity >= 1.0:
        canvas.disc(x, y, radius * 1.25, canvas.theme.surface, 0.85)
    canvas.disc(x, y, radius, colour, opacity)


def _draw_trails(canvas: Canvas, frame: Frame, history: History) -> None:
    """The trails of all bodies, under everything else, at once for each colour."""
    pieces: dict[float, list[tuple[Sequence[Point], float, float]]] = {}
    for n, row in enumerate(frame.of_kind(BODY)):
        found = trail(canvas.picture, history.course(n))
        pieces.setdefault(row[1], []).extend((ends, 0.5 * row[4], row[7] * opacity) for ends, opacity in found)
    for role, found_pieces in pieces.items():
        canvas.veil(found_pieces, canvas.theme.role(role))


def _seen_from(picture: Picture, row: NDArray[np.float64]) -> list[Point]:
    """By how much a row is moved to be seen: not at all, and on a torus also where it comes in on the other side."""
    if not picture.periodic:
        return [(0.0, 0.0)]
    left, bottom, right, top = picture.view
    is_line = KINDS[int(row[0])] == "line"
    reach = 0.0 if is_line else 1.25 * max(row[4], row[5] if row[0] == BODY else 0.0)
    xs, ys = ((row[2], row[4]), (row[3], row[5])) if is_line else ((row[2], row[2]), (row[3], row[3]))
    wide, high = right - left, top - bottom
    return [
        (dx, dy)
        for dx in (0.0, -wide, wide)
        for dy in (0.0, -high, high)
        if min(xs) + dx - reach < right and max(xs) + dx + reach > left
        and min(ys) + dy - reach < top and max(ys) + dy + reach > bottom
    ]  # fmt: skip


def _moved(row: NDArray[np.float64], by: Point) -> NDArray[np.float64]:
    moved = row.copy()
    moved[2:4] += by
    if KINDS[int(row[0])] == "line":
        moved[4:6] += by
    return moved


def draw_scene(canvas: Canvas, frame: Frame, history: History) -> None:
    """Draws all rows that have a place in the picture; labels, bars and readouts are left to others."""
    if frame.field is not None:
        canvas.lay(frame.field)
    _draw_trails(canvas, frame, history)
    bodies, traces = 0, 0
    for rows in _slices(frame.rows):
        row = rows[0]
        if len(rows) > 1:
            canvas.together([_corners(canvas, one) for one in rows], canvas.theme.role(row[1]), row[7])
            continue
        if _is_rim(row):
            canvas.clear_around(row[2], row[3], row[4])
        course = history.course(bodies) if row[0] == BODY else None
        values = history.traces[traces] if row[0] == TRACE else ()
        for by in _seen_from(canvas.picture, row):
            _draw_row(canvas, _moved(row, by), None if course is None else course + by, values)
        bodies, traces = bodies + (row[0] == BODY), traces + (row[0] == TRACE)


def _draw_row(
    canvas: Canvas, row: NDArray[np.float64], course: NDArray[np.float64] | None, values: Sequence[float]
) -> None:
    kind, colour = KINDS[int(row[0])], canvas.theme.role(row[1])
    if kind == "disc":
        _disc(canvas, row, colour)
    elif kind == "ring":
        canvas.ring(row[2], row[3], row[4], row[5], colour, row[7])
    elif kind == "line":
        canvas.line([(row[2], row[3]), (row[4], row[5])], row[6], colour, row[7])
    elif kind == "rectangle":
        canvas.polygon(_corners(canvas, row), colour, row[7])
    elif kind == "triangle":
        _triangle(canvas, row, colour)
    elif kind == "body" and course is not None:
        draw_body(canvas, row, colour, course)
    elif kind == "trace":
        _trace(canvas, row, colour, values)
