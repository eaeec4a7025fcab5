"""Brains, one file each, found by name. A brain imports kernels and nothing else of ours.

The package can be called: ``nb.brains()`` lists what there is.
"""

import sys
import types


class _Package(types.ModuleType):
    def __call__(self) -> list[str]:
        from nematodebench.brains.registry import brain_names

        return brain_names()


sys.modules[__name__].__class__ = _Package
