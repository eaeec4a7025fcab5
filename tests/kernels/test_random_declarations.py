"""Declarations drawn at random: no two fields overlap, and what is written by name is read by name, compiled or not."""

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from nematodebench.kernels.jit import kernel
from nematodebench.kernels.memory import (
    Block,
    Memory,
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

SINGLE = {"constant": constant, "counter": counter, "real": real, "number": number}
ARRAY = {"constants": constants, "words": words, "floats": floats, "numbers": numbers}
FIXED = {"constant", "constants", "size"}
BRAIN = ("constant", "constants", "counter", "words", "real", "floats")
WHOLE = ("counter", "words")
PARAMS = ("constant", "constants")
STATE = ("number", "numbers")


@st.composite
def declarations(draw, base, kinds, told=None, with_parts=False, **options):
    """A declaration and the values to lay it out with; ``told`` are sizes that another declaration has."""
    own = draw(st.lists(st.integers(0, 4), max_size=3)) if told is None else []
    sizes = {f"size_{n}": value for n, value in enumerate(own)}
    fields, given = [(name, size()) for name in sizes], dict(sizes)
    known = {**(told or {}), **sizes}
    for n, kind in enumerate(draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=6))):
        name = f"{kind}_{n}"
        if kind in SINGLE:
            fields.append((name, SINGLE[kind]()))
            shape = ()
        else:
            dims, shape = draw(dimensions(known))
            fields.append((name, ARRAY[kind](*dims)))
        if kind in FIXED:
            values = draw(st.lists(st.floats(-9, 9), min_size=int(np.prod(shape)), max_size=int(np.prod(shape))))
            given[name] = np.reshape(values, shape)
    for n in range(draw(st.integers(0, 2)) if with_parts else 0):
        inner, inner_given = draw(declarations(base, kinds))
        fields.append((f"part_{n}", part(inner)))
        given[f"part_{n}"] = inner_given
    return type("Random", (base,), dict(draw(st.permutations(fields))), **options), given


@st.composite
def dimensions(draw, sizes):
    """Dimensions as they are declared, and what they come to."""
    written, shape = [], []
    for _ in range(draw(st.integers(1, 3))):
        more = draw(st.integers(0, 3))
        name = draw(st.sampled_from([None, *sizes]))
        written.append(more if name is None else name if more == 0 else f"{name} + {more}")
        shape.append(more if name is None else sizes[name] + more)
    return written, tuple(shape)


@st.composite
def states(draw):
    """A world's parameters with their values, and a state whose dimensions they tell."""
    params, given = draw(declarations(Block, PARAMS))
    told = {name: given[name] for name, field in params.fields.items() if field.kind == "size"}
    state, _ = draw(declarations(Block, STATE, told, sizes=params))
    return params, given, state


def build_memory(declared):
    declaration, values = declared
    layout = declaration.lay_out(**values)
    return declaration(layout.hyper, layout.ints, np.zeros(layout.memory, np.float32))


def build_state(declared):
    params, values, declaration = declared
    told = params(params.pack(**values))
    return declaration(np.zeros(declaration.count(told)), told)


def build_marks(declared):
    """A block of whole numbers; whoever makes one fills in its sizes."""
    declaration, sizes = declared
    array = np.zeros(len(declaration.fields), np.int64)
    for name, value in sizes.items():
        array[declaration.singles[name]] = value
    rooms = [int(np.prod(declaration(array)._shape(f))) for f in declaration.fields.values() if f.is_array]
    return declaration(np.concatenate([array[: len(declaration.singles)], np.zeros(sum(rooms), np.int64)]))


def leaves(declaration, path=""):
    """Every field that is no part, with its path."""
    for name, field in declaration.fields.items():
        if field.part is not None:
            yield from leaves(field.part, f"{path}{name}.")
        else:
            yield f"{path}{name}", field


def value_at(view, path):
    for name in path.split("."):
        view = getattr(view, name)
    return view


def set_at(view, path, value):
    *parts, name = path.split(".")
    setattr(value_at(view, ".".join(parts)) if parts else view, name, value)


def given_at(values, path):
    for name in path.split("."):
        values = values[name]
    return values


