"""Machine code on disk: one file for each compiled function, in the user's cache or in what came with the wheel.

Numba's own cache lies under the absolute path of the source and knows it by the time it was written, so another
checkout, or a wheel that was installed, would compile everything again. Here the folder is named by a hash of all that
the code is made of (:mod:`nematodebench.kernels.target`), and that is enough.
"""

import contextlib
import hashlib
import os
import pickle
import stat
from collections.abc import Callable, Iterator
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from llvmlite.binding import address_of_symbol
from numba.core.caching import _Cache
from numba.core.compiler import CompileResult
from numba.core.runtime import rtsys
from numba.core.serialize import dumps

from nematodebench.files import atomic_write
from nematodebench.kernels.frozen import frozen_values

__all__ = ["KernelCache"]

_DIGEST = hashlib.sha256().digest_size
"""A file begins with the hash of what follows."""
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def _safe(path: Path) -> bool:
    """Whether only this user or the system's administrator can have written this."""
    if not hasattr(os, "getuid"):
        return True
    found = path.stat()
    return found.st_uid in {0, os.getuid()} and not found.st_mode & _OTHERS_WRITE


@cache
def _take_blas_for_granted() -> None:
    """Keeps Numba from importing SciPy only to find out that it is there, which takes a quarter of a short run."""
    import numba.np.linalg

    numba.np.linalg.ensure_blas = lambda: None


def _needed(library: Any) -> list[str]:
    """Names that machine code calls or reads and does not bring with it."""
    module = library._final_module
    every = (*module.functions, *module.global_variables)
    return sorted(one.name for one in every if one.is_declaration and not one.name.startswith("llvm."))


def _provide(names: list[str], target_context: Any) -> None:
    """Sees to it that these names are known, because code that calls one that is not ends the process.

    Most are known from the start. Numba's modules bring the rest with all that the compiler knows of types and
    functions, which takes half a second, so it is asked for only where something is missing.
    """
    if any(address_of_symbol(name) is None for name in names):
        _take_blas_for_granted()
        target_context.refresh()


class KernelCache(_Cache):  # type: ignore[misc]
    """The machine code of one function.

    Args:
        function: The function, as it was before it was compiled.
        folders: Tells where its code is kept, and where code lies that came with the package, which is only read and
            need not exist. Which folders these are is known only from all its sources, so it is asked when it matters.
    """

    def __init__(self, function: Callable[..., Any], folders: Callable[[], tuple[Path, Path]]) -> None:
        self._function, self._folders = function, folders

    @cached_property
    def _frozen(self) -> str:
        return frozen_values(self._function)

    @property
    def cache_path(self) -> str:
        """The folder."""
        return str(self._folders()[0])

    def holds(self, signature: Any, target: Any) -> bool:
        """Whether the code for a signature need not be compiled, as far as the names of files tell."""
        return any(self._files(signature, target.codegen()))

    def _files(self, signature: Any, codegen: Any) -> Iterator[Path]:
        """The files with the code for a signature: the user's own, and that of the package if it can be trusted."""
        name = self._name(signature, codegen)
        kept, shipped = (folder / name for folder in self._folders())
        if kept.is_file():
            yield kept
        if shipped.is_file() and all(_safe(one) for one in (shipped, *shipped.parents[:2])):
            yield shipped

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The code for a signature; None where there is none that can be used, and it is compiled."""
        rtsys.initialize(target_context)
        for path in self._files(sig, target_context.codegen()):
            # Whatever is wrong with a file (it was cut short, another version wrote it): compiling gives what it held.
            with contextlib.suppress(Exception):
                content = path.read_bytes()
                # One wrong bit in machine code is a wrong result and no error, so nothing is loaded unchecked.
                if content[:_DIGEST] == hashlib.sha256(content[_DIGEST:]).digest():
                    needed, reduced = pickle.loads(content[_DIGEST:])
                    _provide(needed, target_context)
                    return CompileResult._rebuild(target_context, *reduced)
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keeps the code. Where nothing can be written, the next process compiles again."""
        if data.library.has_dynamic_globals or any(not one.can_cache for one in data.lifted):
            return
        with contextlib.suppress(OSError):
            folder = self._folders()[0]
            folder.mkdir(parents=True, exist_ok=True)
            content = dumps((_needed(data.library), data._reduce()))
            atomic_write(folder / self._name(sig, data.codegen), hashlib.sha256(content).digest() + content)

    def _name(self, signature: Any, codegen: Any) -> str:
        """Names the file by the function, its signature, the processor, and what it takes from modules from outside."""
        what = self._function
        key = (what.__module__, str(signature), codegen.magic_tuple(), what.__code__.co_code.hex(), self._frozen)
        digest = hashlib.sha256(repr(key).encode()).hexdigest()[:12]
        return f"{Path(what.__code__.co_filename).stem}.{what.__qualname__}-{digest}.nbc"

    def enable(self) -> None:
        """It is never off."""

    def disable(self) -> None:
        """It is never off."""

    def flush(self) -> None:
        """Nothing is kept in memory."""
