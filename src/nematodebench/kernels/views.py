"""The compiled side of named memory: a declaration as a type of Numba's, a view as a struct of numbers and pointers.

When a view is built, every size, every constant of a brain and the place of every array is loaded into the struct,
once; what a kernel does not use vanishes. An array is made of its pointer and its dimensions where it is read, which
costs nothing. Single numbers that change are read and written in place, and a world's constants are read in place.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.datamodel import models
from numba.core.errors import NumbaTypeError
from numba.core.typing.templates import AttributeTemplate
from numba.extending import (
    NativeValue,
    infer_getattr,
    lower_builtin,
    lower_getattr_generic,
    lower_setattr_generic,
    register_model,
    type_callable,
    typeof_impl,
    unbox,
)
from numba.np.arrayobj import populate_array

from nematodebench.kernels.jit import intrinsic

__all__ = ["MisusedFieldError", "ViewType", "last", "make_array", "make_compilable"]

_NUMBA = {np.float64: types.float64, np.int64: types.int64, np.float32: types.float32}
_WORD = ir.IntType(64)


class MisusedFieldError(NumbaTypeError, TypeError):
    """A kernel reads or writes what its declaration does not allow; Numba adds the line to it."""


class ViewType(types.Type):  # type: ignore[misc]
    """The type of one declaration's views."""

    def __init__(self, declaration: Any) -> None:
        self.declaration = declaration
        fields = ";".join(
            f"{f.name}:{f.kind}{f.dims}{f.part and view_type(f.part)}" for f in declaration.fields.values()
        )
        told_by = getattr(declaration, "sizes_from", None)
        if told_by is not None:
            fields += f";sizes:{view_type(told_by)}"
        # Numba takes types of one name for the same: whatever decides the layout is in it.
        over = "Memory" if hasattr(declaration, "_heads") else "Block"
        super().__init__(name=f"{over}({declaration.__module__}.{declaration.__qualname__};{fields})")

    def borrowed(self) -> list[str]:
        """Names of dimensions that another block has to tell."""
        own = self.declaration.fields
        named = [d.partition(" + ")[0] for f in own.values() for d in f.dims if isinstance(d, str) and d != "..."]
        return sorted({name for name in named if name not in own})


def view_type(declaration: Any) -> ViewType:
    """The type of a declaration's views."""
    found: ViewType = declaration.__dict__.get("compiled_type") or ViewType(declaration)
    return found


def _holds_value(declaration: Any, field: Any) -> bool:
    """Whether a view holds the value of a field; otherwise it holds its place.

    A step of a world uses many constants, each of them once. If they were all loaded when it begins, it would run out
    of registers and store most of them again.
    """
    return field.kind == "size" or (field.kind == "constant" and hasattr(declaration, "_heads"))


def _member(declaration: Any, field: Any) -> Any:
    """What a view keeps of a field."""
    if field.part is not None:
        return view_type(field.part)
    kind = _NUMBA[field.element]
    return kind if _holds_value(declaration, field) else types.CPointer(kind)


def _attribute(field: Any) -> Any:
    """What a kernel reads."""
    if field.part is not None:
        return view_type(field.part)
    kind = _NUMBA[field.element]
    if not field.is_array:
        return kind
    return types.Array(kind, len(field.dims), "C", readonly=field.kind == "constants")


@register_model(ViewType)
class _ViewModel(models.StructModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: ViewType) -> None:
        members = [(name, _member(kind.declaration, field)) for name, field in kind.declaration.fields.items()]
        members += [(f"size {name}", types.int64) for name in kind.borrowed()]
        members += [(f"rest {name}", types.int64) for name in _open_ended(kind)]
        super().__init__(manager, kind, members)


def _open_ended(kind: ViewType) -> list[str]:
    """Arrays that take what is left."""
    return [name for name, field in kind.declaration.fields.items() if "..." in field.dims]


@infer_getattr
class _ViewAttributes(AttributeTemplate):  # type: ignore[misc]
    key = ViewType

    def generic_resolve(self, kind: ViewType, name: str) -> Any:
        """The type of a field; an error that names those there are, where there is none."""
        field = kind.declaration.fields.get(name)
        if field is None:
            raise MisusedFieldError(kind.declaration.lacks(name))
        return _attribute(field)


def _element(builder: Any, pointer: Any, index: Any) -> Any:
    return builder.gep(pointer, [index], inbounds=True)


def _dimension(context: Any, builder: Any, kind: ViewType, view: Any, field: Any, dim: Any) -> Any:
    if isinstance(dim, int):
        return ir.Constant(_WORD, dim)
    if dim == "...":
        return getattr(view, f"rest {field.name}")
    name, _, more = dim.partition(" + ")
    own = name in kind.declaration.fields
    value = getattr(view, name if own else f"size {name}")
    return builder.add(value, ir.Constant(_WORD, int(more))) if more else value


