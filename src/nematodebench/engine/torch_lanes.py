"""Networks of one architecture side by side: lane n of the input goes through network n, in a few large operations."""

import copy
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch.func import functional_call, stack_module_state, vmap

from nematodebench.engine.population_kernels import RELU, TANH, Layer, lanes_function

__all__ = ["Adam", "Networks", "Tensors", "step_sizes"]

_LINE = 16
"""Every parameter begins on a cache line of 16 numbers: what a product brings can depend on where its operands lie."""
_ALL = ""
"""The name of all parameters in one tensor, where a network is a plain chain."""
_ACTIVATIONS = {torch.nn.Tanh: TANH, torch.nn.ReLU: RELU}


class Tensors(NamedTuple):
    """What networks compute with, by name: one row a lane."""

    parameters: Mapping[str, torch.Tensor]
    buffers: Mapping[str, torch.Tensor]


class _LaneLinear(torch.nn.Module):  # type: ignore[misc]
    """A linear layer of every lane at once, ``[lane, row, input]`` to ``[lane, row, output]``."""

    def __init__(self, name: str, biased: bool) -> None:
        super().__init__()
        self._weight, self._bias = f"{name}.weight", f"{name}.bias" if biased else ""
        self.given: Mapping[str, torch.Tensor] = {}

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        weight = self.given[self._weight]
        return torch.baddbmm(self.given[self._bias][:, None], x, weight) if self._bias else torch.bmm(x, weight)


class _Chain(torch.autograd.Function):  # type: ignore[misc]
    """Linear layers with plain activations between them, as one operation of torch.

    Torch spends more time between the operations of such a network than in them. The gradient lies like ``flat``, so
    that nothing has to be gathered from the layers.
    """

    @staticmethod
    def forward(context: Any, flat: torch.Tensor, x: torch.Tensor, networks: "Networks") -> torch.Tensor:
        units, layers = [x], networks.chain(flat)
        for weight, bias, activation in layers:
            y = _product(units[-1], weight)
            if bias is not None:
                y += bias[:, None]
            if activation == TANH:
                lanes_function("tanh")(_row(y))
            elif activation == RELU:
                y.relu_()
            units.append(y)
        context.layers, context.networks = layers, networks
        context.save_for_backward(flat, *units)
        return units[-1]

    @staticmethod
    def backward(context: Any, slope: torch.Tensor) -> tuple[torch.Tensor, None, None]:
        flat, *units = context.saved_tensors
        slopes, slope = torch.zeros_like(flat), slope.clone(memory_format=torch.contiguous_format)
        layers = zip(context.layers, context.networks.chain(slopes), strict=True)
        for n, ((weight, _, activation), (by_weight, by_bias, _)) in reversed(list(enumerate(layers))):
            if activation == TANH:
                lanes_function("slope of tanh")(_row(units[n + 1]), _row(slope))
            elif activation == RELU:
                slope *= units[n + 1] > 0.0
            by_weight.copy_(_product(units[n].mT, slope))
            if by_bias is not None:
                torch.sum(slope, dim=1, out=by_bias)
            if n > 0:
                slope = _product(slope, weight.mT)
        return slopes, None, None


