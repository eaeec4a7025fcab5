"""Declarations that the tests of named memory share, and views of them with known values."""

import numpy as np

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


class Cells(Memory):
    """A part that occurs twice."""

    gain = constant()
    cells = size()
    spent = counter()
    order = words("cells")
    trace = floats("cells + 1")
    level = real()


class Brain(Memory):
    """Every kind of field a brain can have."""

    rate = constant()
    table = constants("inputs", 2)
    inputs = size()
    first = part(Cells)
    steps = counter()
    weights = floats("inputs", "units")
    marks = words(3)
    second = part(Cells)
    bias = real()
    units = size()
    buffer = floats("units", scratch=True)
    passes = counter(scratch=True)


class Params(Block):
    """Every kind of field a world's parameters can have."""

    speed = constant()
    cells = size()
    table = constants("cells", 2)


class State(Block, sizes=Params):
    """Its arrays have dimensions that the parameters tell."""

    x = number()
    field = numbers("cells", "cells + 1")
    y = number()
    trail = numbers("cells")


class Marks(Block):
    """Whole numbers."""

    filled = counter()
    width = size()
    marks = words("width", 2)


class Row(Block):
    """Takes what is left."""

    head = number()
    tail = numbers("...")


def given_brain():
    table = np.arange(6.0).reshape(3, 2) / 8
    parts = {"first": {"gain": 0.25, "cells": 2}, "second": {"gain": 4.0, "cells": 5}}
    return {"rate": 0.5, "table": table, "inputs": 3, "units": 4, **parts}


def built(declaration, layout):
    return declaration(layout.hyper, layout.ints, np.zeros(layout.memory, np.float32))


def brain():
    return built(Brain, Brain.lay_out(**given_brain()))


def params():
    return Params(Params.pack(speed=1.5, cells=3, table=np.arange(6.0).reshape(3, 2)))


def state():
    return State(np.zeros(State.count(params())), params())
