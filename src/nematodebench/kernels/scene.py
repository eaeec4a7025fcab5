"""A world's picture as data: rows of primitives that a compiled ``scene`` writes and any renderer draws.

A scene reads a world's state and fills ``rows``, one primitive a row in the order of drawing, and ``field``, a small
raster that lies under them. It changes nothing and draws no random numbers, so watching a run leaves its bits alone.
Positions are in the world's own units, y up; angles are radians, counter-clockwise from the x axis. What is outside the
world's ``view`` is cut off. Every row has a ``kind``, a colour ``role`` and six numbers:

| kind | x, y | a | b | c | value |
|---|---|---|---|---|---|
| ``DISC`` | centre | radius | | | opacity |
| ``RING`` | centre | radius | width of the line | | opacity |
| ``LINE`` | from | to x | to y | width, 0 is a hairline | opacity |
| ``RECTANGLE`` | centre | width | height | angle | opacity |
| ``TRIANGLE`` | centre | length | width | direction of the tip | opacity |
| ``LABEL`` | centre | word, -1 for none | height of the letters | decimals, -1 for no number | number |
| ``BODY`` | head | radius | length of a worm's body; 0: a disc with a nose; -1: a ball | heading | opacity |
| ``TRACE`` | right end, middle | width | half height | ticks that fit | value now, -1 to 1 |
| ``BAR`` | | word | | | share, 0 to 1 |
| ``READOUT`` | | word | decimals | | number |

A word is an index into the world's ``words``. The renderer keeps what lies in the past: of the n-th ``BODY`` the places
it was at, for its trail and for the body that follows the head; of the n-th ``TRACE`` the values, for a curve. It also
finds the place of ``BAR`` (satiety, health) and ``READOUT`` (tick, score), beside the picture, so they have none.
A line without a width, a ``RAY`` for instance, is as thin as it can be seen.
"""

from nematodebench.kernels.jit import F64M, kernel
from nematodebench.kernels.memory import Block, number

__all__ = [
    "BALL", "BAR", "BLIND", "BODY", "BRAIN", "COLUMNS", "DANGER", "DISC", "FIELD_SIDE", "FOOD", "INK", "KINDS",
    "LABEL", "LINE", "MUTED", "NO_WORD", "NULL", "PAPER", "RAY", "READOUT", "RECTANGLE", "REFERENCE", "RING",
    "ROLES", "ROWS", "TRACE", "TRIANGLE", "WALL", "Row", "add", "bar", "body", "disc", "label", "line", "readout",
    "rectangle", "ring", "trace", "triangle",
]  # fmt: skip

KINDS = ("disc", "ring", "line", "rectangle", "triangle", "label", "body", "trace", "bar", "readout")
"""Names of the kinds, by their numbers."""
DISC, RING, LINE, RECTANGLE, TRIANGLE, LABEL, BODY, TRACE, BAR, READOUT = (float(n) for n in range(len(KINDS)))

ROLES = ("brain", "reference", "null", "blind", "danger", "food", "wall", "ray", "ink", "muted", "paper")
"""Names of the colour roles, by their numbers; the palette gives each a colour."""
BRAIN, REFERENCE, NULL, BLIND, DANGER, FOOD, WALL, RAY, INK, MUTED, PAPER = (float(n) for n in range(len(ROLES)))

NO_WORD = -1.0
"""For labels that are only a number."""
BALL = -1.0
"""The length of a body that looks the same from all sides."""
ROWS, COLUMNS, FIELD_SIDE = 2048, 8, 64
"""The shape of ``rows``, and the side of the square ``field``. What does not fit into the rows is left out."""


class Row(Block):
    """One primitive."""

    kind = number()
    role = number()
    x = number()
    y = number()
    a = number()
    b = number()
    c = number()
    value = number()


@kernel()
def add(rows: F64M, kind: float, role: float, x: float, y: float, a: float, b: float, c: float, value: float) -> None:
    """Writes the next row. The last of all rows holds no primitive: it counts those before it."""
    last = rows.shape[0] - 1
    count = int(rows[last, 0])
    if count >= last:
        return
    row = Row(rows[count])
    row.kind, row.role = kind, role
    row.x, row.y, row.a, row.b, row.c, row.value = x, y, a, b, c, value
    rows[last, 0] = count + 1.0


@kernel()
def disc(rows: F64M, role: float, x: float, y: float, radius: float, opacity: float) -> None:
    """A filled circle."""
    add(rows, DISC, role, x, y, radius, 0.0, 0.0, opacity)


@kernel()
def ring(rows: F64M, role: float, x: float, y: float, radius: float, width: float, opacity: float) -> None:
    """A circle."""
    add(rows, RING, role, x, y, radius, width, 0.0, opacity)


@kernel()
def line(rows: F64M, role: float, x: float, y: float, to_x: float, to_y: float, width: float, opacity: float) -> None:
    """A straight line with round ends; one without a width is a hairline."""
    add(rows, LINE, role, x, y, to_x, to_y, width, opacity)


@kernel()
def rectangle(
    rows: F64M, role: float, x: float, y: float, width: float, height: float, angle: float, opacity: float
) -> None:
    """A filled rectangle around its centre."""
    add(rows, RECTANGLE, role, x, y, width, height, angle, opacity)


@kernel()
def triangle(
    rows: F64M, role: float, x: float, y: float, length: float, width: float, direction: float, opacity: float
) -> None:
    """A filled triangle whose tip points in a direction."""
    add(rows, TRIANGLE, role, x, y, length, width, direction, opacity)


@kernel()
def label(
    rows: F64M, role: float, x: float, y: float, height: float, word: float, decimals: float, value: float
) -> None:
    """A text inside the picture, around its centre: a word, a number or both."""
    add(rows, LABEL, role, x, y, word, height, decimals, value)


@kernel()
def body(
    rows: F64M, role: float, x: float, y: float, radius: float, length: float, heading: float, opacity: float
) -> None:
    """Something that moves and leaves a trail: a worm of some length, a disc with a nose (0), or a ``BALL``."""
    add(rows, BODY, role, x, y, radius, length, heading, opacity)


@kernel()
def trace(rows: F64M, role: float, x: float, y: float, width: float, half: float, ticks: float, value: float) -> None:
    """A curve of a number's past that ends at (x, y + half x value) now."""
    add(rows, TRACE, role, x, y, width, half, ticks, value)


@kernel()
def bar(rows: F64M, role: float, word: float, share: float) -> None:
    """A gauge beside the picture."""
    add(rows, BAR, role, 0.0, 0.0, word, 0.0, 0.0, min(max(share, 0.0), 1.0))


@kernel()
def readout(rows: F64M, word: float, decimals: float, value: float) -> None:
    """A number beside the picture."""
    add(rows, READOUT, INK, 0.0, 0.0, word, decimals, 0.0, value)
