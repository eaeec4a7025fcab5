"""World `chemotaxis`: the plate assay."""

import numpy as np
import pytest
from harness_worm import FORWARD, STAY, UP, Arena, digest, random_steps

from nematodebench.worlds.worm.chemotaxis import Chemotaxis
from nematodebench.worlds.worm.foraging import Foraging
from nematodebench.worlds.worm.predator import Predator


def attractant(arena):
    return arena.foods[0]


def control(arena):
    return np.array([arena.state.control_x, arena.state.control_y])


def ended_at(x, y):
    """A worm whose last of two steps is spent at a place, attractant on the right."""
    arena = Arena(Chemotaxis(max_steps=2))
    arena.foods[0] = 32, 20
    arena.state.control_x, arena.state.control_y = 8, 20
    arena.put_worm(x, y)
    return arena.step(STAY).step(STAY)


def test_the_worm_starts_midway_facing_up():
    arena = Arena(Chemotaxis())
    assert (*arena.place, arena.heading) == (20, 20, UP)


def test_attractant_and_control_are_mirrored_12_cells_away():
    for seed in range(20):
        arena = Arena(Chemotaxis(), seed)
        side = arena.step(STAY).metrics["side"]
        assert tuple(attractant(arena)) == (20 + 12 * side, 20)
        assert tuple(control(arena)) == (20 - 12 * side, 20)


def test_the_coin_is_fair():
    arena = Arena(Chemotaxis())
    right = 0
    for episode in range(4000):
        arena.begin(7, episode)
        right += attractant(arena)[0] > 20
    assert abs(right - 2000) < 4 * np.sqrt(1000)


def test_the_coin_is_the_streams():
    sides = [[attractant(Arena(Chemotaxis(), 3, episode))[0] for episode in range(20)] for _ in range(2)]
    assert sides[0] == sides[1] and len(set(sides[0])) == 2


@pytest.mark.parametrize(
    ("place", "zone"),
    [
        ((32, 20), 1), ((31, 19), 1), ((33, 21), 1), ((30, 20), 0), ((32, 22), 0),
        ((8, 20), -1), ((7, 21), -1), ((10, 20), 0), ((8, 18), 0), ((20, 20), 0),
    ],
)  # fmt: skip
def test_zones_are_the_blocks_around_the_spots(place, zone):
    assert ended_at(*place).metrics["zone"] == zone


def test_distance_is_manhattan_to_the_attractant():
    assert ended_at(30, 25).metrics["distance"] == 7


def test_side_tells_where_the_attractant_was():
    assert ended_at(20, 20).metrics["side"] == 1.0


def test_an_assay_lasts_its_300_steps_and_is_truncated():
    lengths, steps = [], 0
    for arena in random_steps(Chemotaxis(), 900):
        steps += 1
        assert not arena.terminated
        if arena.truncated:
            lengths.append(steps)
            steps = 0
    assert lengths == [300, 300, 300]


def test_nothing_is_eaten():
    arena = Arena(Chemotaxis())
    spot = attractant(arena).copy()
    arena.put_worm(*spot)
    arena.step(STAY)
    assert tuple(attractant(arena)) == tuple(spot)
    assert arena.sense("satiety") == 1.0


def test_satiety_is_held_at_one():
    assert all(arena.sense("satiety") == 1.0 for arena in random_steps(Chemotaxis(), 400))


def test_reward_is_shaped_by_the_distance():
    arena = Arena(Chemotaxis())
    arena.put_worm(*attractant(arena) - (0, 5))
    assert arena.step(FORWARD).reward == pytest.approx(0.5 - 0.005)
    arena.put_worm(20, 40, UP)
    assert arena.step(FORWARD).reward == pytest.approx(-0.005 - 0.02)


def test_odour_is_that_of_the_attractant_alone():
    arena = Arena(Chemotaxis())
    assert arena.sense("odour_magnitude") == pytest.approx(np.tanh(np.exp(-12 / 8)), abs=1e-6)
    assert arena.sense("odour_sine") == np.sign(attractant(arena)[0] - 20)


@pytest.mark.parametrize("sensing", ["gradient", "klinotaxis", "temporal"])
def test_a_brain_of_any_task_of_the_family_fits_on_the_plate(sensing):
    assert Chemotaxis(sensing=sensing).sensors == Foraging(sensing=sensing).sensors
    hunted = Chemotaxis(sensing=sensing, with_predator_inputs=True)
    assert hunted.sensors == Predator(sensing=sensing).sensors
    assert hunted.actions == Predator().actions


def test_predator_inputs_are_at_rest():
    for arena in random_steps(Chemotaxis(with_predator_inputs=True), 50):
        assert tuple(arena.obs[0, 5:]) == (0.0, 0.0, 0.0, 0.0, 1.0)


def test_predator_inputs_change_nothing_else():
    both = (random_steps(Chemotaxis(with_predator_inputs=given), 300, seed=1) for given in (True, False))
    for wide, narrow in zip(*both, strict=True):
        assert np.array_equal(wide.obs[0, :5], narrow.obs[0])


def test_behaviour_is_frozen():
    assert digest(Chemotaxis()) == "49e2cad9097f7714"


def test_text_shows_both_spots():
    arena = ended_at(20, 20)
    row = arena.world.text(arena.state).splitlines()[20]
    assert (row[32], row[8], row[20]) == ("A", "C", "^")
