"""Colours that occur together are told apart by everybody, on light and on dark ground."""

import itertools

import numpy as np
import pytest
from drawn import worlds

from nematodebench.drawing.palette import THEMES, theme
from nematodebench.errors import UsageError
from nematodebench.kernels.scene import ROLES

# Machado, Oliveira and Fernandes (2009), severity 1, for linear RGB.
SIGHT = {
    "normal": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
LEAST, LEAST_ON_GROUND = 12.0, 25.0


def linear(colour):
    share = np.array(colour) / 255.0
    return np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)


def lab(rgb):
    """CIELAB of linear RGB, in which distances are about as large as they look."""
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    xyz = to_xyz @ np.clip(rgb, 0.0, 1.0) / np.array([0.9505, 1.0, 1.089])
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def distance(one, other, sight):
    seen = [lab(SIGHT[sight] @ linear(colour)) for colour in (one, other)]
    return float(np.linalg.norm(seen[0] - seen[1]))


def pairs_together():
    """Roles that stand in one legend, and those that figures show side by side."""
    legends = [tuple(world.picture().legend) for world in worlds()]
    legends.append(("brain", "reference", "null", "blind"))
    return sorted({tuple(sorted(pair)) for legend in legends for pair in itertools.combinations(legend, 2)})


@pytest.mark.parametrize("sight", SIGHT)
@pytest.mark.parametrize("name", THEMES)
def test_roles_that_occur_together_are_told_apart(name, sight):
    found = theme(name)
    for one, other in pairs_together():
        colours = [found.role(ROLES.index(role)) for role in (one, other)]
        assert distance(*colours, sight) >= LEAST, (one, other, distance(*colours, sight))


@pytest.mark.parametrize("sight", SIGHT)
@pytest.mark.parametrize("name", THEMES)
def test_every_role_is_seen_on_the_ground(name, sight):
    found = theme(name)
    for role in ROLES:
        if role != "paper":
            assert distance(found.role(ROLES.index(role)), found.surface, sight) >= LEAST_ON_GROUND, role


@pytest.mark.parametrize("name", THEMES)
def test_a_field_becomes_ever_more_distinct_from_the_ground(name):
    found = theme(name)
    ramp = found.field(np.linspace(0.0, 1.0, 9, dtype=np.float32))
    away = [distance(colour, found.surface, "normal") for colour in ramp]
    assert away == sorted(away)


def test_an_unknown_theme_is_one_line():
    with pytest.raises(UsageError, match=r"'sepia' does not exist\. There are: light, dark"):
        theme("sepia")
