"""Named memory: what a world or a brain remembers is declared once, by name, and kernels read it by these names.

Compiled functions work on flat arrays, because flat arrays have one signature for all worlds and brains. A
declaration says what lies in them:

>>> class Sketch(Memory):
...     rate = constant()
...     inputs = size()
...     filled = counter()
...     values = floats("inputs")
>>> layout = Sketch.lay_out(rate=0.5, inputs=3)
>>> sketch = Sketch(layout.hyper, layout.ints, np.zeros(layout.memory, dtype=np.float32))
>>> sketch.values[2] = 1.5
>>> sketch.filled += 1
>>> print(sketch.rate, sketch.filled, sketch.values)
0.5 1 [0.  0.  1.5]

The same expressions work in compiled code (:mod:`nematodebench.kernels.views`): sizes, constants and the places of
arrays are loaded once, when a kernel begins, and the rest is what hand-written offsets would compile to. In the
interpreter a wrong name or index raises an error that names the field.

| declared by | element | in a brain's | read and written |
|---|---|---|---|
| ``constant()``, ``constants(*dims)`` | float64 | ``hyper`` | read only |
| ``size()`` | int64 | ``ints`` | read only; other fields' dimensions name it |
| ``counter()``, ``words(*dims)`` | int64 | ``ints`` | in place |
| ``real()``, ``floats(*dims)`` | float32 | ``mem`` | in place |
| ``number()``, ``numbers(*dims)`` | float64 | - (worlds only) | in place |
| ``part(Other)`` | another declaration | all three | by its own names |

A dimension is a number, the name of a size, a name with a number added (``"nodes + 1"``), or ``"..."`` for what is
left of the array. A field marked ``scratch`` is no part of what a brain has learned: its hash and its saved form
leave it out.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np

from nematodebench.kernels.fields import (
    Field,
    View,
    constant,
    constants,
    counter,
    floats,
    number,
    numbers,
    part,
    real,
    size,
    words,
)
from nematodebench.kernels.jit import F32, F64, I64

__all__ = [
    "Block", "Field", "Layout", "Memory", "View", "constant", "constants", "counter", "floats", "number", "numbers",
    "part", "real", "size", "words",
]  # fmt: skip

_LINE = 16
"""Arrays of a brain begin on cache lines, this many float32 apart: vector loads are faster there."""


@dataclass(frozen=True)
class Layout:
    """A brain fitted to a body: constants, sizes with counters, and how many floats of memory it needs."""

    hyper: F64
    ints: I64
    memory: int


def _in_place(place: int, whole: bool) -> Any:
    """A single number at a known place of a block: the run loop reads these in the interpreter too, so it is short."""

    def get(view: View) -> Any:
        return view._arrays[0][place]

    def get_whole(view: View) -> int:
        return int(view._arrays[0][place])

    def put(view: View, value: Any) -> None:
        view._arrays[0][place] = value

    return property(get_whole if whole else get, put)


class Block(View):
    """A declaration over one flat array: single numbers first, in order, then arrays, one behind another.

    A world's parameters, state and metrics are blocks. Arrays of a state take their dimensions from the parameters:
    such a block is declared as ``class State(Block, sizes=Params)`` and built as ``State(array, params)``. Sizes lie in
    float64 arrays as the bits of an int64.
    """

    _kinds = (
        frozenset({"constant", "constants", "size", "number", "numbers"}),
        frozenset({"size", "counter", "words"}),
    )
    singles: ClassVar[dict[str, int]] = {}
    """Place of every single number."""
    sizes_from: ClassVar["type[Block] | None"] = None
    """The block that tells the dimensions which this one does not declare: ``class State(Block, sizes=Params)``."""

    def __init_subclass__(cls, *, sizes: "type[Block] | None" = None, **given: Any) -> None:
        if sizes is not None:
            cls.sizes_from = sizes
        super().__init_subclass__(**given)

    @classmethod
    def _place_fields(cls) -> None:
        cls.singles = {name: n for n, name in enumerate(n for n, f in cls.fields.items() if not f.is_array)}
        for name, place in cls.singles.items():
            if not cls.fields[name].is_loaded:
                setattr(cls, name, _in_place(place, cls.fields[name].kind == "counter"))

    @classmethod
    def _is_dimension(cls, dim: str, field: Field) -> bool:
        if dim == "...":
            return field.dims == (dim,) and [f for f in cls.fields.values() if f.is_array][-1] == field
        told = cls.sizes_from is not None and cls.sizes_from._is_dimension(dim, field)
        return told or super()._is_dimension(dim, field)

    def __init__(self, array: Any, sizes: "Block | None" = None) -> None:
        self._arrays = (array,) if sizes is None else (array, sizes)

    def _dimension(self, dim: int | str, left: int) -> int:
        if isinstance(dim, str) and dim != "..." and dim.partition(" + ")[0] not in type(self).fields:
            return cast("Block", self._arrays[1])._dimension(dim, left)
        return super()._dimension(dim, left)

    def _where(self, field: Field) -> tuple[Any, int]:
        array = self._arrays[0]
        if not field.is_array:
            return array, self.singles[field.name]
        first = len(self.singles)
        for other in type(self).fields.values():
            if other.name == field.name:
                break
            if other.is_array:
                first += int(np.prod(self._shape(other)))
        return array, first

    @classmethod
    def count(cls, sizes: "Block | None" = None) -> int:
        """How many elements the flat array has; ``sizes`` is the block that dimensions are taken from."""
        if any("..." in field.dims for field in cls.fields.values()):
            raise TypeError(f"{cls.__qualname__} takes what is left of an array: it has no count of its own")
        probe = cls(np.zeros(0), sizes) if sizes is not None else cls(np.zeros(0))
        arrays = [field for field in cls.fields.values() if field.is_array]
        return len(cls.singles) + sum(int(np.prod(probe._shape(field))) for field in arrays)

    @classmethod
    def pack(cls, *sources: object, **given: Any) -> F64:
        """The flat array with every size, constant and table.

        Values are taken from ``given``, then from the attributes of ``sources`` that have a field's name.
        """
        values = {name: _value(cls.__qualname__, name, given, sources) for name in cls.fields}
        _refuse_unknown(cls, given, cls.__qualname__)
        head = np.zeros(len(cls.singles))
        for name, place in cls.singles.items():
            if cls.fields[name].kind == "size":
                head.view(np.int64)[place] = int(values[name])
            else:
                head[place] = float(values[name])
        tables = [np.asarray(values[n], dtype=np.float64) for n, f in cls.fields.items() if f.is_array]
        packed = np.concatenate([head, *(table.ravel() for table in tables)])
        view = cls(packed)
        for name, table in zip((n for n, f in cls.fields.items() if f.is_array), tables, strict=True):
            if (shape := view._shape(cls.fields[name])) != table.shape:
                raise ValueError(f"{cls.__qualname__}.{name} has the shape {table.shape}, declared is {shape}")
        return packed


class Memory(View):
    """A brain's declaration, or a part of one, over the arrays ``hyper``, ``ints`` and ``mem``."""

    _kinds = (frozenset({"constant", "constants", "size", "counter", "words", "real", "floats", "part"}),)
    _heads: ClassVar[dict[str, tuple[int, int]]] = {}
    """Place of every field's own word in the heads of ``hyper`` and ``ints``; a part has a stretch of both."""
    _head_sizes: ClassVar[tuple[int, int]] = (0, 0)
    _base: tuple[int, int]

    @classmethod
    def _place_fields(cls) -> None:
        heads, hyper, ints = {}, 0, 0
        for name, field in cls.fields.items():
            heads[name] = (hyper, ints)
            if field.part is not None:
                hyper, ints = hyper + field.part._head_sizes[0], ints + field.part._head_sizes[1]
            else:
                hyper, ints = hyper + (field.kind == "constant"), ints + (field.kind != "constant")
        cls._heads, cls._head_sizes = heads, (hyper, ints)

    def __init__(self, hyper: F64, ints: I64, mem: F32, base: tuple[int, int] = (0, 0)) -> None:
        self._arrays, self._base = (hyper, ints, mem), base

    def _part(self, field: Field) -> "Memory":
        assert field.part is not None
        hyper, ints = self._heads[field.name]
        of_hyper, of_ints, of_mem = self._arrays
        view: Memory = field.part(of_hyper, of_ints, of_mem, (self._base[0] + hyper, self._base[1] + ints))
        return view

    def _where(self, field: Field) -> tuple[Any, int]:
        hyper, ints = self._heads[field.name]
        if field.kind == "constant":
            return self._arrays[0], self._base[0] + hyper
        at = self._base[1] + ints
        if field.kind in {"size", "counter"}:
            return self._arrays[1], at
        return self._arrays[field.bank], int(self._arrays[1][at])

    @classmethod
    def lay_out(cls, *sources: object, **given: Any) -> Layout:
        """Places every field and fills what is fixed or given.

        Args:
            sources: Objects whose attributes are values of the constants and sizes of the same name that are not given.
            given: Values by field; a part's value is a mapping of its own.

        Returns:
            The arrays; ``mem`` is left to whoever builds the brain, as zeros.
        """
        plan = _Plan([0.0] * cls._head_sizes[0], [0] * cls._head_sizes[1])
        plan.fill(cls, given, sources, (0, 0), cls.__qualname__)
        return Layout(np.array(plan.hyper, dtype=np.float64), np.array(plan.ints, dtype=np.int64), plan.memory)

    def learned(self) -> Iterator[tuple[str, Any]]:
        """Names and values of all that the brain keeps: every field that is neither fixed nor scratch."""
        for name, field in type(self).fields.items():
            if field.part is not None:
                yield from ((f"{name}.{inner}", value) for inner, value in self._part(field).learned())
            elif not field.scratch and not field.is_loaded and field.kind != "constants":
                yield name, np.asarray(getattr(self, name), dtype=field.element)

    @classmethod
    def sizes(cls, **given: Any) -> Mapping[str, Any]:
        """What a declaration needs as a part: a mapping for :meth:`lay_out`."""
        return given


