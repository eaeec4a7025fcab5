"""Finds brains by name: of this package, an entry point, a registered class, ``module:Class`` or ``file.py:Class``."""

import importlib
import inspect
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias, get_args

from nematodebench.brains.base import CompiledBrain, NoMemory, nothing
from nematodebench.brains.declared import built_in_modules, offered_brains, older_names
from nematodebench.errors import UsageError, missing_extra, unknown_name
from nematodebench.imports import class_wanted, import_class, loaded, meant
from nematodebench.kernels.abi import BrainMemory
from nematodebench.vocabulary import BrainClass

__all__ = [
    "BrainType",
    "canonical_name",
    "class_of",
    "get_brain",
    "importable_elsewhere",
    "is_built_in",
    "is_compiled",
    "is_here",
    "list_brains",
    "module_of",
    "name_of",
    "register_brain",
    "without_learning",
]

BrainType: TypeAlias = type[Any]
"""A subclass of CompiledBrain, or a Python class with act, learn and begin_episode."""

_GUARD = re.compile(r"^if __name__ == ['\"]__main__['\"]", re.MULTILINE)
_REGISTERED: dict[str, BrainType] = {}
_GIVEN: dict[str, BrainType] = {}
"""Classes that somebody gave themselves: found in this process by the name that their results are stored with."""
_LIFE = {"act": ("observation",), "learn": ("transition",), "begin_episode": ()}
"""The methods of a brain in Python, and what each is given."""
_GIVEN_TO_ALL = ("observation_space", "action_space", "config", "seed")


def canonical_name(name: str) -> str:
    """The name of today for a brain that was renamed; every other name is its own."""
    return name if name in list_brains() else older_names().get(name, name)


def list_brains() -> list[str]:
    """Names of all brains that need no ``module:Class``."""
    return sorted({*built_in_modules(), *offered_brains(), *_REGISTERED})


def is_built_in(name: str) -> bool:
    """Whether a brain is part of this repository: only then its class is what its code says."""
    return canonical_name(name) in built_in_modules()


def is_here(name: str) -> bool:
    """Whether a brain is registered, installed or was given as a class: no file has to be imported to have it."""
    return name in _GIVEN or canonical_name(name) in list_brains()


def module_of(name: str) -> str | None:
    """The module of a brain of this package, which need not be imported for that; None for every other."""
    return None if name in _REGISTERED else built_in_modules().get(canonical_name(name))


def get_brain(name: str) -> BrainType:
    """The class behind a name, also behind an older one."""
    name = canonical_name(name)
    if name in _REGISTERED or name in _GIVEN:
        return _REGISTERED.get(name) or _GIVEN[name]
    if name in built_in_modules():
        return _only_brain(_loaded(name, lambda: importlib.import_module(built_in_modules()[name])), name)
    if ":" in name:
        return _checked(import_class("Brain", name), name)
    points = offered_brains()
    if name in points:
        return _checked(_loaded(name, points[name].load), name)
    if name.endswith(".py"):
        raise UsageError(class_wanted(name))
    if Path(f"{name}.py").is_file():
        raise UsageError(f"Brain {name!r} does not exist. {class_wanted(f'{name}.py')}")
    if hint := meant(name):
        raise UsageError(f"Brain {name!r} does not exist. {hint}")
    raise unknown_name("brain", name, list_brains())


def _loaded(name: str, load: Callable[[], Any]) -> Any:
    """What a brain is made of; a library that is not installed is named."""
    try:
        return loaded(load)
    except ImportError as error:
        hint = f" {missing_extra(error)}".rstrip()
        raise UsageError(f"Brain {name!r} needs what is not installed here: {error}.{hint}") from error


def _only_brain(module: Any, name: str) -> BrainType:
    for candidate in vars(module).values():
        if inspect.isclass(candidate) and vars(candidate).get("name") == name:
            return candidate
    raise UsageError(f"{module.__file__} has no class whose name is {name!r}.")


def _checked(candidate: Any, name: str) -> BrainType:
    kinds = get_args(BrainClass)
    if class_of(candidate) not in kinds:
        raise UsageError(
            f"Brain {name!r} says that its kind is {class_of(candidate)!r}: it is one of {', '.join(kinds)}."
        )
    if inspect.isclass(candidate) and issubclass(candidate, CompiledBrain):
        _check_kernels(candidate, name)
        return candidate
    if not inspect.isclass(candidate):
        score = f" A policy that is a function is scored: nematodebench score {name} --task TASK."
        raise UsageError(
            f"Brain {name!r} is no class: it is of the type {type(candidate).__name__}."
            f"{score if callable(candidate) else ''}"
        )
    missing = [method for method in _LIFE if not callable(getattr(candidate, method, None))]
    if missing:
        raise UsageError(f"Brain {name!r} is not a brain: it lacks {', '.join(missing)}.")
    if abstract := sorted(getattr(candidate, "__abstractmethods__", ())):
        raise UsageError(f"Brain {name!r} cannot be built: its class is abstract, it lacks {', '.join(abstract)}.")
    _check_constructor(candidate, name)
    for method, given in {**_LIFE, "memory": ()}.items():
        if hasattr(candidate, method):
            _check_method(candidate, name, method, given)
    return candidate


