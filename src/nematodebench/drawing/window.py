"""A window on the desktop, through pygame if it is installed."""

from typing import Any

from PIL import Image

from nematodebench.errors import UsageError

__all__ = ["Window"]


def _pygame() -> Any:
    try:
        import pygame
    except ImportError as error:
        raise UsageError(
            "A window needs pygame: pip install 'nematodebench[window]', or use render_mode='rgb_array'."
        ) from error
    return pygame


class Window:
    """Shows pictures, as many a second as look natural."""

    def __init__(self, title: str, frames: int) -> None:
        self._pygame, self._frames = _pygame(), frames
        try:
            self._pygame.display.init()
            self._pygame.display.set_caption(title)
            self._clock = self._pygame.time.Clock()
            self._screen: Any = None
        except self._pygame.error as error:
            raise UsageError(f"No window can be opened here ({error}): use render_mode='rgb_array'.") from error

    def show(self, image: Image.Image) -> None:
        """Shows a picture and waits until the next one is due."""
        pygame = self._pygame
        if self._screen is None or self._screen.get_size() != image.size:
            try:
                self._screen = pygame.display.set_mode(image.size)
            except pygame.error as error:
                raise UsageError(f"No window can be opened here ({error}): use render_mode='rgb_array'.") from error
        pygame.event.pump()
        self._screen.blit(pygame.image.frombytes(image.tobytes(), image.size, "RGB"), (0, 0))
        pygame.display.flip()
        self._clock.tick(self._frames)

    def close(self) -> None:
        """Closes it."""
        self._pygame.display.quit()
