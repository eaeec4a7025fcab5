"""Every world has a picture that can be read."""

import dataclasses
import re

import numpy as np
import pytest
from drawn import drawn, played, worlds

from nematodebench.drawing.frames import Frame
from nematodebench.drawing.palette import THEMES, theme
from nematodebench.drawing.render import Renderer
from nematodebench.drawing.terminal import moment_in_terminal
from nematodebench.kernels.scene import BAR, KINDS, LABEL, READOUT, ROLES

every_world = pytest.mark.parametrize("world", worlds(), ids=lambda world: type(world).__name__)


def close_to(image, colour, tolerance=6):
    """How many pixels have nearly this colour."""
    return int((np.abs(image.astype(int) - np.array(colour)).max(axis=2) <= tolerance).sum())


@every_world
def test_it_is_drawn_at_300_pixels_in_the_colours_of_its_legend(world):
    frames = played(world, 6)
    legend = world.picture().legend
    assert legend, "a picture says what its colours mean"
    for name in THEMES:
        image = drawn(world, frames, theme=name)
        assert image.shape[1:] == (300, 3)
        for role in legend:
            assert close_to(image, theme(name).role(ROLES.index(role))) >= 10, f"{role} is nowhere to be seen"


@every_world
def test_the_same_course_gives_the_same_picture(world):
    once, again = (drawn(world, played(world, 4)) for _ in range(2))
    assert np.array_equal(once, again)


@every_world
def test_scenes_use_roles_and_words_that_the_picture_explains(world):
    picture, explained = world.picture(), {"ink", "muted", "paper", "wall", *world.picture().legend}
    for frame in played(world, 30):
        used = {ROLES[int(role)] for role in frame.rows[:, 1]}
        assert used <= explained
        words = np.concatenate([frame.of_kind(kind)[:, 4] for kind in (BAR, LABEL, READOUT)])
        assert ((words == -1) | ((words >= 0) & (words < len(picture.words)))).all()
        assert len(frame.of_kind(READOUT)) >= 1, "a clock at least"


@every_world
def test_what_moves_is_seen(world):
    frames = played(world, 5)
    assert not np.array_equal(drawn(world, frames[:1]), drawn(world, frames))


@every_world
def test_it_fits_a_terminal_with_its_words_as_text(world):
    frames = played(world, 2)
    renderer = Renderer(world, 300)
    for frame in frames:
        renderer.see(frame)
    text = re.sub(r"\x1b\[[0-9;]*m", "", moment_in_terminal(renderer, frames[-1], "a caption", 80, 23))
    lines = text.split("\n")
    assert lines[0] == "a caption" and len(lines) <= 23 and max(map(len, lines)) <= 80
    for word in world.picture().legend.values():
        assert word in text
    for name, _, _ in renderer.words(frames[-1]).bars:
        assert name in text


@every_world
def test_the_frame_is_plain_data(world):
    data = world.picture().data()
    left, bottom, right, top = data["view"]
    assert left < right and bottom < top
    assert set(data["legend"]) <= set(ROLES)
    assert set(data) == {field.name for field in dataclasses.fields(world.picture())}


def test_on_a_torus_what_leaves_on_one_side_is_seen_on_the_other():
    world = next(one for one in worlds() if one.name == "torus")
    side = world.picture().view[2]
    row = np.array([[float(KINDS.index("disc")), 0.0, 0.0, 0.0, side / 10, 0.0, 0.0, 1.0]])  # in a corner
    frame = Frame(row)
    renderer = Renderer(world, 300)
    renderer.see(frame)
    scene = np.array(renderer.scene(frame))
    corners = [scene[y, x] for y in (3, -4) for x in (3, -4)]
    assert all((corner == corners[0]).all() for corner in corners) and (corners[0] != scene[150, 150]).any()


def test_nothing_is_seen_outside_of_a_round_plate_and_no_seam_between_slices():
    world = next(one for one in worlds() if one.name == "plate_thermotaxis")
    frame = played(world, 1)[-1]
    plain = Frame(frame.rows[frame.rows[:, 0] != KINDS.index("body")])  # without its field and its worm
    renderer = Renderer(world, 300)
    renderer.see(plain)
    scene = np.array(renderer.scene(plain)).astype(int)
    edge, radius = world.picture().view[2], world.radius
    places = (np.arange(300) + 0.5) / 300 * 2 * edge - edge
    away = np.hypot(places[None, :], places[:, None])
    surface = np.array(theme("light").surface)
    assert (scene[away > 1.02 * radius] == surface).all()
    inside = scene[(away < 0.9 * radius) & (np.abs(scene - surface).max(axis=2) > 40)]
    _, counts = np.unique(inside, axis=0, return_counts=True)
    assert np.sort(counts)[-2:].sum() > 0.85 * len(inside), "two bands, each of one colour but for its edges"
