"""Named memory in kernels: the same values in the interpreter and in compiled code, and what is refused."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from memory_workshop import Brain, Marks, Params, Row, State, brain, built, given_brain, params, state
from numba.core.errors import TypingError

from nematodebench.kernels.abi import BrainMemory, WorldMemory
from nematodebench.kernels.jit import kernel


@pytest.fixture(params=["interpreted", "compiled"])
def run(request):
    """Runs a kernel in either way."""
    return (lambda function: function.py_func) if request.param == "interpreted" else (lambda function: function)


# The same values in the interpreter and in compiled code.


@kernel()
def _write_brain(brain):
    brain.steps += 3
    brain.bias = brain.rate / 3.0
    for i in range(brain.inputs):
        brain.marks[i] = i - 5
        for o in range(brain.units):
            brain.weights[i, o] = brain.table[i, 1] + np.float32(o)
    _write_cells(brain.first, 10)
    _write_cells(brain.second, 20)
    brain.buffer[brain.units - 1] = brain.weights[2, 3]
    brain.passes = brain.steps * 2


@kernel()
def _write_cells(cells, start):
    cells.spent = start
    cells.spent += cells.cells
    cells.level = cells.gain
    cells.level += np.float32(1.0)
    for n in range(cells.order.size):
        cells.order[n] = start + n
    for n in range(cells.trace.size):
        cells.trace[n] = -n


def test_every_field_of_a_brain(run):
    found = brain()
    run(_write_brain)(found)
    assert (found.steps, found.bias, found.passes) == (3, np.float32(0.5 / 3.0), 6)
    np.testing.assert_array_equal(found.marks, [-5, -4, -3])
    np.testing.assert_array_equal(found.weights, found.table[:, 1:] + np.arange(4))
    assert found.buffer.tolist() == [0.0, 0.0, 0.0, found.weights[2, 3]]
    for cells, start, level in ((found.first, 10, 1.25), (found.second, 20, 5.0)):
        assert (cells.spent, cells.level) == (start + cells.cells, level)
        np.testing.assert_array_equal(cells.order, start + np.arange(cells.cells))
        np.testing.assert_array_equal(cells.trace, -np.arange(cells.cells + 1))
    assert (found.rate, found.inputs, found.units, found.first.gain, found.second.gain) == (0.5, 3, 4, 0.25, 4.0)
    np.testing.assert_array_equal(found.table, given_brain()["table"])


@kernel()
def _write_state(state, params):
    state.x = params.speed
    state.y += 2
    for i in range(params.cells):
        state.trail[i] = params.table[i, 1]
        for j in range(params.cells + 1):
            state.field[i, j] += 10 * i + j


def test_every_field_of_a_state(run):
    found = state()
    run(_write_state)(found, params())
    assert (found.x, found.y) == (1.5, 2.0)
    assert found.trail.tolist() == [1.0, 3.0, 5.0]
    np.testing.assert_array_equal(found.field, 10 * np.arange(3)[:, None] + np.arange(4))


@kernel()
def _build_views(params_array, state_array, marks_array, row_array):
    """Kernels build views by calling the declaration."""
    params = Params(params_array)
    state, marks, row = State(state_array, params), Marks(marks_array), Row(row_array)
    state.field[2, 3] = state.field.size + params.speed
    state.trail[2] = state.trail.size
    marks.filled -= 4
    marks.marks[marks.width - 1, 1] = 6
    row.head = row.tail.size
    row.tail[row.tail.size - 1] = 1.0


def test_blocks_built_by_a_kernel(run):
    found, marks, row = state(), np.array([1, 2, 0, 0, 0, 0]), np.zeros(5)
    run(_build_views)(params()._arrays[0], found._arrays[0], marks, row)
    assert (found.field[2, 3], found.trail[2]) == (13.5, 3.0)
    assert marks.tolist() == [-3, 2, 0, 0, 0, 6]
    assert row.tolist() == [4.0, 0.0, 0.0, 0.0, 1.0]


@kernel()
def _types(brain, out):
    out[0] = (brain.weights[0, 0] + np.float32(1e-9)) - np.float32(1.0)
    out[1] = brain.weights[0, 0] * brain.rate
    out[2] = brain.bias + brain.rate


def test_a_constant_is_a_float64_in_arithmetic_too(run):
    """NumPy would treat a plain float like a float32 beside one; compiled code does not."""
    found, out = built(Brain, Brain.lay_out(**{**given_brain(), "rate": 0.1})), np.zeros(3)
    found.weights[0, 0] = 1.0
    found.bias = 1.0
    run(_types)(found, out)
    assert out.tolist() == [0.0, 0.1, 1.1]


# What is refused.


@kernel()
def _assign_constant(view):
    view.rate = 1.0


@kernel()
def _assign_size(view):
    view.inputs += 1


@kernel()
def _assign_array(view):
    view.weights = view.weights


@kernel()
def _assign_part(view):
    view.first = view.second


@kernel()
def _assign_parameter(view):
    view.speed = 1.0


ASSIGNMENTS = [
    (_assign_constant, brain, "Brain.rate is declared as constant"),
    (_assign_size, brain, "Brain.inputs is declared as size"),
    (_assign_array, brain, "Brain.weights is declared as floats"),
    (_assign_part, brain, "Brain.first is declared as part"),
    (_assign_parameter, params, "Params.speed is declared as constant"),
]


@pytest.mark.parametrize(("function", "build", "message"), ASSIGNMENTS)
def test_nothing_can_be_assigned_to_what_is_fixed(run, function, build, message):
    with pytest.raises((AttributeError, TypeError), match=f"{message}: nothing can be assigned to it"):
        run(function)(build())


@kernel()
def _write_table(view):
    view.table[0, 0] = 1.0


@pytest.mark.parametrize("build", [brain, params])
def test_tables_of_constants_are_read_only(build):
    with pytest.raises(ValueError, match=rf"{type(build()).__name__}.table\(3, 2\): .* read-only"):
        _write_table.py_func(build())
    with pytest.raises(TypingError, match="readonly array"):
        _write_table(build())


@kernel()
def _read_unknown(view):
    return view.wieghts


@kernel()
def _write_unknown(view):
    view.wieghts = 1


@pytest.mark.parametrize("function", [_read_unknown, _write_unknown])
@pytest.mark.parametrize("build", [brain, state])
def test_an_unknown_name_is_named(function, build):
    found = build()
    with pytest.raises(AttributeError, match=rf"{type(found).__name__} declares no field 'wieghts'. It has: "):
        function.py_func(found)
    with pytest.raises(TypingError, match="'wieghts'"):
        function(found)


@pytest.mark.parametrize(
    ("build", "path", "index", "message"),
    [
        (brain, "weights", (3, 0), r"Brain.weights\(3, 4\): index 3 is out of bounds"),
        (brain, "weights", (0, 4), r"Brain.weights\(3, 4\): index 4 is out of bounds"),
        (brain, "second.trace", 6, r"Cells.trace\(6,\): index 6 is out of bounds"),
        (brain, "marks", 3, r"Brain.marks\(3,\): index 3 is out of bounds"),
        (state, "field", (0, 4), r"State.field\(3, 4\): index 4 is out of bounds"),
        (params, "table", (3, 0), r"Params.table\(3, 2\): index 3 is out of bounds"),
    ],
)
def test_a_wrong_index_is_named_in_the_interpreter(build, path, index, message):
    array = build()
    for name in path.split("."):
        array = getattr(array, name)
    with pytest.raises(IndexError, match=message):
        array[index]
    with pytest.raises((IndexError, ValueError), match=message.split(":", maxsplit=1)[0]):
        array[index] = 0


def test_a_wrong_index_into_a_row_of_an_array_is_named_too():
    with pytest.raises(IndexError, match=r"Brain.weights\(3, 4\): index 4 is out of bounds"):
        brain().weights[1][4]


# Kernels of the common signatures.


@pytest.mark.parametrize("decorate", [BrainMemory.kernel, WorldMemory(Params, State).kernel])
def test_a_kernel_that_asks_for_what_there_is_not_is_refused(decorate):
    def act(memory):
        """Should ask for `brain` or `state`."""

    with pytest.raises(TypeError, match="kernel act asks for 'memory'; there are "):
        decorate(act)


_MODULE = """
import numpy as np
from nematodebench.kernels.abi import BRAIN, WORLD, BrainMemory, WorldMemory
from nematodebench.kernels.jit import first_class
from nematodebench.kernels.memory import Block, constant, counter, floats, number, numbers, size


