"""What a brain written in Python remembers, as data: taken from its attributes, without its help.

Numbers, texts, arrays, tensors, random generators, containers of these, everything that has ``state_dict`` and
``load_state_dict`` (networks, optimisers, schedulers) and objects of the user's own classes are understood. A brain
that has both methods itself is asked instead. Where something else is met, the state as a whole cannot be had: the
:class:`UnavailableError` names the attribute.

A state is a tree that JSON can hold, and arrays that the tree refers to by name. Nothing in it is code. This module
imports no compiler: the process of an isolated brain uses it too.
"""

import hashlib
import json
import random
import sys
import sysconfig
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "State",
    "UnavailableError",
    "collect",
    "has_own_state",
    "is_users",
    "module_attributes",
    "pack",
    "state_hash",
]

MOST_NODES = 1_000_000
_NUMERIC = "biufc"
_LIBRARIES = (sysconfig.get_paths()["stdlib"], "site-packages", "dist-packages")
_KIND = "v3"
_IMMUTABLE = (tuple, frozenset, bytes, np.generic)


class UnavailableError(Exception):
    """Something that a brain holds is no data, or cannot be put back."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(f"its attribute {path!r} {why}" if path else why)


@dataclass(frozen=True)
class State:
    """A tree for JSON, and the arrays that its leaves name."""

    tree: Any
    arrays: dict[str, NDArray[Any]]


def has_own_state(brain: Any) -> bool:
    """Whether a brain tells its state itself; the methods of a network count only if they were overridden."""
    torch: Any = sys.modules.get("torch")
    if torch is not None and isinstance(brain, torch.nn.Module):
        return type(brain).state_dict is not torch.nn.Module.state_dict
    return _has_state_dict(brain)


def collect(brain: Any, *, graphs: bool = False) -> State:
    """The state of a brain.

    Args:
        brain: The brain.
        graphs: Whether a tensor may have a graph of gradients, which is left out.

    Raises:
        UnavailableError: It holds something that is no data.
    """
    taker = _Taker(brain, graphs)
    try:
        return State(taker.whole(), taker.arrays)
    except UnavailableError:
        raise
    except Exception as error:  # whatever the objects of some library do when they are asked
        raise UnavailableError("", f"{type(error).__name__}: {error}") from error


def pack(value: Any) -> State:
    """Any value that is data, as a state."""
    taker = _Taker(None, graphs=False)
    return State(taker.take(value, ""), taker.arrays)


def state_hash(states: list[State]) -> str:
    """SHA-256 of the states of some brains: their trees, then name, shape and values of every array."""
    digest = hashlib.sha256()
    for state in states:
        digest.update(json.dumps(state.tree, sort_keys=True).encode())
        for name, value in state.arrays.items():
            array = np.array(value, dtype=value.dtype.newbyteorder("<"), order="C")
            if array.dtype.kind in "fc":
                array[np.isnan(array)] = np.nan
            digest.update(f"{name}:{array.dtype.str}:{','.join(map(str, array.shape))};".encode())
            digest.update(array.tobytes())
    return f"{_KIND}:{digest.hexdigest()}"


def _has_state_dict(value: Any) -> bool:
    methods = (getattr(value, name, None) for name in ("state_dict", "load_state_dict"))
    return not isinstance(value, type) and all(callable(method) for method in methods)


def is_users(kind: type[Any], brain: Any) -> bool:
    """Whether a class belongs to the user, or to this package: its instances are what their attributes are."""
    top = kind.__module__.partition(".")[0]
    if top in {"__main__", "nematodebench", type(brain).__module__.partition(".")[0]}:
        return True
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    return file is not None and not any(place in file for place in _LIBRARIES)


def module_attributes(module: Any) -> dict[str, Any]:
    """What a network holds beside parameters, buffers and layers."""
    torch: Any = sys.modules["torch"]
    known = vars(torch.nn.Module())
    return {name: value for name, value in vars(module).items() if name not in known}


def _join(path: str, name: Any) -> str:
    return f"{path}.{name}" if path else str(name)


def _word(key: Any, n: int) -> str:
    """A key as part of a path."""
    return str(key) if type(key) in {int, str} else str(n)


def _fixed(value: Any) -> str | None:
    """The name of what is code, or a constant of a library: it stays what the constructor has made; None for others."""
    torch: Any = sys.modules.get("torch")
    if isinstance(value, type | ModuleType) or (callable(value) and hasattr(value, "__name__")):
        return str(value.__name__)
    if isinstance(value, np.dtype) or (torch is not None and isinstance(value, torch.device | torch.dtype)):
        return str(value)
    return None


@dataclass
class _Taker:
    """Walks through what a brain holds; each thing is taken once, and named by its path where it is met again."""

    brain: Any
    graphs: bool
    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)
    _seen: dict[int, tuple[str, Any]] = field(default_factory=dict)
    _nodes: int = 0

    def whole(self) -> Any:
        """The tree of the brain."""
        torch: Any = sys.modules.get("torch")
        if has_own_state(self.brain):
            return {"own": self.take(self.brain.state_dict(), "")}
        self._seen[id(self.brain)] = ("", self.brain)
        if torch is not None and isinstance(self.brain, torch.nn.Module):
            return self._network(self.brain, "")
        return {"object": self._attributes(vars(self.brain), "")}

    def take(self, value: Any, path: str) -> Any:
        """The tree of one value."""
        self._nodes += 1
        if self._nodes > MOST_NODES:
            raise UnavailableError(path, f"brings the state above {MOST_NODES:,} parts")
        if value is None or type(value) in {bool, int, str}:
            return value
        if type(value) is float:
            return {"float": value.hex()}
        if not isinstance(value, _IMMUTABLE):
            if id(value) in self._seen:
                return {"same": self._seen[id(value)][0]}
            self._seen[id(value)] = (path, value)  # kept, so that nothing else can get its id
        for kind in (self._array, self._container, self._generator, self._thing):
            taken = kind(value, path)
            if taken is not None:
                return taken
        raise UnavailableError(path, f"is a {type(value).__module__}.{type(value).__qualname__}, which is no data")

    def _attributes(self, held: Mapping[str, Any], path: str) -> dict[str, Any]:
        """What an object holds, in the alphabetical order of names."""
        return {name: self.take(held[name], _join(path, name)) for name in sorted(held)}

    def _array(self, value: Any, path: str) -> Any:
        torch: Any = sys.modules.get("torch")
        if torch is not None and isinstance(value, torch.Tensor):
            if value.grad_fn is not None and not self.graphs:
                raise UnavailableError(path, "is a tensor with a graph of gradients, which is no data")
            return {"tensor": self._keep(value.detach().cpu().numpy(), path), "grad": bool(value.requires_grad)}
        if isinstance(value, np.ndarray):
            return {"array": self._keep(value, path)}
        if isinstance(value, np.generic):
            return {"number": self._keep(np.asarray(value), path)}
        if isinstance(value, bytes):
            return {"bytes": self._keep(np.frombuffer(value, np.uint8), path)}
        return None

    def _keep(self, array: NDArray[Any], path: str) -> str:
        if array.dtype.kind not in _NUMERIC:
            raise UnavailableError(path, f"is an array of {array.dtype}")
        while path in self.arrays:  # a key may look like a path
            path += "_"
        self.arrays[path] = array.copy()
        return path

    def _container(self, value: Any, path: str) -> Any:
        if isinstance(value, dict):
            keys = [self.take(key, _join(path, f"{n}.key")) for n, key in enumerate(value)]
            held = [self.take(item, _join(path, _word(key, n))) for n, (key, item) in enumerate(value.items())]
            return {"dict": [list(pair) for pair in zip(keys, held, strict=True)]}
        if isinstance(value, set | frozenset):
            kind = "set" if isinstance(value, set) else "frozenset"
            return {kind: sorted((self.take(item, path) for item in value), key=repr)}
        if not isinstance(value, list | tuple | deque):
            return None
        items = [self.take(item, _join(path, n)) for n, item in enumerate(value)]
        if isinstance(value, deque):
            return {"deque": items, "longest": value.maxlen}
        if isinstance(value, list):
            return {"list": items}
        return {"tuple": items} if type(value) is tuple else {"tuple": items, "class": type(value).__qualname__}

    def _generator(self, value: Any, path: str) -> Any:
        torch: Any = sys.modules.get("torch")
        if isinstance(value, np.random.Generator):
            return {"generator": self.take(value.bit_generator.state, path)}
        if isinstance(value, np.random.RandomState):
            return {"random_state": self.take(value.get_state(legacy=False), path)}
        if isinstance(value, random.Random):
            return {"random": self.take(value.getstate(), path)}
        if torch is not None and isinstance(value, torch.Generator):
            return {"torch_generator": self._keep(value.get_state().numpy(), path)}
        if any(kind.__module__.startswith("gymnasium.spaces") for kind in type(value).__mro__):
            return {"space": self.take(getattr(value, "_np_random", None), _join(path, "random"))}
        return None

    def _thing(self, value: Any, path: str) -> Any:
        torch: Any = sys.modules.get("torch")
        if (name := _fixed(value)) is not None:
            return {"fixed": name}
        if isinstance(value, Enum):
            return {"enum": value.name}
        if torch is not None and isinstance(value, torch.nn.Module):
            return self._network(value, path)
        if _has_state_dict(value):
            return {"state_dict": self.take(value.state_dict(), path)}
        if hasattr(value, "__dict__") and is_users(type(value), self.brain):
            return {"object": self._attributes(vars(value), path), "class": type(value).__qualname__}
        return None

    def _network(self, module: Any, path: str) -> Any:
        """A network: its state, gradients that wait for a step, and what the user's own layers hold beside them."""
        slopes = {name: p.grad for name, p in module.named_parameters() if p.grad is not None}
        parts = {name: part for name, part in module.named_modules() if is_users(type(part), self.brain)}
        return {
            "network": self.take(dict(module.state_dict()), path),
            "gradients": self.take(slopes, _join(path, "gradients")),
            "beside": {
                name: self._attributes(module_attributes(part), _join(path, name)) for name, part in parts.items()
            },
        }
