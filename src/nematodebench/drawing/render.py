"""Turns a world's moments into pictures: the same picture for the same state, whoever draws it."""

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from nematodebench.drawing.canvas import Canvas, draw_scene
from nematodebench.drawing.frames import Frame, History
from nematodebench.drawing.palette import Colour
from nematodebench.drawing.palette import theme as find_theme
from nematodebench.drawing.panel import Panel, Words, draw_labels, font, words_of
from nematodebench.errors import UsageError
from nematodebench.worlds.base import World

__all__ = ["LEAST_WIDTH", "WIDTH", "Renderer"]

WIDTH, LEAST_WIDTH, MOST_WIDTH = 400, 120, 4000
"""Pixels across: what a picture has unless somebody asks, and what can be asked for."""


class Renderer:
    """Draws one course of a world, moment after moment.

    Args:
        world: The world.
        width: Of the pictures, in pixels; the height follows.
        theme: ``light`` or ``dark``.
        caption: A line above every picture.
    """

    def __init__(self, world: World, width: int = WIDTH, theme: str = "light", caption: str = "") -> None:
        if not LEAST_WIDTH <= width <= MOST_WIDTH:
            raise UsageError(f"A picture is {LEAST_WIDTH} to {MOST_WIDTH} pixels wide, not {width}.")
        self.world, self.width = world, width
        self._picture, self._theme = world.picture(), find_theme(theme)
        self._panel = Panel(self._picture, width, self._theme, caption)
        self._history = History()

    @property
    def colours(self) -> list[Colour]:
        """Those that mean something, and the grounds."""
        theme = self._theme
        return list(dict.fromkeys([theme.background, theme.surface, theme.hairline, *theme.roles]))

    def clear(self) -> None:
        """Another episode begins: there is no trail yet."""
        self._history.clear()

    def see(self, frame: Frame) -> None:
        """Takes in a moment, drawn or not, for the trail."""
        self._history.add(frame)

    def pixels(self, frame: Frame) -> NDArray[np.uint8]:
        """The moment that was taken in last, as rows of pixels with red, green and blue."""
        return np.array(self.picture(frame))

    def picture(self, frame: Frame) -> Image.Image:
        """The moment that was taken in last."""
        if frame.text:
            return self._text(frame.text)
        scene = self.scene(frame)
        head, foot = self._panel.head(frame), self._panel.foot(frame)
        # Films want even numbers of pixels.
        height = head + scene.height + foot
        image = Image.new("RGB", (self.width, height + height % 2), self._theme.background)
        image.paste(scene, (0, head))
        pen = ImageDraw.Draw(image)
        self._panel.draw_head(pen, frame)
        self._panel.draw_foot(pen, frame, head + scene.height)
        return image

    def scene(self, frame: Frame) -> Image.Image:
        """The moment that was taken in last, without what stands above and below it."""
        canvas = Canvas(self._picture, self.width, self._theme)
        draw_scene(canvas, frame, self._history)
        image = canvas.finished()
        draw_labels(image, self._picture, frame, self._theme, 0)
        return image

    def words(self, frame: Frame) -> Words:
        """What stands above and below the scene, as words and shares with their colours."""
        return words_of(self._picture, frame, self._theme)

    def _text(self, text: str) -> Image.Image:
        """What a world without a scene looks like."""
        image = Image.new("RGB", (self.width, self.width), self._theme.surface)
        words = text.replace(" ", "\n") if "\n" not in text else text
        pen = ImageDraw.Draw(image)
        pen.multiline_text((10, 10), words, fill=self._theme.role(8), font=font(max(9.0, self.width / 30)))
        return image