def _product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Products of matrices, lane by lane; where the result is narrow, its transpose takes a fifth of the time."""
    return torch.bmm(b.mT, a.mT).mT.contiguous() if b.shape[-1] < _LINE else torch.bmm(a, b)


def _row(tensor: torch.Tensor) -> NDArray[np.float32]:
    """All numbers of a tensor in a row; they share its memory."""
    row: NDArray[np.float32] = tensor.detach().view(-1).numpy()
    return row


class Networks:
    """Stacked networks.

    ``torch.func.vmap`` takes any module. One whose parameters all belong to linear layers is called directly with
    layers that have a lane more, which is four times as fast, if it brings the same numbers; a plain chain of such
    layers is one operation. The weights of these layers are kept as ``[lane, input, output]``: for one row a lane the
    product takes half the time.

    Attributes:
        flat: All parameters, a row a lane.
    """

    def __init__(self, modules: Sequence[torch.nn.Module], inputs: int) -> None:
        """Stacks modules of one architecture that take ``[row, input]``."""
        stacked, self._buffers = stack_module_state(list(modules))
        self._base = copy.deepcopy(modules[0]).to("meta")
        self._linear = frozenset[str]() if self._buffers else _linear_layers(modules[0], stacked)
        probe = torch.linspace(-1, 1, len(modules) * 2 * inputs).reshape(-1, 2, inputs)
        self._keep(stacked)
        self._layers = self._chain()
        if self._linear and not self._agrees(stacked, probe):
            self._linear, self._layers = frozenset(), None
            self._keep(stacked)
        if self._layers is not None:
            views = [Layer(row) for row in self._layers]
            self._forward, self._outputs = lanes_function("forward"), views[-1].outputs
            self._units = np.empty((2, max(max(one.inputs, one.outputs) for one in views)), dtype=np.float32)

    def _keep(self, stacked: Mapping[str, torch.Tensor]) -> None:
        """Puts the parameters into memory."""
        turned = {name: self._turned(name, value.detach()) for name, value in stacked.items()}
        self._shapes = {name: tuple(value.shape[1:]) for name, value in turned.items()}
        ends = np.cumsum([-(-math.prod(shape) // _LINE) * _LINE for shape in self._shapes.values()])
        self._starts = dict(zip(self._shapes, [0, *ends.tolist()], strict=False))
        self._strides = {name: _strides(shape) for name, shape in self._shapes.items()}
        self.flat = torch.zeros(len(next(iter(stacked.values()))), int(ends[-1]))
        for name, view in self.views(self.flat).items():
            view.copy_(turned[name])
        self._look_at_memory()

    def _look_at_memory(self) -> None:
        """Makes everything that shares the memory of ``flat``."""
        self._direct, self._lane_layers = self._with_lanes()
        self._all, self._numbers = Tensors(self.views(self.flat), self._buffers), self.flat.numpy()

    def _turned(self, name: str, value: torch.Tensor) -> torch.Tensor:
        """From a layer's ``[output, input]`` to ``[input, output]`` and back; biases stay as they are."""
        return value.mT if name.rpartition(".")[0] in self._linear and name.endswith(".weight") else value

    def views(self, flat: torch.Tensor) -> dict[str, torch.Tensor]:
        """The parameters by name in a tensor that lies like ``flat``."""
        return {name: self._view(flat, name) for name in self._shapes}

    def _view(self, flat: torch.Tensor, name: str) -> torch.Tensor:
        shape, strides = (len(flat), *self._shapes[name]), (flat.stride(0), *self._strides[name])
        return flat.as_strided(shape, strides, flat.storage_offset() + self._starts[name])

    def natural(self, flat: torch.Tensor) -> list[torch.Tensor]:
        """The same in the shapes of the modules' parameters; they share the memory."""
        return [self._turned(name, value) for name, value in self.views(flat).items()]

    def _with_lanes(self) -> tuple[Any, list[_LaneLinear]]:
        """A copy of the module whose linear layers take lanes; None if other layers have parameters too."""
        if not self._linear:
            return None, []
        copied, layers = copy.deepcopy(self._base), []
        for name in self._linear:
            layers.append(_LaneLinear(name, f"{name}.bias" in self._starts))
            copied.set_submodule(name, layers[-1])
        return copied, layers

    def _agrees(self, stacked: dict[str, torch.Tensor], probe: torch.Tensor) -> bool:
        with torch.no_grad():
            try:
                wanted = self._mapped(Tensors(stacked, self._buffers), probe)
                return bool(torch.allclose(self(probe), wanted, rtol=1e-4, atol=1e-5))
            except (RuntimeError, IndexError, ValueError):  # it does something of its own with the shape
                return False

    def _chain(self) -> NDArray[np.int64] | None:
        """The layers of a plain chain for the compiled function; None if the network is anything else."""
        self._links: list[tuple[str, str, int]] = []
        if not self._linear or type(self._base) is not torch.nn.Sequential:
            return None
        rows: list[NDArray[np.int64]] = []
        names: list[str] = []
        for name, part in self._base.named_children():
            if name in self._linear:
                rows.append(np.zeros(Layer.count(), dtype=np.int64))
                names.append(name)
                layer = Layer(rows[-1])
                layer.inputs, layer.outputs = part.in_features, part.out_features
                layer.weights, layer.biased = self._starts[f"{name}.weight"], int(part.bias is not None)
                layer.bias = self._starts.get(f"{name}.bias", 0)
            elif type(part) not in _ACTIVATIONS or not rows or Layer(rows[-1]).activation:
                return None
            else:
                Layer(rows[-1]).activation = _ACTIVATIONS[type(part)]
        for name, row in zip(names, rows, strict=True):
            layer = Layer(row)
            self._links.append((f"{name}.weight", f"{name}.bias" if layer.biased else "", int(layer.activation)))
        return np.stack(rows)

    def chain(self, flat: torch.Tensor) -> list[tuple[torch.Tensor, torch.Tensor | None, int]]:
        """Weights, biases and activations of a plain chain, layer by layer, in a tensor that lies like ``flat``."""
        return [
            (self._view(flat, weight), self._view(flat, bias) if bias else None, activation)
            for weight, bias, activation in self._links
        ]

    def _mapped(self, tensors: Tensors, x: torch.Tensor) -> torch.Tensor:
        def one(parameters: Any, buffers: Any, rows: torch.Tensor) -> Any:
            return functional_call(self._base, (parameters, buffers), (rows,))

        result: torch.Tensor = vmap(one, randomness="error")(dict(tensors.parameters), dict(tensors.buffers), x)
        return result

    def some(self, lanes: NDArray[np.int64]) -> Tensors:
        """Copies of what the given lanes compute with; one can differentiate by the parameters."""
        flat = self.flat[lanes]
        views = self.views(flat) if self._layers is None else {_ALL: flat}
        parameters = {name: value.requires_grad_() for name, value in views.items()}
        return Tensors(parameters, {name: value[lanes] for name, value in self._buffers.items()})

    def gathered(self, slopes: Sequence[torch.Tensor]) -> torch.Tensor:
        """Slopes by what :meth:`some` gave, in a tensor that lies like ``flat``."""
        if self._layers is not None:
            return slopes[0]
        flat = torch.zeros(len(slopes[0]), self.flat.shape[1])
        for view, slope in zip(self.views(flat).values(), slopes, strict=True):
            view.copy_(slope)
        return flat

    def __call__(self, x: torch.Tensor, some: Tensors | None = None) -> torch.Tensor:
        """From ``[lane, row, input]`` to ``[lane, row, output]``, of all lanes or of some."""
        if self._layers is not None:
            chained: torch.Tensor = _Chain.apply(self.flat if some is None else some.parameters[_ALL], x, self)
            return chained
        tensors = self._all if some is None else some
        if self._direct is None:
            return self._mapped(tensors, x)
        for layer in self._lane_layers:
            layer.given = tensors.parameters
        result: torch.Tensor = self._direct(x)
        return result

    def of_rows(self, x: NDArray[np.float32], lanes: NDArray[np.int64]) -> NDArray[np.float32]:
        """From ``[lane, input]`` to ``[lane, output]``: a row of each given lane; what others get means nothing."""
        if self._layers is None:
            with torch.no_grad():
                result: NDArray[np.float32] = self(torch.tensor(x)[:, None])[:, 0].contiguous().numpy()
            return result
        y = np.empty((len(x), self._outputs), dtype=np.float32)
        self._forward(self._numbers, self._layers, lanes, x, self._units, y)
        return y

    def __deepcopy__(self, memo: dict[int, Any]) -> "Networks":
        # A copy's tensors must be views of the copy's memory.
        twin = copy.copy(self)
        memo[id(self)] = twin
        twin.flat = self.flat.clone()
        twin._look_at_memory()
        return twin


