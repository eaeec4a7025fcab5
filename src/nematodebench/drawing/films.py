"""Moving pictures as files: GIF by Pillow, MP4 by ffmpeg (``imageio-ffmpeg``), single pictures as PNG."""

import io
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from PIL import Image

from nematodebench.drawing.frames import Frame
from nematodebench.drawing.palette import Colour
from nematodebench.drawing.render import Renderer
from nematodebench.errors import UsageError
from nematodebench.files import write_file

__all__ = ["MOST_FRAMES", "check_place", "pictures", "png", "write_gif", "write_mp4", "write_png"]

MOST_FRAMES = 600
"""A film that is not told how many steps to leave out has at most so many pictures."""
_COLOURS = 128
_HOLD = 12
"""How many pictures long the last one is shown."""


def check_place(path: Path, ending: str) -> None:
    """Says in time if a file cannot be written, or would not be what its name says."""
    if path.suffix.lower() != ending:
        raise UsageError(f"{path} does not end in {ending}: a file is called what it is.")
    if not path.parent.is_dir():
        raise UsageError(f"{path} cannot be written: there is no folder {path.parent}.")
    if path.is_dir() or not os.access(path if path.exists() else path.parent, os.W_OK):
        raise UsageError(f"{path} cannot be written: give another place.")


def pictures(renderer: Renderer, frames: Sequence[Frame], every: int = 1) -> Iterator[Image.Image]:
    """Every so many moments as a picture, and always the last one; the trail knows all moments."""
    renderer.clear()
    for n, frame in enumerate(frames):
        renderer.see(frame)
        if n % every == 0 or n == len(frames) - 1:
            yield renderer.picture(frame)


def png(image: Image.Image) -> bytes:
    """A picture as the bytes of a PNG file."""
    buffer = io.BytesIO()
    image.save(buffer, "PNG", optimize=True)
    return buffer.getvalue()


def write_png(path: Path, image: Image.Image) -> None:
    """One picture."""
    write_file(path, png(image))


def _palette(image: Image.Image, kept: Sequence[Colour]) -> list[int]:
    """The colours that mean something as they are, and a choice for all shades of a picture.

    It is that of the last picture, in which most is to be seen; one for all keeps colours from flickering.
    """
    plain = [part for colour in kept for part in colour]
    left = _COLOURS - len(kept)
    shades = image.quantize(left, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    palette = [*plain, *(shades.getpalette() or [])[: 3 * left]]
    return palette + palette[:3] * (_COLOURS - len(palette) // 3)


def _same_palette(images: list[Image.Image], kept: Sequence[Colour]) -> list[Image.Image]:
    """Pictures in the same few colours; in all but the first what has not changed is transparent, which packs well."""
    palette = _palette(images[-1], kept)
    colours = Image.new("P", (1, 1))
    colours.putpalette(palette)
    palette = [*palette, 0, 0, 0]
    few, before = [], None
    for image in images:
        indices = np.asarray(image.quantize(palette=colours, dither=Image.Dither.NONE))
        changed = indices if before is None else np.where(indices == before, _COLOURS, indices)
        made = Image.fromarray(changed.astype(np.uint8), "P")
        made.putpalette(palette)
        few.append(made)
        before = indices
    return few


def write_gif(path: Path, images: Iterator[Image.Image], frames_a_second: float, kept: Sequence[Colour] = ()) -> int:
    """A moving picture for pages, in few colours, among them those to be kept; returns how many pictures it has."""
    few = _same_palette(list(images), kept)
    wait = max(20, round(100 / frames_a_second) * 10)
    buffer = io.BytesIO()
    durations = [wait] * (len(few) - 1) + [wait * _HOLD]
    few[0].save(
        buffer, "GIF", save_all=True, append_images=few[1:], duration=durations, loop=0, optimize=False, disposal=1,
        transparency=_COLOURS,
    )  # fmt: skip
    write_file(path, buffer.getvalue())
    return len(few)


def write_mp4(path: Path, images: Iterator[Image.Image], frames_a_second: float) -> int:
    """A film; returns how many pictures it has."""
    import imageio_ffmpeg

    first = next(images)
    size = (first.width - first.width % 2, first.height - first.height % 2)
    writer = imageio_ffmpeg.write_frames(
        str(path), size, fps=frames_a_second, quality=8, macro_block_size=2, ffmpeg_log_level="error"
    )
    writer.send(None)
    count = 0
    try:
        for image in (first, *images):
            writer.send(np.ascontiguousarray(np.asarray(image)[: size[1], : size[0]]))
            count += 1
        for _ in range(_HOLD):
            writer.send(np.ascontiguousarray(np.asarray(image)[: size[1], : size[0]]))
    finally:
        writer.close()
    return count
