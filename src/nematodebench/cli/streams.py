"""Where results are printed: terminals that know only ASCII, pipes that close, devices that are full."""

import codecs
import contextlib
import io
import os
import sys
from collections.abc import Iterator
from pathlib import Path

__all__ = ["careful_streams"]

_PLAIN = {"±": "+-", "–": "-", "—": "-", "×": "x", "…": "...", "≥": ">=", "≤": "<=", "→": "->"}


def _in_ascii(error: UnicodeError) -> tuple[str, int]:
    """What stands for characters that a stream cannot show."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(_PLAIN.get(one, "?") for one in error.object[error.start : error.end]), error.end


@contextlib.contextmanager
def careful_streams() -> Iterator[None]:
    """Makes the streams print every character, and tells before the end whether all was written."""
    codecs.register_error("nematodebench", _in_ascii)
    _open_closed()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="nematodebench")
    try:
        yield
    finally:
        _flush()


def _open_closed() -> None:
    """Gives streams that the caller has closed (``>&-``) a place: the next file would be opened in theirs."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115  (until the end)


def _flush() -> None:
    """Writes what is left; what cannot be written is not tried again."""
    try:
        sys.stdout.flush()
    except OSError:
        _drop_output()
        raise


def _drop_output() -> None:
    """Sends what is left nowhere: the interpreter would try to write it once more when it ends."""
    with contextlib.suppress(OSError, io.UnsupportedOperation):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
