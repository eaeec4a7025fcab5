"""Machine code of functions from outside is known by the values that it has in it."""

import hashlib
import types

import numpy as np
import pytest

from nematodebench.kernels.frozen import frozen_values
from nematodebench.kernels.jit import kernel
from nematodebench.kernels.math import exp32


def hashed(source, **values):
    """The hash of ``f`` in a module with this source."""
    module = types.ModuleType("of_mine")
    vars(module).update(values, kernel=kernel, np=np)
    exec(source, vars(module))
    return frozen_values(module.f)


@pytest.mark.parametrize(
    ("one", "other"),
    [(1, 2), (1, 1.0), (True, False), ("a", "b"), ((1, 2), (1, 3)), ((1, (2, 3)), (1, (2, 4))),
     (np.float32(1), np.float32(2)), (np.zeros(3), np.ones(3)), (np.zeros(3), np.zeros((3, 1))),
     (np.zeros(3), np.zeros(3, np.float32))],
)  # fmt: skip
def test_another_value_is_other_code_and_the_same_value_is_the_same(one, other):
    source = "def f():\n    return VALUE\n"
    assert hashed(source, VALUE=one) == hashed(source, VALUE=one) != hashed(source, VALUE=other)


@pytest.mark.parametrize(
    "source",
    [
        "@kernel()\ndef g():\n    return VALUE\ndef f():\n    return g()\n",
        "def f():\n    return library.VALUE\n",
        "def made(value):\n    def inner():\n        return value\n    return inner\nf = made(VALUE)\n",
    ],
    ids=["in a function that it calls", "of a module", "of a function around it"],
)
def test_values_count_wherever_they_come_from(source):
    modules = [types.ModuleType("library") for _ in range(2)]
    for value, module in enumerate(modules):
        module.VALUE = value
    found = [hashed(source, VALUE=value, library=module) for value, module in enumerate(modules)]
    assert found[0] != found[1]


def test_what_is_no_value_and_what_is_ours_does_not_count():
    source = "def f():\n    return VALUE\n"
    assert hashed(source, VALUE=object()) == hashed(source, VALUE=print) != hashed(source, VALUE=1)
    assert frozen_values(exp32) == hashlib.sha256().hexdigest()


def test_functions_that_call_each_other_end():
    assert hashed("def g():\n    return f()\ndef f():\n    return g()\n")


def test_functions_count_as_they_were_imported():
    """A file may be edited between import and compilation: the sources on disk are then those of other code."""
    first, edited = (
        "def g():\n    return 0\ndef f():\n    return g()\n",
        "def g():\n    return 1\ndef f():\n    return g()\n",
    )
    assert hashed(first) == hashed("\n\n" + first) != hashed(edited)
    assert hashed("def f():\n    return 0.0\n") != hashed("def f():\n    return -0.0\n")


def test_the_order_of_a_memory_counts():
    source = "from nematodebench.kit import BrainMemory, counter, floats, size\n"
    source += "class M(BrainMemory):\n    a = {}\n    b = {}\ndef f():\n    return M\n"
    found = {hashed(source.format(*kinds)) for kinds in (("size()", "counter()"), ("counter()", "size()"))}
    assert len(found) == 2 and hashed(source.format("size()", "counter()")) in found