def make_array(context: Any, builder: Any, kind: Any, data: Any, shape: list[Any]) -> Any:
    """An array over memory that somebody else owns."""
    bytes_each = context.get_abi_sizeof(context.get_data_type(kind.dtype))
    step = ir.Constant(_WORD, bytes_each)
    strides: list[Any] = []
    for length in reversed(shape):
        strides.insert(0, step)
        step = builder.mul(step, length, flags=("nsw",))
    array = context.make_array(kind)(context, builder)
    itemsize = ir.Constant(_WORD, bytes_each)
    populate_array(array, data=data, shape=shape, strides=strides, itemsize=itemsize, meminfo=None)
    return array._getvalue()


@intrinsic(lambda array, count: array[array.size - count :])
def last(_context: Any, array: Any, count: Any) -> Any:
    """The last ``count`` elements of an array that has so many; a slice would check its bounds at every step."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = signature.args[0]
        whole = context.make_array(kind)(context, builder, arguments[0])
        first = builder.sub(builder.extract_value(whole.shape, 0), arguments[1])
        return make_array(context, builder, kind, _element(builder, whole.data, first), [arguments[1]])

    return array(array, types.int64), generate


class _Members:
    """The members of a view, read straight from its value: Numba's own proxy would first copy all of them to memory."""

    def __init__(self, context: Any, builder: Any, kind: Any, value: Any) -> None:
        self._model, self._builder, self._value = context.data_model_manager[kind], builder, value

    def __getattr__(self, name: str) -> Any:
        return self._model.get(self._builder, self._value, name)


class _Growing:
    """A view that is being built, member by member, without a place in memory."""

    def __init__(self, context: Any, builder: Any, kind: Any) -> None:
        model = context.data_model_manager[kind]
        self.__dict__.update(_model=model, _builder=builder, value=ir.Constant(model.get_value_type(), ir.Undefined))

    def __setattr__(self, name: str, member: Any) -> None:
        self.__dict__["value"] = self._model.set(self._builder, self.value, member, name)

    def __getattr__(self, name: str) -> Any:
        return self._model.get(self._builder, self.value, name)


@lower_getattr_generic(ViewType)  # type: ignore[untyped-decorator]
def _get(context: Any, builder: Any, kind: ViewType, value: Any, name: str) -> Any:
    field = kind.declaration.fields[name]
    view = _Members(context, builder, kind, value)
    member = getattr(view, name)
    if field.part is not None or _holds_value(kind.declaration, field):
        return member
    if field.is_array:
        shape = [_dimension(context, builder, kind, view, field, dim) for dim in field.dims]
        return make_array(context, builder, _attribute(field), member, shape)
    return builder.load(member)


@lower_setattr_generic(ViewType)  # type: ignore[untyped-decorator]
def _set(context: Any, builder: Any, signature: Any, arguments: Any, name: str) -> None:
    kind, value_type = signature.args
    view, value = arguments
    field = kind.declaration.fields[name]
    if field.part is not None or field.is_loaded or field.is_array:
        raise MisusedFieldError(
            f"{kind.declaration.__qualname__}.{name} is declared as {field.kind}: nothing can be assigned to it"
        )
    wanted = _NUMBA[field.element]
    place = getattr(_Members(context, builder, kind, view), name)
    builder.store(context.cast(builder, value, value_type, wanted), place)


def _data(context: Any, builder: Any, kind: Any, array: Any) -> Any:
    return context.make_array(kind)(context, builder, array).data


def _build_memory(context: Any, builder: Any, kind: ViewType, banks: list[Any], base: tuple[Any, Any]) -> Any:
    """A brain's view from its three arrays, or a part's; ``base`` is where its heads begin."""
    view = _Growing(context, builder, kind)
    for name, field in kind.declaration.fields.items():
        hyper, ints = (
            builder.add(first, ir.Constant(_WORD, place))
            for first, place in zip(base, kind.declaration._heads[name], strict=True)
        )
        if field.part is not None:
            value = _build_memory(context, builder, view_type(field.part), banks, (hyper, ints))
        elif field.kind == "constant":
            value = builder.load(_element(builder, banks[0], hyper))
        else:
            word = _element(builder, banks[1], ints)
            if field.kind == "counter":
                value = word
            else:
                loaded = builder.load(word)
                value = loaded if field.kind == "size" else _element(builder, banks[field.bank], loaded)
        setattr(view, name, value)
    return view.value


