"""Named memory: what is declared, what is given, where it lies, and what counts as learned."""

from types import SimpleNamespace

import numpy as np
import pytest
from memory_workshop import Brain, Cells, Params, Row, State, brain, built, given_brain, params

from nematodebench.kernels.abi import BrainMemory
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

# What is declared.


def test_fields_are_those_declared_in_their_order():
    names = "rate table inputs first steps weights marks second bias units buffer passes"
    assert list(Brain.fields) == names.split()
    assert Brain.fields["weights"].dims == ("inputs", "units")


def test_a_declaration_inherits_fields_and_may_declare_them_anew():
    class Longer(Cells):
        trace = floats("cells", "cells")
        more = real()

    assert list(Longer.fields) == [*Cells.fields, "more"]
    assert built(Longer, Longer.lay_out(gain=1.0, cells=3)).trace.shape == (3, 3)
    assert built(Cells, Cells.lay_out(gain=1.0, cells=3)).trace.shape == (4,)


@pytest.mark.parametrize("name", ["fields", "lay_out", "learned", "sizes", "_arrays", "_part"])
def test_a_name_that_memory_needs_itself_is_refused(name):
    with pytest.raises(TypeError, match=f"the name '{name}' is taken"):
        type("Taken", (Memory,), {name: counter()})


@pytest.mark.parametrize("name", ["count", "pack", "singles", "sizes_from"])
def test_a_name_that_blocks_need_themselves_is_refused(name):
    with pytest.raises(TypeError, match=f"Taken: the name '{name}' is taken"):
        type("Taken", (Block,), {name: number()})


def test_a_name_that_brains_need_themselves_is_refused():
    with pytest.raises(TypeError, match="the name 'kernel' is taken"):
        type("Taken", (BrainMemory,), {"kernel": counter()})


@pytest.mark.parametrize("dim", ["units", "units + 1", "rate", "inputs+1", "inputs + ", "inputs + x", "..."])
@pytest.mark.parametrize("kind", [floats, words, constants])
def test_a_dimension_that_names_no_size_is_refused(kind, dim):
    fields = {"rate": constant(), "inputs": size(), "values": kind("inputs", dim)}
    with pytest.raises(TypeError, match=r"Wrong.values has the dimension .*, which names no size of it"):
        type("Wrong", (Memory,), fields)


@pytest.mark.parametrize("dims", [("...", 2), (2, "..."), ("cells",)])
def test_a_dimension_of_a_block_that_nobody_tells_is_refused(dims):
    with pytest.raises(TypeError, match=r"Wrong.values has the dimension"):
        type("Wrong", (Block,), {"values": numbers(*dims)})


def test_only_the_last_array_can_take_what_is_left():
    with pytest.raises(TypeError, match=r"Wrong.tail has the dimension '...'"):
        type("Wrong", (Block,), {"tail": numbers("..."), "behind": numbers(2)})


@pytest.mark.parametrize("kind", [constants, floats, words])
def test_an_array_without_dimensions_is_refused(kind):
    with pytest.raises(TypeError, match=r"Wrong.values is declared as \w+ without dimensions"):
        type("Wrong", (Memory,), {"values": kind()})


@pytest.mark.parametrize(
    ("base", "fields"),
    [
        (Memory, {"x": number()}),
        (Memory, {"x": numbers(3)}),
        (Block, {"x": real()}),
        (Block, {"x": floats(3)}),
        (Block, {"x": part(Cells)}),
        (Block, {"x": number(), "n": counter()}),
        (Block, {"x": constant(), "n": words(2)}),
    ],
)
def test_fields_that_cannot_lie_in_the_same_arrays_are_refused(base, fields):
    with pytest.raises(TypeError, match="It can declare: "):
        type("Wrong", (base,), fields)


# What is given.


def test_values_are_taken_from_sources_where_they_are_not_given():
    config, body = SimpleNamespace(gain=2.0, cells=9), SimpleNamespace(cells=7)
    found = built(Cells, Cells.lay_out(config, body))
    assert (found.gain, found.cells) == (2.0, 9)
    found = built(Cells, Cells.lay_out(config, body, cells=1))
    assert (found.gain, found.cells) == (2.0, 1)


def test_parts_take_values_from_the_same_sources():
    shared = SimpleNamespace(gain=2.0, cells=1, rate=0.5)
    given = {name: value for name, value in given_brain().items() if name not in {"rate", "first"}}
    found = built(Brain, Brain.lay_out(shared, **given))
    assert (found.first.gain, found.first.cells, found.second.gain) == (2.0, 1, 4.0)


def test_counters_and_words_may_be_given_too():
    found = built(Cells, Cells.lay_out(gain=1.0, cells=3, spent=-7, order=[3, 1, 2]))
    assert (found.spent, found.order.tolist()) == (-7, [3, 1, 2])


def test_what_is_not_given_is_0():
    found = brain()
    assert (found.steps, found.bias, found.second.spent) == (0, 0.0, 0)
    assert not found.weights.any()
    assert not found.marks.any()


@pytest.mark.parametrize("missing", ["rate", "table", "inputs", "units"])
def test_a_missing_value_is_named(missing):
    given = {name: value for name, value in given_brain().items() if name != missing}
    with pytest.raises(TypeError, match=rf"Brain.{missing} has no value: give {missing}="):
        Brain.lay_out(**given)