def check_by_name(view, values):
    """Writes another number to every place, then reads all: fields that overlap would show."""
    expected, following = {}, 1
    for path, field in leaves(type(view)):
        if field.kind in FIXED:
            expected[path] = given_at(values, path)
            continue
        array = np.asarray(value_at(view, path))
        expected[path] = np.arange(following, following + array.size).reshape(array.shape)
        following += array.size
        if field.is_array:
            value_at(view, path)[...] = expected[path]
        else:
            set_at(view, path, expected[path].item())
    for path, wanted in expected.items():
        np.testing.assert_array_equal(np.asarray(value_at(view, path)), wanted, err_msg=path)


def check_apart(view):
    """The bytes of arrays, wherever they lie, have nothing in common."""
    arrays = [np.asarray(value_at(view, path)) for path, field in leaves(type(view)) if field.is_array]
    spans = sorted((a.__array_interface__["data"][0], a.nbytes) for a in arrays if a.size)
    assert all(start + length <= other for (start, length), (other, _) in itertools.pairwise(spans))


@settings(max_examples=200)
@given(declarations(Memory, BRAIN, with_parts=True))
def test_fields_of_a_brain_are_apart(declared):
    view = build_memory(declared)
    check_apart(view)
    check_by_name(view, declared[1])


@settings(max_examples=100)
@given(states())
def test_fields_of_a_state_are_apart(declared):
    view = build_state(declared)
    check_apart(view)
    check_by_name(view, {})
    told = view._arrays[1]
    for path, _ in leaves(type(told)):
        np.testing.assert_array_equal(value_at(told, path), declared[1][path])


@settings(max_examples=100)
@given(declarations(Block, WHOLE))
def test_fields_of_whole_numbers_are_apart(declared):
    view = build_marks(declared)
    check_apart(view)
    check_by_name(view, declared[1])


def writer(declaration):
    """A kernel that multiplies and adds at every place by name, and sums up what is fixed."""
    lines = ["def write(view, out):"]
    for n, (path, field) in enumerate(leaves(declaration), start=2):
        indices = [f"i{axis}" for axis in range(len(field.dims))]
        for axis, index in enumerate(indices):
            lines.append(f"{'    ' * (axis + 1)}for {index} in range(view.{path}.shape[{axis}]):")
        place = f"view.{path}[{', '.join(indices)}]" if indices else f"view.{path}"
        indent = "    " * (len(indices) + 1)
        weights = " + ".join(["0", *(f"{10**axis} * {index}" for axis, index in enumerate(indices))])
        if field.kind in FIXED:
            lines.append(f"{indent}out[0] = 0.5 * out[0] + {place}")
        else:
            lines.append(f"{indent}{place} = {n} + {weights}")
            lines.append(f"{indent}{place} += {place} * {n}")
    scope = {}
    exec("\n".join(lines), scope)
    return kernel()(scope["write"])


def check_compiled(build, declared):
    compiled, interpreted = build(declared), build(declared)
    function = writer(type(compiled))
    sums = np.zeros(1), np.zeros(1)
    function(compiled, sums[0])
    function.py_func(interpreted, sums[1])
    for path, _ in leaves(type(compiled)):
        ours, theirs = (np.asarray(value_at(view, path)) for view in (compiled, interpreted))
        np.testing.assert_array_equal(ours, theirs, err_msg=path)
    for ours, theirs in zip(compiled._arrays, interpreted._arrays, strict=True):
        assert not isinstance(ours, np.ndarray) or ours.tobytes() == theirs.tobytes()
    assert sums[0] == sums[1]


# Every example is compiled, which takes most of a second.


@settings(max_examples=12)
@given(declarations(Memory, BRAIN, with_parts=True))
def test_a_brain_has_the_same_values_compiled_and_interpreted(declared):
    check_compiled(build_memory, declared)


@settings(max_examples=10)
@given(states())
def test_a_state_has_the_same_values_compiled_and_interpreted(declared):
    check_compiled(build_state, declared)


@settings(max_examples=10)
@given(declarations(Block, WHOLE))
def test_whole_numbers_are_the_same_compiled_and_interpreted(declared):
    check_compiled(build_marks, declared)
