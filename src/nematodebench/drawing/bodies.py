"""Bodies: a worm that bends along the way it came, a disc with a nose, a ball; behind each a trail that fades."""

import itertools
import math
from collections.abc import Iterator
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from nematodebench.drawing.palette import Colour, Theme
from nematodebench.worlds.picture import Picture

__all__ = ["Surface", "draw_body", "trail"]

_TRAIL_OPACITY = 0.55
_JUMP = 0.3
"""A longer way, as a share of the view, was not walked: the body came back on the other side, or began anew."""
_TAIL = 0.4
"""Width of the tail beside that of the head."""
_SMOOTHINGS = 3
_PUPIL: Colour = (0, 0, 0)


class Surface(Protocol):
    """What bodies are drawn on."""

    picture: Picture
    theme: Theme

    def disc(self, x: float, y: float, radius: float, colour: Colour, opacity: float = 1.0) -> None:
        """A filled circle."""

    def line(self, points: list[tuple[float, float]], width: float, colour: Colour, opacity: float = 1.0) -> None:
        """Straight lines through points."""

    def polygon(self, points: list[tuple[float, float]], colour: Colour, opacity: float = 1.0) -> None:
        """A filled polygon."""


Course = NDArray[np.float64]


def draw_body(canvas: Surface, row: NDArray[np.float64], colour: Colour, course: Course) -> None:
    """Draws the body of one row; ``course`` are its places, the latest first."""
    x, y, radius, length, heading, opacity = (float(value) for value in row[2:])
    if length > 0.0:
        _worm(canvas, _spine(course, heading, length, radius), radius, colour, heading)
        return
    canvas.disc(x, y, radius * 1.2, canvas.theme.surface, 0.85 * opacity)
    canvas.disc(x, y, radius, colour, opacity)
    if length == 0.0:
        _nose(canvas, x, y, radius, heading)


def trail(picture: Picture, course: Course) -> Iterator[tuple[list[tuple[float, float]], float]]:
    """Pieces of a body's trail with their opacity, the oldest first."""
    left, bottom, right, top = picture.view
    pieces = list(itertools.pairwise(course[: picture.trail + 1]))
    for age, (here, before) in reversed(list(enumerate(pieces))):
        jump = np.abs(here - before)
        if jump[0] <= _JUMP * (right - left) and jump[1] <= _JUMP * (top - bottom):
            ends = [(float(x), float(y)) for x, y in (here, before)]
            yield ends, _TRAIL_OPACITY * (1.0 - age / picture.trail)


def _spine(course: Course, heading: float, length: float, radius: float) -> Course:
    """Points from the head to the tail along the way it came; where that is too short, straight on behind it."""
    points, left = [course[0]], length
    for place in course[1:]:
        step = float(np.hypot(*(place - points[-1])))
        if step >= left:
            points.append(points[-1] + (place - points[-1]) * (left / step))
            left = 0.0
            break
        points.append(place)
        left -= step
    if left > 0.0:
        back = points[-1] - points[-2] if len(points) > 1 else -np.array([math.cos(heading), math.sin(heading)])
        points.append(points[-1] + back / max(float(np.hypot(*back)), 1e-9) * left)
    return _even(_smooth(np.array(points)), 0.25 * radius)


def _smooth(points: Course) -> Course:
    """Cuts corners (Chaikin), keeping both ends."""
    for _ in range(_SMOOTHINGS):
        early, late = points[:-1], points[1:]
        cut = np.stack([0.75 * early + 0.25 * late, 0.25 * early + 0.75 * late], axis=1).reshape(-1, 2)
        points = np.concatenate([points[:1], cut, points[-1:]])
    return points


def _even(points: Course, spacing: float) -> Course:
    """Points at even distances along a line."""
    along = np.r_[0.0, np.cumsum(np.hypot(*np.diff(points, axis=0).T))]
    at = np.linspace(0.0, along[-1], max(2, int(along[-1] / spacing)))
    return np.stack([np.interp(at, along, points[:, 0]), np.interp(at, along, points[:, 1])], axis=1)


def _worm(canvas: Surface, spine: Course, radius: float, colour: Colour, heading: float) -> None:
    """A tapering body with a halo, a darker stripe and two eyes."""
    widths = radius * np.linspace(1.0, _TAIL, len(spine))
    for (x, y), width in zip(spine, widths, strict=True):
        canvas.disc(x, y, width * 1.0 + 0.22 * radius, canvas.theme.surface)
    for (x, y), width in zip(spine[::-1], widths[::-1], strict=True):
        canvas.disc(x, y, width, colour)
    x, y = spine[0]
    canvas.disc(x, y, radius * 1.12, colour)
    for side in (0.7, -0.7):
        angle = heading + side
        ex, ey = x + 0.62 * radius * math.cos(angle), y + 0.62 * radius * math.sin(angle)
        canvas.disc(ex, ey, 0.3 * radius, canvas.theme.surface)
        canvas.disc(
            ex + 0.08 * radius * math.cos(heading), ey + 0.08 * radius * math.sin(heading), 0.15 * radius, (0, 0, 0)
        )


def _nose(canvas: Surface, x: float, y: float, radius: float, heading: float) -> None:
    c, s = math.cos(heading), math.sin(heading)
    tip = [(0.85, 0.0), (0.0, 0.5), (0.0, -0.5)]
    canvas.polygon([(x + radius * (u * c - v * s), y + radius * (u * s + v * c)) for u, v in tip], canvas.theme.surface)
