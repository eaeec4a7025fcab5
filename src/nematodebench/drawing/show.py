"""How environments of other libraries show their world: as pixels, as text, or in a window."""

from typing import Any

from nematodebench.errors import UsageError
from nematodebench.worlds.arrays import WorldArrays

__all__ = ["MODES", "Show", "still"]

MODES = ("rgb_array", "ansi", "human")


class Show:
    """Shows one course of a world in one of the :data:`MODES`; None shows nothing and costs nothing.

    Every step is seen, drawn or not, so the trail behind a body is the same however often somebody looks. Pillow and
    the scene are loaded when the first episode begins.
    """

    def __init__(self, mode: str | None) -> None:
        if mode is not None and mode not in MODES:
            raise UsageError(f"Render mode {mode!r} does not exist. There are: {', '.join(MODES)}.")
        self._mode, self._drawn = mode, mode in {"rgb_array", "human"}
        self._renderer: Any = None
        self._window: Any = None
        self._frame: Any = None

    def begin(self, arrays: WorldArrays) -> None:
        """An episode has begun."""
        if self._drawn:
            from nematodebench.drawing.render import Renderer

            if self._renderer is None or self._renderer.world is not arrays.world:
                self._renderer = Renderer(arrays.world)
            self._renderer.clear()
            self.stepped(arrays)

    def stepped(self, arrays: WorldArrays) -> None:
        """The world has made a step. A window shows it at once."""
        if self._drawn and self._renderer is not None:
            from nematodebench.drawing.frames import capture

            self._frame = capture(arrays)
            self._renderer.see(self._frame)
            if self._mode == "human":
                self._to_window(arrays)

    def _to_window(self, arrays: WorldArrays) -> None:
        if self._window is None:
            from nematodebench.drawing.window import Window

            self._window = Window(arrays.world.name, arrays.world.picture().frames)
        self._window.show(self._renderer.picture(self._frame))

    def render(self, arrays: WorldArrays) -> Any:
        """What ``render()`` returns: pixels, text, or None."""
        if self._mode == "ansi":
            return arrays.text()
        if self._mode != "rgb_array":
            return None
        if self._renderer is None:
            raise UsageError("There is nothing to render before the first reset.")
        return self._renderer.pixels(self._frame)

    def close(self) -> None:
        """Closes the window, if there is one."""
        if self._window is not None:
            self._window.close()
            self._window = None


def still(arrays: WorldArrays, mode: str | None, copy: int = 0) -> Any:
    """One copy of a world at one moment, without a trail: as pixels, as text, or None."""
    if mode == "ansi":
        return arrays.text(copy)
    if mode is None:
        return None
    from nematodebench.drawing.frames import capture
    from nematodebench.drawing.render import Renderer

    renderer, frame = Renderer(arrays.world), capture(arrays, copy)
    renderer.see(frame)
    return renderer.pixels(frame)
