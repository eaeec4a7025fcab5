"""Versioned, frozen uses of worlds: score, gate, anchors, registry.

The package can be called: ``nb.tasks()`` lists what there is.
"""

import sys
import types
from typing import Any


class _Package(types.ModuleType):
    def __call__(self) -> dict[str, Any]:
        from nematodebench.tasks.registry import all_tasks

        return all_tasks()


sys.modules[__name__].__class__ = _Package