def _strides(shape: Sequence[int]) -> list[int]:
    """Distances of neighbours in an array that lies row behind row."""
    return [math.prod(shape[n + 1 :]) for n in range(len(shape))]


def _linear_layers(module: torch.nn.Module, parameters: Mapping[str, torch.Tensor]) -> frozenset[str]:
    """The names of a module's linear layers; none if something else has parameters too."""
    linear = frozenset(name for name, part in module.named_modules() if type(part) is torch.nn.Linear)
    return linear if {name.rpartition(".")[0] for name in parameters} == linear and "" not in linear else frozenset()


class Adam:
    """What Adam keeps of the parameters of stacked networks; only the given lanes make a step."""

    def __init__(self, networks: Networks) -> None:
        self.first, self.second = torch.zeros_like(networks.flat), torch.zeros_like(networks.flat)

    def step(
        self, networks: Networks, slopes: Sequence[torch.Tensor], lanes: NDArray[np.int64], sizes: torch.Tensor
    ) -> None:
        """One step down the slopes, whose first rows belong to the given lanes; :func:`step_sizes` says how far."""
        values = networks.flat, networks.gathered(slopes), self.first, self.second
        lanes_function("Adam")(*(tensor.numpy() for tensor in values), lanes, sizes.numpy())


def step_sizes(rate: float, steps: torch.Tensor) -> torch.Tensor:
    """How far lanes go in their ``steps``-th step: both averages begin at 0, which is made up for."""
    return rate * torch.sqrt(1.0 - 0.999**steps) / (1.0 - 0.9**steps)