def test_a_missing_value_of_a_part_is_named():
    with pytest.raises(TypeError, match=r"Brain.second.gain has no value"):
        Brain.lay_out(**{**given_brain(), "second": {"cells": 2}})


def test_an_unknown_value_is_named():
    with pytest.raises(TypeError, match=r"Brain declares no field 'rat'. It has: rate, table"):
        Brain.lay_out(**given_brain(), rat=1.0)
    with pytest.raises(TypeError, match=r"Brain.first declares no field 'cell'"):
        Brain.lay_out(**{**given_brain(), "first": {"gain": 1.0, "cells": 2, "cell": 1}})


@pytest.mark.parametrize(("name", "value"), [("table", np.zeros(5)), ("marks", [1, 2]), ("marks", [1, 2, 3, 4])])
def test_an_array_of_another_size_is_named(name, value):
    with pytest.raises(ValueError, match=rf"Brain.{name} has {len(value)} values, declared are"):
        Brain.lay_out(**{**given_brain(), name: value})


@pytest.mark.parametrize(("name", "value"), [("weights", np.zeros((3, 4))), ("bias", 1.0)])
def test_floats_are_filled_by_the_brain_alone(name, value):
    with pytest.raises(ValueError, match=rf"Brain.{name} is filled by the brain's `init`"):
        Brain.lay_out(**given_brain(), **{name: value})


def test_parameters_are_packed_from_sources_and_what_is_given():
    world = SimpleNamespace(speed=0.1, cells=2)
    found = Params(Params.pack(world, table=[[1, 2], [3, 4]]))
    assert (found.speed, found.cells, found.table.tolist()) == (0.1, 2, [[1.0, 2.0], [3.0, 4.0]])


@pytest.mark.parametrize("missing", ["speed", "cells", "table"])
def test_a_missing_parameter_is_named(missing):
    given = {"speed": 1.0, "cells": 1, "table": [[1, 2]]}
    del given[missing]
    with pytest.raises(TypeError, match=rf"Params.{missing} has no value"):
        Params.pack(**given)


def test_an_unknown_parameter_is_named():
    with pytest.raises(TypeError, match=r"Params declares no field 'sped'. It has: speed, cells, table\."):
        Params.pack(speed=1.0, sped=1.0, cells=1, table=[[1, 2]])


def test_a_table_of_another_shape_is_named():
    with pytest.raises(ValueError, match=r"Params.table has the shape \(2, 3\), declared is \(3, 2\)"):
        Params.pack(speed=1.0, cells=3, table=np.zeros((2, 3)))


def test_a_block_that_takes_what_is_left_has_no_count():
    assert State.count(params()) == 2 + 3 * 4 + 3
    with pytest.raises(TypeError, match="Row takes what is left"):
        Row.count()


# Where it lies.


def test_a_brains_arrays_begin_on_cache_lines():
    found = brain()
    start = found.weights.__array_interface__["data"][0]
    arrays = [found.weights, found.buffer, found.first.trace, found.second.trace]
    assert {(array.__array_interface__["data"][0] - start) % 64 for array in arrays} == {0}


def test_a_view_copies_nothing():
    found = brain()
    again = Brain(*found._arrays)
    found.weights[2, 3] = 5.0
    found.second.trace[5] = 6.0
    found.first.spent += 2
    assert (again.weights[2, 3], again.second.trace[5], again.first.spent) == (5.0, 6.0, 2)


def test_single_numbers_of_a_block_lie_first_and_in_order():
    array = np.arange(17.0)
    found = State(array, params())
    assert (found.x, found.y, State.singles) == (0.0, 1.0, {"x": 0, "y": 1})
    np.testing.assert_array_equal(found.field, array[2:14].reshape(3, 4))
    np.testing.assert_array_equal(found.trail, array[14:])


def test_what_is_left_of_an_array():
    assert Row(np.arange(5.0)).tail.tolist() == [1.0, 2.0, 3.0, 4.0]
    assert Row(np.arange(1.0)).tail.tolist() == []


# What is learned.


def test_learned_is_what_changes_and_is_not_scratch():
    found = brain()
    found.weights[:] = 1.5
    found.second.order[4] = 3
    learned = dict(found.learned())
    cells = ("spent", "order", "trace", "level")
    expected = [*(f"first.{n}" for n in cells), "steps", "weights", "marks", *(f"second.{n}" for n in cells), "bias"]
    assert list(learned) == expected
    assert learned["weights"].tolist() == [[1.5] * 4] * 3
    assert learned["second.order"].tolist() == [0, 0, 0, 0, 3]


def test_learned_has_declared_shapes_and_no_padding():
    learned = dict(brain().learned())
    assert {name: value.shape for name, value in learned.items() if value.ndim} == {
        "first.order": (2,), "first.trace": (3,), "weights": (3, 4), "marks": (3,), "second.order": (5,),
        "second.trace": (6,),
    }  # fmt: skip
    kinds = {name: value.dtype for name, value in learned.items()}
    assert (kinds["weights"], kinds["steps"], kinds["bias"]) == (np.float32, np.int64, np.float32)