def _check_kernels(brain: type[CompiledBrain], name: str) -> None:
    """Refuses a compiled brain without ``act``, and functions that do not read its own memory."""
    if not (inspect.isclass(brain.memory) and issubclass(brain.memory, BrainMemory)):
        raise UsageError(f"Brain {name!r}: its memory is {brain.memory!r}. It has to be a class made from BrainMemory.")
    if brain.act is nothing:
        raise UsageError(f"Brain {name!r} lacks act: act = staticmethod(act) in its class, below its name.")
    for kind in ("init", "begin_episode", "act", "learn"):
        function = inspect.getattr_static(brain, kind)
        reads = getattr(getattr(function, "__func__", function), "reads", None)
        if reads is None:
            raise UsageError(
                f"Brain {name!r}: its {kind} is not compiled. Write @{brain.memory.__name__}.kernel above it."
            )
        if not issubclass(brain.memory, reads) and reads is not NoMemory:
            raise UsageError(
                f"Brain {name!r}: its {kind} reads the memory {reads.__qualname__}, but its class says memory = "
                f"{brain.memory.__qualname__}."
            )


def _check_constructor(brain: BrainType, name: str) -> None:
    """Refuses a class that cannot be built from what every brain is given."""
    try:
        signature = inspect.signature(brain)
    except ValueError:  # a class that is not written in Python does not tell
        return
    try:
        signature.bind(*_GIVEN_TO_ALL)
    except TypeError as error:
        raise UsageError(
            f"Brain {name!r} cannot be built: its __init__ has to take {', '.join(_GIVEN_TO_ALL)}; it takes "
            f"{_taken(signature)}."
        ) from error


def _check_method(brain: BrainType, name: str, method: str, given: tuple[str, ...]) -> None:
    """Refuses a method that cannot be called as every brain's is, or does not answer when it is."""
    function = inspect.getattr_static(brain, method)
    if not inspect.isfunction(function):  # a wrapper of some library: only calling it tells
        return
    if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function):
        kind = "is async" if inspect.iscoroutinefunction(function) else "yields"
        raise UsageError(f"Brain {name!r} is not a brain: its {method} {kind}. It has to be a plain function.")
    signature = inspect.signature(function)
    try:
        signature.bind("self", *given)
    except TypeError as error:
        raise UsageError(
            f"Brain {name!r} is not a brain: its {method} has to take {', '.join(('self', *given))}; it takes "
            f"{_taken(signature)}."
        ) from error


def _taken(signature: inspect.Signature) -> str:
    """What a function takes, without types and defaults; a star stands before what is only taken by name."""
    bare = [one.replace(annotation=one.empty, default=one.empty) for one in signature.parameters.values()]
    return str(inspect.Signature(bare))[1:-1] or "nothing"


def register_brain(name: str, brain: BrainType) -> BrainType:
    """Adds a brain for this process under a name of its own."""
    if not isinstance(name, str) or not re.fullmatch(r"\w[\w.-]*", name):
        raise UsageError(f"Brain {name!r} cannot be called so: give letters, digits, _, - and points.")
    if name in built_in_modules() or name in offered_brains():
        raise UsageError(f"Brain {name!r} exists already. Choose another name.")
    _REGISTERED[name] = _checked(brain, name)
    return brain


def name_of(brain: str | BrainType) -> str:
    """The name a brain is found by. A class that is given itself gets one, by which this process finds it."""
    if isinstance(brain, str):
        return brain
    if not inspect.isclass(brain):
        kind = type(brain)
        hint = " A policy that is a function is scored: nb.score(function, task)." if callable(brain) else ""
        hint = f" Give the class itself, {kind.__qualname__}." if hasattr(kind, "learn") else hint
        raise UsageError(f"A brain is given by its name or as a class; this is a {kind.__name__}.{hint}")
    own = str(vars(brain).get("name", ""))
    known = {**_REGISTERED, **({own: get_brain(own)} if own in built_in_modules() else {})}
    for name, candidate in known.items():
        if candidate is brain:
            return name
    name = f"{_place_of(brain)}:{brain.__qualname__}"
    _GIVEN[name] = _checked(brain, name)
    return name


def _place_of(brain: BrainType) -> str:
    """The module of a class, or the file where that is a script."""
    file = getattr(sys.modules.get("__main__"), "__file__", None)
    if brain.__module__ != "__main__" or file is None:
        return brain.__module__
    path = Path(file).absolute()
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)


def importable_elsewhere(brain: BrainType) -> bool:
    """Whether another process can import a class: it is in a module, or in a script that guards what it executes."""
    module = sys.modules.get(brain.__module__)
    if getattr(module, brain.__qualname__, None) is not brain:
        return False
    file = getattr(module, "__file__", None)
    if brain.__module__ != "__main__":
        return True
    return file is not None and bool(_GUARD.search(Path(file).read_text(encoding="utf-8")))


def is_compiled(brain: BrainType) -> bool:
    """Whether the brain goes through the compiled loop."""
    return issubclass(brain, CompiledBrain)


def class_of(brain: Any) -> str:
    """The class a brain says it competes in, in ``kind``; one that says nothing, or is not imported, is classical."""
    return str(getattr(brain, "kind", "classical"))


def without_learning(brain: BrainType, config: Any) -> Any:
    """The config a brain acts with where it never learns; a Python brain need not have one of its own for that."""
    own = getattr(brain, "without_learning", None)
    return config if own is None else own(config)