def _build_block(context: Any, builder: Any, kind: ViewType, data: Any, length: Any, sizes: Any) -> Any:
    """A view of one array; ``sizes`` is the type and value of the view that borrowed dimensions are taken from."""
    view = _Growing(context, builder, kind)
    for name in kind.borrowed():
        setattr(view, f"size {name}", getattr(_Members(context, builder, *sizes), name))
    for name, place in kind.declaration.singles.items():
        pointer = _element(builder, data, ir.Constant(_WORD, place))
        field = kind.declaration.fields[name]
        if field.kind == "size":
            pointer = builder.bitcast(pointer, _WORD.as_pointer())
        setattr(view, name, builder.load(pointer) if _holds_value(kind.declaration, field) else pointer)
    first: Any = ir.Constant(_WORD, len(kind.declaration.singles))
    for name, field in kind.declaration.fields.items():
        if field.is_array:
            setattr(view, name, _element(builder, data, first))
            if "..." in field.dims:
                setattr(view, f"rest {name}", builder.sub(length, first))
            for_all: Any = ir.Constant(_WORD, 1)
            for dim in field.dims:
                for_all = builder.mul(for_all, _dimension(context, builder, kind, view, field, dim))
            first = builder.add(first, for_all)
    return view.value


def _build(context: Any, builder: Any, kind: ViewType, arguments: list[Any], argument_types: Any) -> Any:
    if hasattr(kind.declaration, "_heads"):
        banks = [_data(context, builder, t, a) for t, a in zip(argument_types[:3], arguments[:3], strict=True)]
        zero = ir.Constant(_WORD, 0)
        return _build_memory(context, builder, kind, banks, (zero, zero))
    array = context.make_array(argument_types[0])(context, builder, arguments[0])
    length = builder.extract_value(array.shape, 0)
    sizes = (argument_types[1], arguments[1]) if len(arguments) > 1 else None
    return _build_block(context, builder, kind, array.data, length, sizes)


def make_compilable(declaration: Any) -> None:
    """Lets kernels build views of a declaration by calling its class, and take them as arguments."""
    kind = declaration.compiled_type = ViewType(declaration)

    if hasattr(declaration, "_heads"):

        @type_callable(declaration)  # type: ignore[untyped-decorator]
        def _typed_memory(_context: Any) -> Any:
            def typed(hyper: Any, ints: Any, mem: Any) -> Any:
                return kind

            return typed

    elif declaration.sizes_from is not None:

        @type_callable(declaration)  # type: ignore[untyped-decorator]
        def _typed_sized(_context: Any) -> Any:
            def typed(array: Any, sizes: Any) -> Any:
                return kind

            return typed

    else:

        @type_callable(declaration)  # type: ignore[untyped-decorator]
        def _typed_block(_context: Any) -> Any:
            def typed(array: Any) -> Any:
                return kind

            return typed

    @lower_builtin(declaration, types.VarArg(types.Any))  # type: ignore[untyped-decorator]
    def _lowered(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _build(context, builder, kind, list(arguments), signature.args)

    @typeof_impl.register(declaration)  # type: ignore[untyped-decorator]
    def _type_of(_view: Any, _context: Any) -> ViewType:
        return kind


def _bank_types(declaration: Any) -> list[Any]:
    """Types of the flat arrays that a view is made of."""
    if hasattr(declaration, "_heads"):
        return [types.Array(kind, 1, "C") for kind in (types.float64, types.int64, types.float32)]
    whole = any(field.kind in {"counter", "words"} for field in declaration.fields.values())
    return [types.Array(types.int64 if whole else types.float64, 1, "C")]


@unbox(ViewType)  # type: ignore[untyped-decorator]
def _unbox(kind: ViewType, view: Any, c: Any) -> NativeValue:
    """Takes a view of the interpreter's apart, so that compiled helpers can be called with it."""
    owner = c.pyapi.object_getattr_string(view, "_arrays")
    bank_types = _bank_types(kind.declaration)
    arrays = [c.unbox(bank, c.pyapi.tuple_getitem(owner, n)).value for n, bank in enumerate(bank_types)]
    if hasattr(kind.declaration, "_heads"):
        base = c.pyapi.object_getattr_string(view, "_base")
        starts = [c.unbox(types.int64, c.pyapi.tuple_getitem(base, n)).value for n in range(2)]
        banks = [_data(c.context, c.builder, t, v) for t, v in zip(bank_types, arrays, strict=True)]
        built = _build_memory(c.context, c.builder, kind, banks, (starts[0], starts[1]))
        c.pyapi.decref(base)
    else:
        if kind.declaration.sizes_from is not None:
            sizes = kind.declaration.sizes_from.compiled_type
            arrays.append(_unbox(sizes, c.pyapi.tuple_getitem(owner, 1), c).value)
            bank_types.append(sizes)
        built = _build(c.context, c.builder, kind, arrays, bank_types)
    c.pyapi.decref(owner)
    return NativeValue(built, is_error=cgutils.is_not_null(c.builder, c.pyapi.err_occurred()))
