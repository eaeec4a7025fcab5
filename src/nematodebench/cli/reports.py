"""The work behind ``nematodebench plot`` and the written forms of ``nematodebench report``."""

from collections.abc import Sequence
from pathlib import Path

from nematodebench.errors import StorageError, UsageError
from nematodebench.figures.kinds import KINDS, figure_of
from nematodebench.figures.render import FORMATS, written
from nematodebench.figures.sources import open_sources
from nematodebench.files import atomic_write

__all__ = ["plot_command", "put"]


def put(path: Path, content: bytes) -> None:
    """Writes a file, whole or not at all, and says where it is."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        atomic_write(path, content)
    except OSError as error:
        raise StorageError(f"Cannot write {path}: {error.strerror or error}.") from error
    print(f"{path}: {len(content):,} bytes")


def plot_command(kind: str, experiments: Sequence[Path], output: Path | None, *, json: bool) -> None:
    """Draws one figure and writes it."""
    path = output or Path(f"{kind}.svg")
    ending = path.suffix.removeprefix(".")
    if kind in KINDS and ending not in FORMATS:
        raise UsageError(f"{path} ends in {path.suffix or 'nothing'}: a figure is one of .{', .'.join(FORMATS)}.")
    figure = figure_of(kind, open_sources(experiments))
    if json:
        print(figure.json(), end="")
    else:
        put(path, written(figure, ending))