@dataclass
class _Plan:
    """The arrays of a brain as they grow."""

    hyper: list[float]
    ints: list[int]
    memory: int = 0

    def fill(
        self, cls: type[Memory], given: Mapping[str, Any], sources: tuple[object, ...], base: Any, called: str
    ) -> None:
        """Places the fields of one declaration whose heads begin at ``base``; ``called`` is its name in errors."""
        _refuse_unknown(cls, given, called)
        fixed = [name for name, field in cls.fields.items() if field.is_loaded or field.kind == "constants"]
        found = {name: _value(called, name, given, sources) for name in fixed}
        for name, field in cls.fields.items():
            hyper, ints = (base[n] + cls._heads[name][n] for n in (0, 1))
            if field.part is not None:
                self.fill(field.part, given.get(name, {}), sources, (hyper, ints), f"{called}.{name}")
            elif field.kind == "constant":
                self.hyper[hyper] = float(found[name])
            elif field.kind in {"size", "counter"}:
                self.ints[ints] = int(found.get(name, given.get(name, 0)))
            else:
                shape = tuple(_fixed(dim, found) for dim in field.dims)
                self.ints[ints] = self._room(cls, field, shape, found.get(name, given.get(name)))

    def _room(self, cls: type[Memory], field: Field, shape: tuple[int, ...], values: Any) -> int:
        """Where an array is put."""
        count = int(np.prod(shape))
        if field.bank == 2:
            if values is not None:
                raise ValueError(f"{cls.__qualname__}.{field.name} is filled by the brain's `init`, not here")
            place, self.memory = self.memory, self.memory + -(-count // _LINE) * _LINE
            return place
        flat = [0] * count if values is None else np.asarray(values).ravel().tolist()
        if len(flat) != count:
            raise ValueError(f"{cls.__qualname__}.{field.name} has {len(flat)} values, declared are {count}")
        bank: list[Any] = self.hyper if field.bank == 0 else self.ints
        bank += flat
        return len(bank) - count


def _fixed(dim: int | str, sizes: Mapping[str, Any]) -> int:
    if isinstance(dim, int):
        return dim
    name, _, more = dim.partition(" + ")
    return int(sizes[name]) + int(more or 0)


def _value(called: str, name: str, given: Mapping[str, Any], sources: tuple[object, ...]) -> Any:
    if name in given:
        return given[name]
    for source in sources:
        if hasattr(source, name):
            return getattr(source, name)
    raise TypeError(f"{called}.{name} has no value: give {name}=...")


def _refuse_unknown(cls: type[View], given: Mapping[str, Any], called: str) -> None:
    for name in given:
        if name not in cls.fields:
            raise TypeError(cls.lacks(name, called))
