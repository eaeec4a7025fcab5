"""Puts the state of a Python brain (:mod:`nematodebench.engine.python_state`) into one that was just built.

Arrays, networks and containers that the constructor has made are filled in place, so that whatever refers to them
still does. Nothing is executed and no class is looked up outside of the brain's own module.
"""

import operator
import sys
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nematodebench.engine.python_state import State, UnavailableError, has_own_state, is_users
from nematodebench.engine.transition import Transition

__all__ = ["restore", "unpack"]

_KINDS = {
    "float", "array", "tensor", "number", "bytes", "list", "tuple", "deque", "dict", "set", "frozenset", "generator",
    "random_state", "random", "torch_generator", "space", "fixed", "enum", "state_dict", "network", "object",
}  # fmt: skip
_GENERATORS = {"PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64"}


def restore(brain: Any, state: State, *, streams: bool = True) -> None:
    """Gives a brain a state.

    Args:
        brain: A brain of the same class and config.
        state: What another one has left.
        streams: Whether its random generators go on where the other's were; otherwise they stay as they are.

    Raises:
        UnavailableError: Something that cannot be put back, because the constructor did not make its like.
    """
    putter = _Putter(brain, state.arrays, streams)
    try:
        if has_own_state(brain):
            brain.load_state_dict(putter.put(_part(state.tree, "own"), None, ""))
        elif "network" in state.tree:
            putter.put(state.tree, brain, "")
        else:
            putter.attributes(brain, _part(state.tree, "object"), "")
    except UnavailableError:
        raise
    except Exception as error:  # a state that was made for another class, or by nobody
        raise UnavailableError("", f"it does not fit: {type(error).__name__}: {error}") from error


def unpack(state: State) -> Any:
    """The value that was packed."""
    return _Putter(None, state.arrays, streams=True).put(state.tree, None, "")


def _part(tree: Any, name: str) -> Any:
    if not isinstance(tree, dict) or name not in tree:
        raise UnavailableError("", "the brain tells its state in another way than when it was saved")
    return tree[name]


def _join(path: str, name: Any) -> str:
    return f"{path}.{name}" if path else str(name)


