"""Makes every task known to Gymnasium as ``nematodebench/<task id>``, without importing any world or the compiler.

Gymnasium takes longer to import than everything else that a short command needs. So the tasks are registered when
somebody imports it, and at once where it is there already.
"""

import contextlib
import importlib.util
import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from nematodebench.errors import UsageError

__all__ = ["NAMESPACE", "register_all", "register_with_gymnasium"]

NAMESPACE = "nematodebench"
_GYMNASIUM = "gymnasium"


def register_with_gymnasium() -> None:
    """Registers the tasks now, or as soon as Gymnasium is imported."""
    if _GYMNASIUM in sys.modules:
        _register_what_can_be()
    else:
        sys.meta_path.insert(0, _AfterImport())


class _AfterImport(MetaPathFinder):
    """Finds Gymnasium where it always is, and registers the tasks when it is loaded."""

    def find_spec(self, fullname: str, path: Any, target: ModuleType | None = None) -> ModuleSpec | None:
        """Where Gymnasium is; every other module is found by others."""
        if fullname != _GYMNASIUM:
            return None
        with contextlib.suppress(ValueError):  # two threads import it at once
            sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def execute_and_register(module: ModuleType) -> None:
                execute(module)
                _register_what_can_be()

            spec.loader.exec_module = execute_and_register  # type: ignore[method-assign]
        return spec


def _register_what_can_be() -> None:
    """Registers the tasks. Where nothing may be compiled, whatever needs a world first says why."""
    with contextlib.suppress(UsageError):
        register_all()


def register_all() -> None:
    """Registers every built-in task that is not registered yet."""
    from gymnasium.envs.registration import register, registry

    from nematodebench.tasks.listing import task_ids

    for task in task_ids():
        name = f"{NAMESPACE}/{task}"
        if name in registry:
            continue
        if task.startswith("continual-"):  # several worlds in one body
            register(name, entry_point="nematodebench.interop.continual:ContinualEnv", kwargs={"task": task})
        else:
            register(
                name,
                entry_point="nematodebench.interop.env:NematodeEnv",
                vector_entry_point="nematodebench.interop.vector:NematodeVectorEnv",
                kwargs={"task": task},
            )