class Memory(BrainMemory):
    rate = constant()
    inputs = size()
    steps = counter()
    values = floats("inputs")


class Params(Block):
    cells = size()


class State(Block, sizes=Params):
    x = number()
    cells_seen = numbers("cells")


class Metrics(Block):
    seen = number()


memory = WorldMemory(Params, State, Metrics)


@Memory.kernel
def act(brain, obs, action):
    brain.steps += 1
    for i in range(brain.inputs):
        brain.values[i] += np.float32(brain.rate) * obs[i]
    action[0] = brain.values[brain.inputs - 1]


@memory.kernel
def step(state, params, outcome, metrics, obs):
    state.x += 1.0
    state.cells_seen[params.cells - 1] = state.x
    outcome.reward[1] = state.cells_seen[params.cells - 1]
    metrics.seen = 2.0
    obs[1, 0] = np.float32(0.5)
"""
_MAIN = """
import json
import kernels_of_a_user as user
import numpy as np

layout = user.Memory.lay_out(rate=0.5, inputs=2)
mem, rng, out = np.zeros(layout.memory, np.float32), np.zeros(11, np.uint64), np.zeros(3)
obs, action = np.ones((1, 2), np.float32), np.zeros((1, 1), np.float32)
user.first_class(user.act, user.BRAIN)(layout.hyper, layout.ints, mem, rng, obs, action, out)
params = user.Params.pack(cells=3)
state, out = np.zeros(user.State.count(user.Params(params))), np.zeros(5)
seen = np.zeros((2, 1), np.float32)
user.first_class(user.step, user.WORLD)(params, state, rng, seen, seen, out)
stats = {f.__name__: [f.stats.cache_hits.total(), f.stats.cache_misses.total()] for f in (user.act, user.step)} if COUNTED else {}
numbers = [user.Memory(layout.hyper, layout.ints, mem).steps, action.tolist(), state.tolist(), out.tolist(), seen.tolist()]
print(json.dumps([stats, numbers]))
"""  # noqa: E501


def test_kernels_by_name_are_found_on_disk_by_a_fresh_process(tmp_path):
    module = tmp_path / "kernels_of_a_user.py"
    module.write_text(_MODULE)

    def child(counted=True, **environment):
        search = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
        environment = {"PYTHONPATH": search, "NEMATODEBENCH_CACHE_DIR": str(tmp_path / "cache"), **environment}
        command = [sys.executable, "-c", _MAIN.replace("COUNTED", str(counted))]
        done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    expected = [1, [[0.5]], [1.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0, 1.0, 2.0], [[0.0], [0.5]]]
    assert child() == [{"act": [0, 1], "step": [0, 1]}, expected]
    assert child() == [{"act": [1, 0], "step": [1, 0]}, expected]
    assert child(counted=False, NUMBA_DISABLE_JIT="1") == [{}, expected]
    # Another declaration in the same file is other code.
    module.write_text(_MODULE.replace("    steps = counter()\n", "    other = counter()\n    steps = counter()\n"))
    assert child() == [{"act": [0, 1], "step": [0, 1]}, expected]
