"""Pictures in a terminal: two pixels a character, by half blocks in 24-bit colour."""

import numpy as np
from PIL import Image

__all__ = ["half_blocks"]


def half_blocks(image: Image.Image, columns: int, lines: int) -> str:
    """The picture, made small enough for so many columns and lines."""
    scale = min(columns / image.width, 2 * lines / image.height, 1.0)
    size = max(1, int(image.width * scale)), max(2, int(image.height * scale) // 2 * 2)
    pixels = np.asarray(image.resize(size, Image.Resampling.BOX)).tolist()
    rows = []
    for upper, lower in zip(pixels[::2], pixels[1::2], strict=True):
        cells = (_cell(*pair) for pair in zip(upper, lower, strict=True))
        rows.append("".join(cells) + "\x1b[0m")
    return "\n".join(rows)


def _cell(upper: list[int], lower: list[int]) -> str:
    """One character: the upper pixel is its ink, the lower one its ground."""
    ink, ground = (";".join(map(str, pixel)) for pixel in (upper, lower))
    return f"\x1b[38;2;{ink};48;2;{ground}m▀"
