"""A moment of a world in a terminal: the scene as blocks of colour, and everything around it as text."""

from nematodebench.drawing.blocks import half_blocks
from nematodebench.drawing.frames import Frame
from nematodebench.drawing.palette import Colour
from nematodebench.drawing.render import Renderer

__all__ = ["moment_in_terminal"]

_BAR = 20
_END = "\x1b[0m"


def _coloured(colour: Colour, text: str) -> str:
    return f"\x1b[38;2;{';'.join(map(str, colour))}m{text}{_END}"


def moment_in_terminal(renderer: Renderer, frame: Frame, caption: str, columns: int, lines: int) -> str:
    """The moment that the renderer took in last, in at most so many columns and lines."""
    if frame.text:
        return "\n".join([caption, *frame.text.splitlines()][:lines])
    words = renderer.words(frame)
    above = [caption[:columns], "  ".join(words.numbers)[:columns]]
    width = max((len(name) for name, _, _ in words.bars), default=0)
    below = [_bar(name.ljust(width), share, colour) for name, share, colour in words.bars]
    below += _legend(words.legend, words.field, columns)
    room = lines - len(above) - len(below)
    return "\n".join([*above, half_blocks(renderer.scene(frame), columns, max(room, 2)), *below])


def _bar(name: str, share: float, colour: Colour) -> str:
    filled = round(_BAR * min(max(share, 0.0), 1.0))
    return f"{name} {_coloured(colour, '█' * filled)}{'░' * (_BAR - filled)} {100 * share:3.0f} %"


def _legend(entries: list[tuple[Colour, str]], field: str, columns: int) -> list[str]:
    """The legend in as many lines as it needs."""
    lines, room = list[str](), 0
    for colour, word in [*entries, *([(None, f"ground: {field}")] if field else [])]:
        needed = len(word) + (4 if colour else 2)
        if needed > room or not lines:
            lines.append("")
            room = columns
        lines[-1] += (f"{_coloured(colour, '●')} {word}" if colour else word) + "  "
        room -= needed
    return [line.rstrip() for line in lines]