@dataclass
class _Putter:
    """Walks through a tree and what a brain holds side by side."""

    brain: Any
    arrays: Mapping[str, NDArray[Any]]
    streams: bool
    _made: dict[str, Any] = field(default_factory=dict)

    def put(self, tree: Any, current: Any, path: str) -> Any:
        """The value of a tree: what is there already, changed in place, or something new."""
        if not isinstance(tree, dict):
            return current if type(current) is type(tree) and current == tree else tree
        if "same" in tree:
            return self._made[tree["same"]]
        kind = next(name for name in tree if name in _KINDS)
        value = getattr(self, f"_{kind}")(tree, current, path)
        self._made[path] = value
        return value

    def attributes(self, target: Any, tree: Mapping[str, Any], path: str) -> None:
        """Sets what differs: what is fixed, like a frozen config, never does."""
        self._made[path] = target
        for name, part in tree.items():
            current = getattr(target, name, None)
            value = self.put(part, current, _join(path, name))
            if value is not current or not hasattr(target, name):
                setattr(target, name, value)

    def _float(self, tree: Any, current: Any, path: str) -> float:
        value = float.fromhex(tree["float"])
        return current if type(current) is float and current.hex() == value.hex() else value

    def _array(self, tree: Any, current: Any, path: str) -> NDArray[Any]:
        stored = self.arrays[tree["array"]]
        fits = isinstance(current, np.ndarray) and (current.shape, current.dtype) == (stored.shape, stored.dtype)
        if fits and current.flags.writeable:
            current[...] = stored
            return current  # type: ignore[no-any-return]
        return stored.copy()

    def _tensor(self, tree: Any, current: Any, path: str) -> Any:
        torch: Any = sys.modules["torch"]
        stored = torch.from_numpy(self.arrays[tree["tensor"]].copy())
        if isinstance(current, torch.Tensor) and (current.shape, current.dtype) == (stored.shape, stored.dtype):
            with torch.no_grad():
                current.copy_(stored)
            return current
        return stored.requires_grad_(tree["grad"])

    def _number(self, tree: Any, current: Any, path: str) -> Any:
        return self.arrays[tree["number"]][()]

    def _bytes(self, tree: Any, current: Any, path: str) -> bytes:
        return self.arrays[tree["bytes"]].tobytes()

    def _items(self, items: Any, current: Any, path: str) -> list[Any]:
        there = list(current) if isinstance(current, list | tuple | deque) else []
        there += [None] * (len(items) - len(there))
        return [self.put(item, there[n], _join(path, n)) for n, item in enumerate(items)]

    def _list(self, tree: Any, current: Any, path: str) -> list[Any]:
        target = current if isinstance(current, list) else []
        self._made[path] = target
        target[:] = self._items(tree["list"], current, path)
        return target

    def _deque(self, tree: Any, current: Any, path: str) -> deque[Any]:
        target = current if isinstance(current, deque) else deque(maxlen=tree["longest"])
        items = self._items(tree["deque"], current, path)
        target.clear()
        target.extend(items)
        return target

    def _tuple(self, tree: Any, current: Any, path: str) -> Any:
        items = self._items(tree["tuple"], current, path)
        if isinstance(current, tuple) and len(current) == len(items) and all(map(operator.is_, current, items)):
            return current
        if "class" not in tree:
            return tuple(items)
        return tuple.__new__(self._class(tree["class"], current, path), items)

    def _set(self, tree: Any, current: Any, path: str) -> set[Any]:
        return set(self._items(tree["set"], None, path))

    def _frozenset(self, tree: Any, current: Any, path: str) -> frozenset[Any]:
        return frozenset(self._items(tree["frozenset"], None, path))

    def _dict(self, tree: Any, current: Any, path: str) -> dict[Any, Any]:
        target = current if isinstance(current, dict) else {}
        self._made[path] = target
        there, made = dict(target), {}
        for n, (key_tree, item) in enumerate(tree["dict"]):
            key = self.put(key_tree, None, _join(path, f"{n}.key"))
            word = key if type(key) in {int, str} else n
            made[key] = self.put(item, there.get(key), _join(path, word))
        target.clear()
        target.update(made)
        return target

    def _generator(self, tree: Any, current: Any, path: str) -> Any:
        state = self.put(tree["generator"], None, path)
        if current is None and state["bit_generator"] in _GENERATORS:
            current = np.random.Generator(getattr(np.random, state["bit_generator"])())
        elif not self.streams:
            return current
        current.bit_generator.state = state
        return current

    def _random_state(self, tree: Any, current: Any, path: str) -> Any:
        if self.streams:
            current.set_state(self.put(tree["random_state"], None, path))
        return current

    def _random(self, tree: Any, current: Any, path: str) -> Any:
        if self.streams:
            current.setstate(self.put(tree["random"], None, path))
        return current

    def _torch_generator(self, tree: Any, current: Any, path: str) -> Any:
        if self.streams:
            current.set_state(sys.modules["torch"].from_numpy(self.arrays[tree["torch_generator"]].copy()))
        return current

    def _space(self, tree: Any, current: Any, path: str) -> Any:
        if tree["space"] is not None:
            current._np_random = self.put(tree["space"], current._np_random, _join(path, "random"))
        return current

    def _fixed(self, tree: Any, current: Any, path: str) -> Any:
        return current

    def _enum(self, tree: Any, current: Any, path: str) -> Any:
        if not isinstance(current, Enum):
            raise UnavailableError(path, "is not made by the constructor, so it cannot be put back")
        return type(current)[tree["enum"]]

    def _state_dict(self, tree: Any, current: Any, path: str) -> Any:
        if current is None:
            raise UnavailableError(path, "is not made by the constructor, so it cannot be put back")
        current.load_state_dict(self.put(tree["state_dict"], None, path))
        return current

    def _network(self, tree: Any, current: Any, path: str) -> Any:
        if current is None:
            raise UnavailableError(path, "is not made by the constructor, so it cannot be put back")
        current.load_state_dict(self.put(tree["network"], None, path))
        slopes = self.put(tree["gradients"], None, _join(path, "gradients"))
        for name, parameter in current.named_parameters():
            parameter.grad = slopes.get(name)
        parts = dict(current.named_modules())
        for name, held in tree["beside"].items():
            self.attributes(parts[name], held, _join(path, name))
        self._made[path] = current
        return current

    def _object(self, tree: Any, current: Any, path: str) -> Any:
        kind = self._class(tree["class"], current, path)
        if type(current) is not kind:
            current = object.__new__(kind)
        if kind is Transition:  # frozen
            current.__dict__.update({n: self.put(part, None, _join(path, n)) for n, part in tree["object"].items()})
        else:
            self.attributes(current, tree["object"], path)
        return current

    def _class(self, name: str, current: Any, path: str) -> type[Any]:
        """The class of an object: that of what is there, or one that the brain's own module has by this name."""
        if current is not None and type(current).__qualname__ == name:
            return type(current)
        found = getattr(sys.modules[type(self.brain).__module__], name, Transition if name == "Transition" else None)
        if not isinstance(found, type) or not is_users(found, self.brain):
            raise UnavailableError(path, f"is a {name}, and the brain's module has no such class")
        return found
