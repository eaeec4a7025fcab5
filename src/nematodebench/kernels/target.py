"""Pins code generation and the disk cache, before anything of ours is compiled.

The bits of a run must not depend on the machine it was compiled on, so LLVM generates code for one fixed CPU level
(``x86-64-v3`` where the processor has it) instead of for the host. Numba's disk cache does not see edits in imported
helpers, so every file's code has a folder keyed by a hash of that file, all it imports, and the compiler's versions:
an edit compiles what depends on it, and nothing else.
"""

import ast
import hashlib
import importlib.metadata
import os
import platform
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import numba

from nematodebench.kernels.cache_folder import cache_root
from nematodebench.kernels.processor import cpu_level
from nematodebench.own_files import deciding_files

__all__ = ["SHIPPED", "cache_dir", "cache_dirs", "cache_root", "code_generation"]

_PACKAGE = Path(__file__).resolve().parent.parent
SHIPPED = _PACKAGE / "compiled"
"""Where a wheel that was built for one platform has its machine code; other installations have no such folder."""
_HARMLESS = {
    "NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES", "NUMBA_NUM_THREADS", "NUMBA_CACHE_DIR", "NUMBA_THREADING_LAYER",
    "NUMBA_DISABLE_JIT", "NUMBA_WARNINGS", "NUMBA_CAPTURED_ERRORS", "NUMBA_COLOR_SCHEME",
}  # fmt: skip
"""Settings that this package makes itself, or that change no machine code."""
_IMPORT = re.compile(r"^from (nematodebench[\w.]*) import (\([^)]*\)|[^\n]*)", re.MULTILINE)


def _pin() -> str:
    """Sets Numba's target; returns what the code generator really uses."""
    cpu = cpu_level()
    if platform.machine().lower() in {"x86_64", "amd64"}:
        os.environ["NUMBA_CPU_NAME"] = cpu
        os.environ["NUMBA_CPU_FEATURES"] = ""
        numba.config.reload_config()
        from numba.core.registry import cpu_target

        _, name, features = cpu_target.target_context.codegen().magic_tuple()
        if name != cpu or features:
            return f"{name}{features} (not pinned: numba compiled something before nematodebench was imported)"
    return cpu


@cache
def _imported(path: Path) -> frozenset[Path]:
    """The files that a file imports directly: those of the package, and those beside a file from outside of it."""
    if path.suffix != ".py":  # data that a source names
        return frozenset()
    if not path.is_relative_to(_PACKAGE):
        return frozenset(_imported_outside(path))
    found, text = set(), path.read_text(encoding="utf-8")
    for module, names in _IMPORT.findall(text):
        base = _PACKAGE.parent.joinpath(*module.split("."))
        candidates = [base, *(base / name.split(" as ")[0].strip(" ()\n") for name in names.split(","))]
        found |= {file for candidate in candidates if (file := candidate.with_suffix(".py")).is_file()}
    return frozenset(found)


def _imported_outside(path: Path) -> set[Path]:
    """Imports of a user's file, however they are written: of this package, of its own, and of what nobody installed.

    Files that it names belong to them: an array that is read from one becomes a constant in the machine code.
    """
    places: list[Path] = []
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):  # a module that nobody can import has no part in anything
        return set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            places += [place for alias in node.names for place in _places(path, alias.name)]
        elif isinstance(node, ast.ImportFrom):
            names = [
                ".".join(filter(None, (node.module, name))) for name in ("", *(alias.name for alias in node.names))
            ]
            within = path.parents[node.level - 1] if node.level else None
            for name in filter(None, names):
                places += _places(path, name) if within is None else [within.joinpath(*name.split("."))]
    files = [file for place in places for file in (place.with_suffix(".py"), place / "__init__.py")]
    found = {file for file in files if file.is_file()}
    return found if "site-packages" in path.parts else found | deciding_files(path) - {path}


def _places(path: Path, module: str) -> list[Path]:
    """Where a module may lie that a file of the user's imports; nowhere for a library, which is another's."""
    top, parts = _top(path), module.split(".")
    if parts[0] == _PACKAGE.name:
        return [_PACKAGE.parent.joinpath(*parts)]
    if "site-packages" in top.parts and parts[0] != path.relative_to(top).parts[0].removesuffix(".py"):
        return []
    return [root.joinpath(*parts) for root in (top, path.parent)]


def _top(path: Path) -> Path:
    """The folder from which a file's own package is imported."""
    folder = path.parent
    while (folder / "__init__.py").is_file():
        folder = folder.parent
    return folder


def _closure(paths: Iterable[Path]) -> list[Path]:
    """Files and all of ours that they import, directly or not: everything a compiled function can be made of."""
    seen: set[Path] = set()
    waiting = [path for path in paths if path.is_file()]
    while waiting:
        path = waiting.pop()
        if path not in seen:
            seen.add(path)
            waiting += _imported(path)
    return sorted(seen)


@cache
def _key(paths: tuple[Path, ...]) -> str:
    """Hash of all that decides what the code compiled from these files is."""
    digest = hashlib.sha256()
    for path in _closure(paths):
        digest.update(path.name.encode())
        digest.update(path.read_bytes())
    for name in ("numba", "llvmlite"):
        digest.update(f"{name}={importlib.metadata.version(name)};".encode())
    numpy = importlib.metadata.version("numpy").rpartition(".")[0]  # a third number repairs, and changes no layout
    python = ".".join(platform.python_version_tuple()[:2])
    digest.update(f"numpy={numpy};{platform.python_implementation()}{python};{_CODE_GENERATION}".encode())
    digest.update("".join(f";{name}={value}" for name, value in _compiler_settings()).encode())
    return digest.hexdigest()[:16]


def _compiler_settings() -> list[tuple[str, str]]:
    """Settings of Numba in the environment that may change machine code (``NUMBA_OPT``); usually there are none."""
    found = {name: value for name, value in os.environ.items() if name.startswith("NUMBA_") and value}
    return sorted((name, value) for name, value in found.items() if name not in _HARMLESS)


def cache_dir(*sources: str) -> Path:
    """The folder for code compiled from these files: another one as soon as any file it depends on has changed."""
    return cache_dirs(*sources)[0]


def cache_dirs(*sources: str) -> tuple[Path, Path]:
    """The folder for code compiled from these files, and the one where such code lies if it came with the package."""
    key = _key(tuple(Path(source).resolve() for source in sources))
    return cache_root() / key, SHIPPED / key


_CODE_GENERATION = _pin()


def code_generation() -> str:
    """What machine code is generated for, as recorded in every experiment's provenance."""
    return _CODE_GENERATION
