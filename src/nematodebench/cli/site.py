"""The work behind ``nematodebench board site``."""

from collections.abc import Mapping
from pathlib import Path

from nematodebench.board.collect import collect
from nematodebench.cli.board import repository, tell_rejected
from nematodebench.errors import StorageError, UsageError
from nematodebench.figures.sources import open_sources
from nematodebench.files import atomic_write, clean_leftovers
from nematodebench.site.board_site import build_site
from nematodebench.site.pages import need_libraries
from nematodebench.site.private_site import build_private_site

__all__ = ["write_experiments_site", "write_site"]

_MARK = ".nematodebench-site"


def write_site(root: Path, output: Path) -> bool:
    """Writes the board of a repository; returns whether every submission passed."""
    need_libraries()
    found = collect(repository(root))
    _write(output, build_site(root, found))
    return tell_rejected(found)


def write_experiments_site(experiments: Path, output: Path) -> bool:
    """Writes the private board of a laboratory's own sessions; returns whether no run is missing."""
    need_libraries()
    sources = open_sources([experiments])
    _write(output, build_private_site(sources, experiments.resolve().name))
    return all(sample.scores.values.size == sample.runs for sample in sources.samples)


def _pages_before(output: Path) -> set[str]:
    """The pages that were written before; what a damaged list has instead of names is passed over."""
    mark = output / _MARK
    lines = mark.read_text(encoding="utf-8", errors="replace").splitlines() if mark.is_file() else []
    return {line for line in lines if line.isprintable() and line}


def _write(output: Path, files: Mapping[str, bytes]) -> None:
    """Writes the files; pages of an earlier time that are no more are removed, and nothing else is."""
    clean_leftovers(output, _MARK)
    if output.is_dir() and any(output.iterdir()) and not (output / _MARK).is_file():
        raise UsageError(f"{output} is not empty and no site of ours: give another folder with --output.")
    try:
        output.mkdir(parents=True, exist_ok=True)
        for name in _pages_before(output) - set(files):
            path = output / name
            if path.resolve().is_relative_to(output.resolve()) and path.is_file():
                path.unlink()
        atomic_write(output / _MARK, "\n".join(files).encode())
        for folder in {(output / name).parent for name in files}:
            folder.mkdir(parents=True, exist_ok=True)
            clean_leftovers(folder)
        for name, content in files.items():
            atomic_write(output / name, content)
    except OSError as error:
        raise StorageError(f"Cannot write to {output}: {error.strerror or error}.") from error
    size = sum(map(len, files.values()))
    print(f"{output}: {len(files)} files, {size / 1e6:.1f} MB; begin with {output / 'index.html'}")
