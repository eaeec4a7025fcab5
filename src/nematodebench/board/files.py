"""Writes the files of a repository that show the board."""

from collections.abc import Mapping
from pathlib import Path

from nematodebench.board.collect import Collection
from nematodebench.board.markdown import LEADERBOARD, README, leaderboard, leaders, with_leaders
from nematodebench.errors import StorageError, UsageError
from nematodebench.files import atomic_write, clean_leftovers

__all__ = ["current_files", "stale_files", "write_files"]


def current_files(root: Path, found: Collection) -> dict[str, str]:
    """What the files should hold."""
    try:
        _refuse_links(root, README)
        readme = (root / README).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"{root / README} is not UTF-8 text.") from error
    except OSError as error:
        raise UsageError(
            f"Cannot read {root / README}: run this at the top of the repository, or give --root."
        ) from error
    return {LEADERBOARD: leaderboard(found), README: with_leaders(readme, leaders(found))}


def _refuse_links(root: Path, name: str) -> None:
    """The board is written to plain files in plain folders: a link would lead it to somebody else's."""
    place = root
    for part in name.split("/"):
        place = place / part
        if place.is_symlink():
            raise UsageError(f"{place.relative_to(root)} is a symbolic link: the board is not written through links.")


def stale_files(root: Path, files: Mapping[str, str]) -> list[str]:
    """Names of the files that hold something else, or do not exist."""
    return [name for name, text in files.items() if _bytes(root / name) != text.encode()]


def _bytes(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() and not path.is_symlink() else None


def write_files(root: Path, files: Mapping[str, str]) -> None:
    """Writes the files, each completely or not at all."""
    try:
        for name, text in files.items():
            _refuse_links(root, name)
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            clean_leftovers((root / name).parent)
            atomic_write(root / name, text.encode())
    except OSError as error:
        raise StorageError(f"Cannot write the board: {error.strerror or error}.") from error
