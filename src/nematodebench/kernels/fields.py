"""The fields of a declaration, and views of flat arrays in the interpreter."""

from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar, cast

import numpy as np

from nematodebench.kernels.jit import F32, F64, I64
from nematodebench.kernels.views import make_compilable

__all__ = [
    "Field", "View", "constant", "constants", "counter", "floats", "number", "numbers", "part", "real", "size", "words",
]  # fmt: skip

_ELEMENTS: dict[str, type[np.generic]] = {
    "constant": np.float64, "constants": np.float64, "size": np.int64, "counter": np.int64, "words": np.int64,
    "real": np.float32, "floats": np.float32, "number": np.float64, "numbers": np.float64,
}  # fmt: skip
_LOADED = frozenset({"constant", "size"})
_ARRAYS = frozenset({"constants", "words", "floats", "numbers"})
_BANKS = {"constant": 0, "constants": 0, "size": 1, "counter": 1, "words": 1, "real": 2, "floats": 2}

Part = TypeVar("Part", bound="View")


@dataclass(frozen=True)
class Field:
    """One declared name."""

    kind: str
    dims: tuple[int | str, ...] = ()
    scratch: bool = False
    part: type[Any] | None = None
    name: str = ""

    @property
    def is_array(self) -> bool:
        """Whether it has dimensions."""
        return self.kind in _ARRAYS

    @property
    def is_loaded(self) -> bool:
        """Whether it is a number that nobody writes, loaded when a view is built."""
        return self.kind in _LOADED

    @property
    def element(self) -> type[np.generic]:
        """The type of its numbers."""
        return _ELEMENTS[self.kind]

    @property
    def bank(self) -> int:
        """Which of a brain's arrays holds it: 0 ``hyper``, 1 ``ints``, 2 ``mem``."""
        return _BANKS[self.kind]


# The declaring functions pretend to return what an attribute of this name is, so that kernels are type-checked.
def constant() -> float:
    """A float64 that is fixed when a brain or a world is built."""
    return cast("float", Field("constant"))


def constants(*dims: int | str) -> F64:
    """An array of float64 that is fixed when a brain or a world is built: a table."""
    return cast("F64", Field("constants", dims))


def size() -> int:
    """A whole number that is fixed when a brain or a world is built; dimensions of other fields name it."""
    return cast("int", Field("size"))


def counter(*, scratch: bool = False) -> int:
    """A whole number that changes."""
    return cast("int", Field("counter", scratch=scratch))


def words(*dims: int | str, scratch: bool = False) -> I64:
    """An array of whole numbers."""
    return cast("I64", Field("words", dims, scratch))


def real(*, scratch: bool = False) -> np.float32:
    """A float32 that changes."""
    return cast("np.float32", Field("real", scratch=scratch))


def floats(*dims: int | str, scratch: bool = False) -> F32:
    """An array of float32."""
    return cast("F32", Field("floats", dims, scratch))


def number() -> float:
    """A float64 that changes, in a world's state."""
    return cast("float", Field("number"))


def numbers(*dims: int | str) -> F64:
    """An array of float64 in a world's state."""
    return cast("F64", Field("numbers", dims))


def part(declaration: type[Part]) -> Part:
    """Another brain's or kernel's declaration as a part of this one."""
    return cast("Part", Field("part", part=declaration))


class _NamedArray(np.ndarray[Any, Any]):
    """An array that says which field it is when an index is wrong."""

    label: str

    def __array_finalize__(self, source: Any) -> None:
        self.label = getattr(source, "label", "")

    def __getitem__(self, index: Any) -> Any:
        try:
            return super().__getitem__(index)
        except IndexError as error:
            raise IndexError(f"{self.label}: {error}") from None

    def __setitem__(self, index: Any, value: Any) -> None:
        try:
            super().__setitem__(index, value)
        except (IndexError, ValueError) as error:
            raise type(error)(f"{self.label}: {error}") from None


