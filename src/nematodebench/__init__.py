"""NematodeBench: is my brain better than chance, than the reference, than yours, and can anyone check it?

>>> import nematodebench as nb
>>> session = nb.run("foraging_small-v1", "null_random", runs=2, episodes=20, seed=1)
>>> len(session.runs)
2
"""

import importlib
import os
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nematodebench import adapters, callbacks, scoring, stats
    from nematodebench.brains.registry import list_brains, register_brain
    from nematodebench.callbacks.base import Callback
    from nematodebench.engine.python_brain import Transition
    from nematodebench.engine.streams import Streams
    from nematodebench.engine.torch_policy import TorchPolicy
    from nematodebench.engine.trained import TrainedBrain
    from nematodebench.policies.score import score
    from nematodebench.sessions.brains import load_brain
    from nematodebench.sessions.execution import run
    from nematodebench.sessions.loading import load_session
    from nematodebench.sessions.session import Session
    from nematodebench.tasks.registry import list_tasks, register_task, register_world

__all__ = [
    "Callback",
    "Session",
    "Streams",
    "TorchPolicy",
    "TrainedBrain",
    "Transition",
    "adapters",
    "callbacks",
    "list_brains",
    "list_tasks",
    "load_brain",
    "load_session",
    "register_brain",
    "register_task",
    "register_world",
    "run",
    "score",
    "scoring",
    "stats",
]

try:
    __version__ = version("nematodebench")
except PackageNotFoundError:  # pragma: no cover  (a source tree that was never installed)
    __version__ = "0+unknown"

# Loaded on first use: the compiled core takes a moment to import, and not every use of the package needs it.
_WHERE = {
    "Callback": ("nematodebench.callbacks.base", "Callback"),
    "Session": ("nematodebench.sessions.session", "Session"),
    "Streams": ("nematodebench.engine.streams", "Streams"),
    "TorchPolicy": ("nematodebench.engine.torch_policy", "TorchPolicy"),
    "TrainedBrain": ("nematodebench.engine.trained", "TrainedBrain"),
    "Transition": ("nematodebench.engine.python_brain", "Transition"),
    "list_brains": ("nematodebench.brains.registry", "list_brains"),
    "list_tasks": ("nematodebench.tasks.registry", "list_tasks"),
    "load_brain": ("nematodebench.sessions.brains", "load_brain"),
    "load_session": ("nematodebench.sessions.loading", "load_session"),
    "register_brain": ("nematodebench.brains.registry", "register_brain"),
    "register_task": ("nematodebench.tasks.registry", "register_task"),
    "register_world": ("nematodebench.tasks.registry", "register_world"),
    "run": ("nematodebench.sessions.execution", "run"),
    "score": ("nematodebench.policies.score", "score"),
}


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        module, attribute = _WHERE[name]
        return getattr(importlib.import_module(module), attribute)
    if name in {"adapters", "callbacks", "scoring", "stats"}:
        return importlib.import_module(f"nematodebench.{name}")
    raise AttributeError(f"module 'nematodebench' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


# So that gymnasium.make("nematodebench/...") works as soon as this package is imported. A brain in a sandbox has no
# business with worlds, and starts sooner.
if "NEMATODEBENCH_SANDBOX" not in os.environ:
    from nematodebench.interop.registration import register_with_gymnasium

    register_with_gymnasium()
