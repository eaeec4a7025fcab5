"""A scene is data: rows of primitives that are written in order, never beyond their array."""

import numpy as np

from nematodebench.kernels import scene
from nematodebench.kernels.abi import SCENE, WorldMemory
from nematodebench.kernels.jit import first_class
from nematodebench.kernels.memory import Block, number


class Nothing(Block):
    unused = number()


class Place(Block):
    x = number()


memory = WorldMemory(Nothing, Place)


@memory.scene
def one_disc(state, rows):
    """A disc and a bar."""
    scene.disc(rows, scene.FOOD, state.x, 2.0, 0.5, 1.0)
    scene.bar(rows, scene.DANGER, 3.0, 1.7)


def drawn(count):
    rows = np.full((count, scene.COLUMNS), 7.0)
    matrix = np.zeros((1, 1), dtype=np.float32)
    field = np.zeros((scene.FIELD_SIDE, scene.FIELD_SIDE), dtype=np.float32)
    written = first_class(one_disc, SCENE)(np.zeros(1), np.array([4.0]), matrix, matrix, np.zeros(3), rows, field)
    return written, rows


def test_rows_are_written_in_order_and_counted():
    written, rows = drawn(5)
    assert written == 2
    assert rows[0].tolist() == [scene.DISC, scene.FOOD, 4.0, 2.0, 0.5, 0.0, 0.0, 1.0]
    assert rows[1].tolist() == [scene.BAR, scene.DANGER, 0.0, 0.0, 3.0, 0.0, 0.0, 1.0]  # a share is at most 1
    assert (rows[2:4] == 7.0).all()


def test_what_does_not_fit_is_left_out():
    written, rows = drawn(2)
    assert written == 1
    assert rows[0, 0] == scene.DISC


def test_kinds_and_roles_are_numbered_as_they_are_named():
    assert [getattr(scene, name.upper()) for name in scene.KINDS] == list(range(len(scene.KINDS)))
    assert [getattr(scene, name.upper()) for name in scene.ROLES] == list(range(len(scene.ROLES)))