class View:
    """Base of declarations. An instance is a view of flat arrays; nothing is copied."""

    fields: ClassVar[dict[str, Field]] = {}
    _kinds: ClassVar[tuple[frozenset[str], ...]] = (frozenset(),)
    """Kinds of fields that can be declared together."""
    _arrays: tuple[Any, ...]

    def __init_subclass__(cls, **given: Any) -> None:
        super().__init_subclass__(**given)
        own = {name: value for name, value in vars(cls).items() if isinstance(value, Field)}
        inherited: dict[str, Field] = super(cls, cls).fields  # type: ignore[misc]
        for name in own:
            if name.startswith("_") or (name not in inherited and any(hasattr(base, name) for base in cls.__bases__)):
                raise TypeError(f"{cls.__qualname__}: the name {name!r} is taken. Choose another for this field.")
        cls.fields = {**inherited, **{n: Field(f.kind, f.dims, f.scratch, f.part, n) for n, f in own.items()}}
        cls._refuse_misfits()
        for name in own:
            setattr(cls, name, _property(cls.fields[name]))
        cls._place_fields()
        make_compilable(cls)

    @classmethod
    def _refuse_misfits(cls) -> None:
        """Refuses fields that cannot lie together here, and dimensions that nobody tells."""
        kinds = {field.kind for field in cls.fields.values()}
        if not any(kinds <= together for together in cls._kinds):
            possible = "; or ".join(", ".join(sorted(together)) for together in cls._kinds)
            raise TypeError(f"{cls.__qualname__} declares {', '.join(sorted(kinds))}. It can declare: {possible}.")
        for name, field in cls.fields.items():
            if field.is_array != bool(field.dims):
                raise TypeError(f"{cls.__qualname__}.{name} is declared as {field.kind} without dimensions")
            for dim in field.dims:
                if not isinstance(dim, str) and not (isinstance(dim, int) and dim >= 0):
                    raise TypeError(
                        f"{cls.__qualname__}.{name} has the dimension {dim!r}: a dimension is the name of a size or a "
                        "number of at least 0"
                    )
                if isinstance(dim, str) and not cls._is_dimension(dim, field):
                    raise TypeError(f"{cls.__qualname__}.{name} has the dimension {dim!r}, which names no size of it")

    @classmethod
    def _is_dimension(cls, dim: str, field: Field) -> bool:
        """Whether it is the name of a size, with or without a number added."""
        name, added, more = dim.partition(" + ")
        return name in cls.fields and cls.fields[name].kind == "size" and more.isdecimal() == bool(added)

    @classmethod
    def _place_fields(cls) -> None:
        """Computes what is known of the layout before any size is."""

    @classmethod
    def lacks(cls, name: str, called: str = "") -> str:
        """What is said of a name that is not declared; ``called`` is the name of a part in the whole."""
        return f"{called or cls.__qualname__} declares no field {name!r}. It has: {', '.join(cls.fields)}."

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(self.lacks(name))

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("_") and name not in type(self).fields:
            self.__getattr__(name)
        super().__setattr__(name, value)

    def _where(self, field: Field) -> tuple[Any, int]:
        """The flat array a field lies in, and its first element there."""
        raise NotImplementedError(f"{type(self).__name__} must say where {field.name} lies")

    def _dimension(self, dim: int | str, left: int) -> int:
        if isinstance(dim, int):
            return dim
        if dim == "...":
            return left
        name, _, more = dim.partition(" + ")
        return int(getattr(self, name)) + int(more or 0)

    def _shape(self, field: Field) -> tuple[int, ...]:
        """The dimensions of an array."""
        sizes = [self._dimension(dim, -1) for dim in field.dims]
        if -1 in sizes:
            array, first = self._where(field)
            rest = int(np.prod([n for n in sizes if n != -1]))
            sizes[sizes.index(-1)] = (array.size - first) // rest
        return tuple(sizes)


def _property(field: Field) -> Any:
    """How a field is read and written in the interpreter."""
    name = field.name

    def get_array(view: View) -> Any:
        array, first = view._where(field)
        shape = view._shape(field)
        piece = array[first : first + int(np.prod(shape))].reshape(shape).view(_NamedArray)
        piece.label = f"{type(view).__qualname__}.{name}{shape}"
        piece.flags.writeable &= field.kind != "constants"
        return piece

    def get_part(view: View) -> Any:
        return cast("Any", view)._part(field)

    def get_loaded(view: View) -> Any:
        array, first = view._where(field)
        value = array[first]
        return int(value if array.dtype == np.int64 else value.view(np.int64)) if field.kind == "size" else value

    def get_scalar(view: View) -> Any:
        array, first = view._where(field)
        value = array[first]
        return int(value) if field.kind == "counter" else value

    def set_scalar(view: View, value: Any) -> None:
        array, first = view._where(field)
        array[first] = value

    def refuse(view: View, _value: Any) -> None:
        raise AttributeError(
            f"{type(view).__qualname__}.{name} is declared as {field.kind}: nothing can be assigned to it"
        )

    if field.kind == "part":
        return property(get_part, refuse)
    if field.is_array:
        return property(get_array, refuse)
    return property(get_loaded, refuse) if field.is_loaded else property(get_scalar, set_scalar)
