"""The nodes of NIR that are computed here, one step of forward Euler at a time.

A spike is 1 in the step in which it happens. ``dt`` is the length of a step; NIR writes its equations in seconds.

| node | what a step does |
|---|---|
| Input, Output, Flatten | hands on |
| Affine, Linear, Scale, Threshold | ``W x + b``, ``W x``, ``s x``, ``x > threshold`` |
| I, IF | ``v += dt r x``; IF fires above its threshold and is set to ``v_reset`` |
| LI, LIF | ``v += dt / tau (v_leak - v + r x)``; LIF fires likewise |
| CubaLI, CubaLIF | first the current, ``i += dt / tau_syn (w_in x - i)``, then ``v`` with the new current |
"""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from nematodebench.errors import UsageError

__all__ = ["KINDS", "Node", "make_node"]

Values: TypeAlias = NDArray[np.float64]
Node: TypeAlias = "Plain | Neurons"


class Plain:
    """A node without memory."""

    def __init__(self, compute: Callable[[Values], Values]) -> None:
        self.compute = compute

    def begin(self) -> None:
        """Nothing is remembered."""

    def step(self, values: Values) -> Values:
        """One step."""
        return self.compute(values)


class Neurons:
    """Integrators, leaky or not, with or without a synaptic current, that fire or give their potential."""

    def __init__(self, node: Any, dt: float) -> None:
        leaks, current = hasattr(node, "v_leak"), hasattr(node, "tau_syn")
        tau = _array(node, "tau_mem" if current else "tau", 1.0)
        self._gain = dt / tau if leaks else np.full_like(_array(node, "r"), dt)
        self._leaks = float(leaks)
        self._rest, self._r = _array(node, "v_leak", 0.0), _array(node, "r")
        self._rise = dt / _array(node, "tau_syn") if current else None
        self._weight = _array(node, "w_in", 1.0)
        self._fires = hasattr(node, "v_threshold")
        self._threshold, self._reset = _array(node, "v_threshold", np.inf), _array(node, "v_reset", 0.0)
        self.begin()

    def begin(self) -> None:
        """Every potential is at rest, as it was when the first episode began."""
        self.v = self._rest + np.zeros_like(self._r)
        self.i = np.zeros_like(self._r)

    def step(self, values: Values) -> Values:
        """One step."""
        self.i = values if self._rise is None else self.i + self._rise * (self._weight * values - self.i)
        self.v = self.v + self._gain * (self._leaks * (self._rest - self.v) + self._r * self.i)
        if not self._fires:
            return self.v
        spikes = self.v > self._threshold
        self.v = np.where(spikes, self._reset, self.v)
        return spikes.astype(np.float64)


def _array(node: Any, name: str, default: float = 0.0) -> Values:
    value = getattr(node, name, None)
    return np.asarray(default if value is None else value, dtype=np.float64)


def _affine(node: Any, dt: float) -> Plain:
    weight, bias = _array(node, "weight"), _array(node, "bias", 0.0)
    return Plain(lambda values: weight @ values + bias)


def _scale(node: Any, dt: float) -> Plain:
    scale = _array(node, "scale")
    return Plain(lambda values: scale * values)


def _threshold(node: Any, dt: float) -> Plain:
    threshold = _array(node, "threshold")
    return Plain(lambda values: (values > threshold).astype(np.float64))


def _hand_on(node: Any, dt: float) -> Plain:
    return Plain(lambda values: values)


KINDS: dict[str, Callable[[Any, float], Node]] = {
    "Affine": _affine, "CubaLI": Neurons, "CubaLIF": Neurons, "Flatten": _hand_on, "I": Neurons, "IF": Neurons,
    "Input": _hand_on, "LI": Neurons, "LIF": Neurons, "Linear": _affine, "Output": _hand_on, "Scale": _scale,
    "Threshold": _threshold,
}  # fmt: skip
"""What computes a node, by the name of its kind."""


def make_node(source: str, name: str, node: Any, dt: float) -> Node:
    """The node that computes what a node of NIR describes."""
    kind = type(node).__name__
    if kind not in KINDS:
        raise UsageError(f"{source}: node {name!r} is of the kind {kind}, and these are computed: {', '.join(KINDS)}.")
    return KINDS[kind](node, dt)
