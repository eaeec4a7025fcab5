"""Mistakes in a compiled brain of one's own: one line that names the file, the line and what is wrong there."""

import linecache
import re
import sys
import zlib
from pathlib import Path

import pytest

from nematodebench.brains.registry import get_brain
from nematodebench.cli import build
from nematodebench.cli.check import _indices
from nematodebench.engine.interpreted import refuse_wrong_index
from nematodebench.errors import CompileError, UsageError
from nematodebench.kernels.abi import BRAIN
from nematodebench.kernels.jit import first_class
from nematodebench.tasks.registry import get_task

BRAIN_FILE = '''
import numpy as np
from nematodebench.kit import *

class Config(BrainConfig):
    rate: float = parameter(0.1, 0, 1, "rate")

class Memory(BrainMemory):
    rate = constant()
    inputs, choices = size(), size()
    weights = floats("inputs", "choices")
    {memory}

@Memory.kernel
def act(brain: Memory, rng: U64, obs: F32, action: F32) -> None:
    action[0] = np.float32(randint(rng, brain.choices))
    {act}

class Mine(CompiledBrain):
    """A brain."""

    name, kind, config, memory = "mine", "classical", Config, Memory
    {body}
'''


@pytest.fixture
def brain(tmp_path, monkeypatch, request):
    """Writes a brain with these pieces under a name of its own, and gives what it is called by."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))

    def write(memory="", act="", body="act = staticmethod(act)", text=BRAIN_FILE):
        name = f"mine_{zlib.crc32(request.node.name.encode()):08x}"
        Path(f"{name}.py").write_text(text.format(memory=memory or "pass", act=act, body=body))
        linecache.clearcache()
        sys.modules.pop(name, None)
        return f"{name}.py:Mine"

    return write


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (
            "brain.weight[0, 0] = np.float32(1)",
            "Memory declares no field 'weight'. It has: rate, inputs, choices, weights.",
        ),
        ("x = brain.foo", "Memory declares no field 'foo'"),
        ("brain.rate = 0.3", "Memory.rate is declared as constant: nothing can be assigned to it."),
        ("brain.weights[0, 0, 0] = np.float32(1)", "cannot index array(float32, 2d, C) with 3 indices"),
        ("a = [x for x in 'abc']", "a compiled function makes no arrays, lists, dictionaries or texts."),
        ("a = {'a': 1}", "a compiled function makes no arrays, lists, dictionaries or texts."),
        ("brain.weights[0, 0] = np.zeros(3)[0]", "a compiled function makes no arrays, lists, dictionaries or texts."),
        ("brain.weights[0, 0] = np.float32(foo)", "NameError: name 'foo' is not defined."),
        ("x = uniform()", "missing a required argument: 'rng'"),
        ("x = uniform(obs)", "there is no xor(uint64, float32)."),
        ("x = 'abc' + 1", "there is no add(abc, 1)."),
        ("class Inner: pass", "Use of unsupported opcode (LOAD_BUILD_CLASS) found."),
    ],
)
def test_what_cannot_be_compiled_is_named_with_its_line(brain, line, reason):
    mine = get_brain(brain(act=line))
    with pytest.raises(CompileError) as error:
        first_class(mine.act, BRAIN)
    assert str(error.value).startswith(f"{mine.__module__}.py, line 17, `{line}`, cannot be compiled: ")
    assert reason in str(error.value)
    assert "\n" not in str(error.value)


def test_a_command_tells_it_in_that_line_alone(brain):
    with pytest.raises(UsageError, match=r"line 17, `x = brain.foo`, cannot be compiled: Memory declares no field"):
        build()(["check", brain(act="x = brain.foo")], standalone_mode=False)


@pytest.mark.parametrize(
    ("memory", "reason"),
    [
        ('more = floats("hiden")', "has the dimension 'hiden', which names no size of it"),
        ('more = floats(("inputs", 3))', "has the dimension ('inputs', 3): a dimension is the name of a size"),
        ("more = floats(-3)", "has the dimension -3"),
        ("more = floats()", "is declared as floats without dimensions"),
    ],
)
def test_a_wrong_declaration_is_refused_at_its_line_in_the_users_file(brain, memory, reason):
    with pytest.raises(UsageError) as error:
        get_brain(brain(memory=memory))
    assert re.search(r"mine_\w+\.py, line 8: TypeError: Memory\.more ", str(error.value))
    assert reason in str(error.value)


def test_a_kernel_that_asks_for_something_else_is_refused_at_its_line(brain):
    text = BRAIN_FILE.replace("action: F32) -> None", "actions: F32) -> None")
    with pytest.raises(UsageError, match=r"\.py, line 14: TypeError: kernel act asks for 'actions'"):
        get_brain(brain(text=text))


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("pass", "lacks act: act = staticmethod(act) in its class"),
        ("act = staticmethod(lambda: None)", "its act is not compiled. Write @Memory.kernel above it."),
        ("act, memory = staticmethod(act), Traces", "It has to be a class made from BrainMemory."),
        (
            "act, memory = staticmethod(act), ActorCritic",
            "its act reads the memory Memory, but its class says memory =",
        ),
    ],
)
def test_a_class_whose_functions_and_memory_do_not_belong_together_is_refused(brain, body, reason):
    with pytest.raises(UsageError) as error:
        get_brain(brain(body=body))
    assert reason in str(error.value)


SIZES = """act = staticmethod(act)
    @classmethod
    def sizes(cls, config, body):
        return {}"""


@pytest.mark.parametrize(
    ("memory", "sizes", "reason"),
    [
        ("hidden = size()", "{}", "Memory.hidden has no value"),
        ("net = part(Network)", "{}", "Memory.net.layers has no value"),
        ("tr = part(Traces)", '{"tr": Traces.sizes(row=3)}', "Memory.tr declares no field 'row'. It has: rows,"),
        ("tr = part(Traces)", '{"traces": {}}', "Memory declares no field 'traces'"),
        ("", "None", "its `sizes` has to return a dictionary; it returned None"),
        ("", '{"inputs": body.inputss}', ", line 26: AttributeError: 'Interface' object has no attribute 'inputss'"),
    ],
)
def test_sizes_that_are_missing_or_wrong_are_one_line(brain, memory, sizes, reason):
    body = SIZES.format("{}").replace("return {}", f"return {sizes}")
    name = brain(memory=memory, body=body)
    with pytest.raises(UsageError) as error:
        build()(["run", "association-v2", name, "--dry-run"], standalone_mode=False)
    assert reason in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("memory", "act", "reason"),
    [
        ("", "brain.weights[1000, 0] = np.float32(1)", r"Memory.weights\(8, 6\): index 1000 is out of bounds"),
        ("small = floats(3)", "brain.small[5] = np.float32(1)", r"Memory.small\(3,\): index 5 is out of bounds"),
        ("", "action[0] = obs[99]", "index 99 is out of bounds"),
    ],
)
def test_a_wrong_index_is_found_before_the_first_session(brain, memory, act, reason):
    name = brain(memory=memory, act=act)
    mine, task = get_brain(name), get_task("association-v2")
    with pytest.raises(UsageError, match=rf"{reason}.*\(mine_\w+\.py, line 17, in act\) at episode 0, step 0"):
        refuse_wrong_index(task, name, mine, mine.config())


@pytest.mark.parametrize(
    ("first", "outcome"),
    [("pass", "passed"), ("import os\nif 'NUMBA_DISABLE_JIT' in os.environ: raise SystemExit(1)", "left out")],
)
def test_a_trial_that_was_not_made_is_not_called_passed(brain, first, outcome):
    name = brain(text=f"{first}\n{BRAIN_FILE}")
    (part,) = _indices(name, get_brain(name), {}, [get_task("association-v2")])
    assert part.outcome == outcome


def test_brains_of_this_package_and_sound_ones_are_not_refused(brain):
    task = get_task("association-v2")
    for name in ("q_table", brain()):
        mine = get_brain(name)
        refuse_wrong_index(task, name, mine, mine.config())
