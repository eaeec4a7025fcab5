"""Pins code generation and the disk cache, before anything of ours is compiled.

The bits of a run must not depend on the machine it was compiled on, so LLVM generates code for one fixed CPU level
(``x86-64-v3`` where the processor has it) instead of for the host. Numba's disk cache does not see edits in imported
helpers, so its folder is keyed by a hash of every source file of this package and of the compiler's versions.
"""

import hashlib
import importlib.metadata
import os
import platform
import tempfile
from functools import cache
from pathlib import Path

import llvmlite.binding as llvm
import numba

__all__ = ["cache_dir", "code_generation"]

_PACKAGE = Path(__file__).resolve().parent.parent
_COMPILED_PACKAGES = ("kernels", "worlds", "brains", "engine")
_V3_FEATURES = ("avx2", "fma", "bmi2", "f16c", "lzcnt", "movbe")


def _pinned_cpu() -> str:
    """The CPU level code is generated for; the host's own name where it is not an x86-64 one."""
    if platform.machine().lower() not in {"x86_64", "amd64"}:
        return str(llvm.get_host_cpu_name())
    host = llvm.get_host_cpu_features()
    return "x86-64-v3" if all(host.get(feature, False) for feature in _V3_FEATURES) else "x86-64"


def _pin() -> str:
    """Sets Numba's target; returns what the code generator really uses."""
    cpu = _pinned_cpu()
    if platform.machine().lower() in {"x86_64", "amd64"}:
        os.environ["NUMBA_CPU_NAME"] = cpu
        os.environ["NUMBA_CPU_FEATURES"] = ""
        numba.config.reload_config()
        from numba.core.registry import cpu_target

        _, name, features = cpu_target.target_context.codegen().magic_tuple()
        if name != cpu or features:
            return f"{name}{features} (not pinned: numba compiled something before nematodebench was imported)"
    return cpu


def _source_hash() -> str:
    """Hash of all that decides what the compiled code is."""
    digest = hashlib.sha256()
    for package in _COMPILED_PACKAGES:
        for path in sorted((_PACKAGE / package).rglob("*.py")):
            digest.update(str(path.relative_to(_PACKAGE)).encode())
            digest.update(path.read_bytes())
    for name in ("numba", "llvmlite", "numpy"):
        digest.update(f"{name}={importlib.metadata.version(name)};".encode())
    digest.update(f"{platform.python_version()};{_CODE_GENERATION}".encode())
    return digest.hexdigest()[:16]


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


@cache
def cache_dir() -> Path:
    """Folder of the compiled code: ``$NEMATODEBENCH_CACHE_DIR`` or the user's cache, else a temporary one."""
    base = os.environ.get("NEMATODEBENCH_CACHE_DIR")
    home = Path(base) if base else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "nematodebench"
    folder = home / _source_hash()
    if _writable(folder):
        return folder
    return Path(tempfile.mkdtemp(prefix="nematodebench-"))


_CODE_GENERATION = _pin()


def code_generation() -> str:
    """What machine code is generated for, as recorded in every experiment's provenance."""
    return _CODE_GENERATION
