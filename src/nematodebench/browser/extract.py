"""Writes the LLVM code of every kernel that a run can need, as Numba generates it and before anything optimises it.

Optimised code is made for one processor. So this runs in a process of its own, in which Numba optimises nothing
(``NUMBA_OPT=0``) and finds nothing that was compiled before: ``python -m nematodebench.browser.extract FOLDER``.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from numba import types

from nematodebench.brains.base import nothing
from nematodebench.brains.registry import get_brain, is_built_in, is_compiled, list_brains
from nematodebench.browser.fused import fma32, fma64, self_test
from nematodebench.engine import loop
from nematodebench.kernels.abi import BRAIN, SCENE, WORLD
from nematodebench.kernels.jit import first_class
from nematodebench.tasks.registry import built_in_tasks

__all__ = ["BRAIN_FUNCTIONS", "EXACT", "LOOP", "NOTHING", "SELF_TEST", "WORLD_FUNCTIONS", "function_key", "kernels"]

WORLD_FUNCTIONS = {"reset": WORLD, "step": WORLD, "reference": WORLD, "scene": SCENE}
BRAIN_FUNCTIONS = ("init", "begin_episode", "act", "learn")


def function_key(function: Any) -> str:
    """The name of a kernel in the modules: worlds share functions, so it is that of the function."""
    module = function.__module__.removeprefix("nematodebench.")
    return f"{module}:{function.__qualname__}"


LOOP, NOTHING, SELF_TEST = (function_key(one) for one in (loop.run_phase, nothing, self_test))
EXACT = function_key(fma32), function_key(fma64)


def _found() -> Iterator[tuple[Any, Any]]:
    double = types.float64
    yield fma32, types.float32(double, double)
    yield fma64, double(double, double, double)
    yield self_test, types.int64(types.uint64[::1], types.int64)
    yield loop.run_phase, loop.SIGNATURE
    yield nothing, BRAIN
    for task in built_in_tasks().values():
        for world in task.worlds:
            for kind, signature in WORLD_FUNCTIONS.items():
                yield getattr(world, kind, None), signature
    for name in list_brains():
        if is_built_in(name) and is_compiled(brain := get_brain(name)):
            for kind in BRAIN_FUNCTIONS:
                yield getattr(brain, kind), BRAIN


def kernels() -> dict[str, tuple[Any, Any]]:
    """Every kernel with its signature, by key: the run loop, all worlds of built-in tasks, all compiled brains."""
    return {function_key(function): (function, signature) for function, signature in _found() if function is not None}


def _write(folder: Path, number: int, function: Any, signature: Any) -> dict[str, str]:
    dispatcher: Any = first_class(function, signature)
    (code,) = dispatcher.overloads.values()
    name = f"{number:03d}.ll"
    (folder / name).write_text(code.library.get_llvm_str(), encoding="utf-8")
    return {"file": name, "symbol": code.fndesc.llvm_func_name}


def main(folder: Path) -> None:
    """Writes a file for each kernel, and ``kernels.json`` with their names."""
    found = {key: _write(folder, n, *one) for n, (key, one) in enumerate(kernels().items())}
    (folder / "kernels.json").write_text(json.dumps(found, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
