"""What the built modules are made of, as one hash: tells whether they are those of the sources."""

import hashlib
from pathlib import Path

__all__ = ["BUILT", "VARIANTS", "sources_hash"]

_PACKAGE = Path(__file__).resolve().parent.parent
BUILT = Path(__file__).resolve().parent / "built"
VARIANTS = ("relaxed", "exact")
_ROOMS = ("kernels", "worlds", "brains")
_FILES = ("engine/loop.py", "browser/extract.py", "browser/fused.py", "browser/link.py", "browser/runtime.py")
_NOT_COMPILED = (
    "kernels/cache_folder.py", "kernels/code_cache.py", "kernels/complaints.py", "kernels/frozen.py",
    "kernels/processor.py", "kernels/safe_start.py", "kernels/target.py", "worlds/arrays.py",
    "worlds/picture.py", "worlds/ranges.py",
    "brains/configs.py", "brains/declared.py", "brains/listing.py", "brains/parameters.py", "brains/registry.py",
)  # fmt: skip
"""Files of these rooms of which nothing is in a kernel."""


def _sources() -> list[str]:
    names = [path.relative_to(_PACKAGE).as_posix() for room in _ROOMS for path in (_PACKAGE / room).rglob("*.py")]
    return sorted([*(name for name in names if name not in _NOT_COMPILED), *_FILES])


def sources_hash() -> str:
    """SHA-256 of names and contents of all files that kernels are written in."""
    digest = hashlib.sha256()
    for name in _sources():
        content = (_PACKAGE / name).read_bytes()
        digest.update(f"{name}:{len(content)};".encode())
        digest.update(content)
    return digest.hexdigest()
