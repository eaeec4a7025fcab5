"""The work behind ``nematodebench plot`` and the written forms of ``nematodebench report``."""

from collections.abc import Sequence
from pathlib import Path

from nematodebench.errors import StorageError, UsageError
from nematodebench.figures.kinds import KINDS, all_figures, figure_of
from nematodebench.figures.render import FORMATS, written
from nematodebench.figures.sources import open_sources
from nematodebench.files import write_file
from nematodebench.site.pages import need_libraries
from nematodebench.site.report import html_report, report_csv, report_markdown

__all__ = ["plot_command", "put", "write_report"]

_TEXTS = {"md": report_markdown, "csv": report_csv}
_PICTURES = ("svg", "png")


def put(path: Path, content: bytes) -> None:
    """Writes a file, whole or not at all, and says where it is."""
    try:
        write_file(path, content)
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


def write_report(experiments: Sequence[Path], form: str, output: Path | None) -> bool:
    """Writes a report in one of its forms; returns whether no run is missing."""
    if form not in {"html", *_TEXTS, *_PICTURES}:
        raise UsageError(f"--format {form!r} does not exist. Choose html, {', '.join(_TEXTS)}, {', '.join(_PICTURES)}.")
    if form != "csv":
        need_libraries()
    sources = open_sources(experiments)
    if form in _PICTURES:
        folder, figures = output or Path("report"), all_figures(sources)
        for number, figure in enumerate(figures, 1):
            put(folder / f"{number:02d}_{figure.kind}.{form}", written(figure, form))
    else:
        content = html_report(sources) if form == "html" else _TEXTS[form](sources)
        put(output or Path(f"report.{form}"), content.encode())
    return all(sample.scores.values.size == sample.runs for sample in sources.samples)
