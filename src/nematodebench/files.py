"""Files that are there whole or not at all, also after a crash."""

import contextlib
import os
import uuid
from pathlib import Path

__all__ = ["atomic_write"]


def atomic_write(path: Path, content: bytes) -> None:
    """Writes a file so that either the old or the whole new content is there. Its mode is what the umask asks for."""
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}")
    # The kernel applies the umask; a temporary file of the library would be readable by its owner alone.
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), 0o666)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
