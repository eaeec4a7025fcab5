"""What was found out before, kept by the hash of everything that it follows from, so that nothing is checked twice.

What is kept is believed, so nobody but this user may have written it: it lies in the user's cache and never in the
repository that is judged, in files that nobody else can write, and every line is sealed with a secret of this cache. A
file that came with a proposal, or from another machine, is not believed, and neither is one that was damaged. Only what
is good is kept: a reason to refuse something is found anew each time.
"""

import contextlib
import hashlib
import hmac
import importlib.metadata
import json
import os
import sqlite3
import stat
from functools import cache
from pathlib import Path

from nematodebench.errors import UsageError
from nematodebench.kernels.cache_folder import preferred_cache_root
from nematodebench.kernels.safe_start import distrust
from nematodebench.records.provenance import software
from nematodebench.submissions.repository import repository_root

__all__ = ["FOLDER", "Known", "judging_code", "open_known"]

FOLDER = "findings"
_SECRET = "secret"
_SECRET_BYTES = 32
_MOST_DATABASES = 4
"""Databases of so many states of the code are kept; who goes back to an earlier commit finds its findings again."""
_OTHER_ROOMS = {
    "compiled",
    "board", "browser", "calibration", "cli", "continual", "drawing", "figures", "interop", "search", "site",
    "templates", "testing", "trajectories", "web",
}  # fmt: skip
"""Rooms whose code has no part in a judgement: a page that looks otherwise makes no finding old."""
_LIBRARIES = ("cryptography", "polars", "pydantic", "pydantic_core", "PyYAML", "scipy")


class Known:
    """Texts by the hash of what they follow from. Where nothing can be kept, nothing is ever found.

    Args:
        folder: A folder that is this user's alone; None to keep nothing.
    """

    def __init__(self, folder: Path | None) -> None:
        self._secret = b""
        self._database: sqlite3.Connection | None = None
        if folder is not None:
            with contextlib.suppress(OSError, sqlite3.Error):
                self._secret = _secret(folder)
                self._database = _opened(folder / f"{judging_code()[:16]}.sqlite")

    def __enter__(self) -> "Known":
        return self

    def __exit__(self, *_error: object) -> None:
        if self._database is not None:
            self._database.close()
            self._database = None

    def find(self, *basis: str) -> str | None:
        """What was found out about this before; None where nothing was, or it is not believed."""
        if self._database is None:
            return None
        key = _key(basis)
        try:
            row = self._database.execute("SELECT found, seal FROM findings WHERE basis = ?", (key,)).fetchone()
        except sqlite3.Error:
            return None
        if row is None or not isinstance(row[0], str) or not isinstance(row[1], bytes):
            return None
        return row[0] if hmac.compare_digest(row[1], self._seal(key, row[0])) else None

    def keep(self, found: str, *basis: str) -> None:
        """Keeps what was found out; where it cannot be written, it is found out again."""
        if self._database is None:
            return
        key = _key(basis)
        with contextlib.suppress(sqlite3.Error):
            values = (key, found, self._seal(key, found))
            self._database.execute("INSERT OR REPLACE INTO findings VALUES (?, ?, ?)", values)

    def _seal(self, key: bytes, found: str) -> bytes:
        return hmac.digest(self._secret, key + found.encode(), "sha256")


def open_known(root: Path) -> Known:
    """The findings that may be believed about a repository: none where its own files could pass for them."""
    folder = preferred_cache_root() / FOLDER
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        tops = {root.resolve(), (repository_root(root) or root).resolve()}
        inside = any(folder.resolve().is_relative_to(top) for top in tops)
        unsafe = inside or folder.is_symlink() or distrust(folder) or distrust(folder.parent)
    except (OSError, RuntimeError, UsageError):
        return Known(None)
    return Known(None if unsafe else folder)


def _key(basis: tuple[str, ...]) -> bytes:
    return hashlib.sha256(json.dumps(basis).encode()).digest()


def _own(path: Path) -> bool:
    """Whether a file is a plain one of this user, and of nobody else."""
    found = path.lstat()
    mine = not hasattr(os, "getuid") or found.st_uid == os.getuid()
    plain = stat.S_ISREG(found.st_mode) and found.st_nlink == 1
    return mine and plain and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _secret(folder: Path) -> bytes:
    """The secret of this cache; a file that is none is replaced, and everything sealed with it is lost."""
    path = folder / _SECRET
    with contextlib.suppress(OSError):
        if _own(path) and len(content := path.read_bytes()) == _SECRET_BYTES:
            return content
    with contextlib.suppress(FileNotFoundError):
        path.unlink()
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as stream:
        stream.write(secret := os.urandom(_SECRET_BYTES))
    return secret


def _opened(path: Path) -> sqlite3.Connection:
    """The database of one state of the code; a file that is damaged or not our own is replaced."""
    if path.is_symlink() or (path.exists() and not _own(path)):
        path.unlink()
    if not path.exists():
        _remove_old(path.parent)
    try:
        return _connected(path)
    except sqlite3.DatabaseError:
        path.unlink(missing_ok=True)
        return _connected(path)


def _connected(path: Path) -> sqlite3.Connection:
    database = sqlite3.connect(path, timeout=30.0, isolation_level=None)
    path.chmod(0o600)
    database.execute("PRAGMA synchronous = OFF")  # what a power failure takes is found out again
    database.execute("CREATE TABLE IF NOT EXISTS findings (basis BLOB PRIMARY KEY, found TEXT, seal BLOB)")
    return database


def _remove_old(folder: Path) -> None:
    files = sorted(folder.glob("*.sqlite"), key=lambda path: path.lstat().st_mtime, reverse=True)
    for path in files[_MOST_DATABASES - 1 :]:
        path.unlink(missing_ok=True)


@cache
def judging_code() -> str:
    """Hash of everything that decides a judgement beside what is judged: sources, anchors, and libraries."""
    root = Path(__file__).resolve().parent.parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*")):
        within = path.relative_to(root)
        if within.parts[0] in _OTHER_ROOMS or "__pycache__" in within.parts or not path.is_file():
            continue
        digest.update(f"{within}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    versions = {name: value for name, value in software().items() if name != "nematodebench source"}
    for name in _LIBRARIES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            versions[name] = importlib.metadata.version(name)
    digest.update(json.dumps(versions, sort_keys=True).encode())
    return digest.hexdigest()
