"""What the worm senses, against formulas written in NumPy."""

import numpy as np
import pytest
from harness_worm import FORWARD, RIGHT, STAY, UP, Arena, odour_gradient, random_steps, relative

from nematodebench.worlds.worm.chemotaxis import Chemotaxis
from nematodebench.worlds.worm.foraging import Foraging
from nematodebench.worlds.worm.predator import Predator

WORLDS = [
    *(Foraging(sensing=sensing) for sensing in ("gradient", "klinotaxis", "temporal")),
    Foraging(side=50, foods=10, target=15, spacing=5, exclusion=10, decay=6, max_steps=1000, satiety=300),
    Predator(),
    Predator(sensing="klinotaxis", damage=5.0),
    *(Chemotaxis(sensing=sensing) for sensing in ("gradient", "klinotaxis", "temporal")),
    Chemotaxis(with_predator_inputs=True),
]


def concentration(arena, place):
    return np.exp(-np.hypot(*(arena.foods - place).T) / arena.world.decay).sum()


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: f"{world.name}-{world.sensing}")
def test_observations_stay_in_the_declared_ranges(world):
    low = np.array([sensor.low for sensor in world.sensors])
    high = np.array([sensor.high for sensor in world.sensors])
    for arena in random_steps(world, 2000, seed=2):
        assert ((arena.obs[0] >= low) & (arena.obs[0] <= high)).all()


def test_gradient_sensing_follows_its_formula():
    for arena in random_steps(Foraging(), 1000, seed=9):
        gradient = odour_gradient(arena.foods, arena.place, 8.0)
        assert arena.sense("odour_magnitude") == pytest.approx(np.tanh(np.hypot(*gradient)), abs=1e-6)
        known = np.hypot(*gradient) >= 0.05
        sensed = arena.sense("odour_sine"), arena.sense("odour_cosine")
        assert sensed == pytest.approx(relative(gradient, arena.heading) if known else (0.0, 0.0), abs=1e-5)


@pytest.mark.parametrize(
    ("food", "direction"), [((15, 10), (1, 0)), ((5, 10), (-1, 0)), ((10, 15), (0, 1)), ((10, 5), (0, -1))]
)
def test_sine_is_right_and_cosine_ahead(food, direction):
    arena = Arena(Foraging(foods=1))
    arena.put_foods(food)
    arena.step(STAY)
    assert (arena.sense("odour_sine"), arena.sense("odour_cosine")) == pytest.approx(direction, abs=1e-6)


@pytest.mark.parametrize(("distance", "sensed"), [(14, True), (15, False)])
def test_direction_is_unknown_below_the_threshold(distance, sensed):
    # exp(-14/5) = 0.061 and exp(-15/5) = 0.0498: on both sides of 0.05
    arena = Arena(Foraging(side=41, foods=1, decay=5.0))
    arena.put_foods((20, 20 + distance))
    arena.step(STAY)
    assert arena.sense("odour_magnitude") == pytest.approx(np.tanh(np.exp(-distance / 5)), abs=1e-6)
    assert (arena.sense("odour_sine"), arena.sense("odour_cosine")) == (0.0, 1.0 if sensed else 0.0)


def test_opposite_foods_cancel_out():
    arena = Arena(Foraging(foods=2))
    arena.put_foods((5, 10), (15, 10))
    arena.step(STAY)
    assert tuple(arena.obs[0, :3]) == (0.0, 0.0, 0.0)


def test_klinotaxis_sensing_follows_its_formula():
    sides = {0: (1, 0), 1: (0, -1), 2: (-1, 0), 3: (0, 1)}
    for arena in random_steps(Foraging(sensing="klinotaxis"), 1000, seed=9):
        right = np.array(sides[arena.heading])
        c = concentration(arena, arena.place)
        lateral = concentration(arena, arena.place + right) - concentration(arena, arena.place - right)
        assert arena.sense("concentration") == pytest.approx(c / (1 + c), abs=1e-6)
        assert arena.sense("lateral") == pytest.approx(np.tanh(50 * lateral), abs=1e-5)


@pytest.mark.parametrize("sensing", ["klinotaxis", "temporal"])
def test_change_is_that_of_the_last_step(sensing):
    arena = Arena(Foraging(sensing=sensing, satiety=10_000, max_steps=10_000))
    assert arena.sense("change") == 0.0
    before = concentration(arena, arena.place)
    for action in np.random.default_rng(0).integers(0, 4, 500):
        now = concentration(arena.step(action), arena.place)
        assert arena.sense("change") == pytest.approx(np.tanh(50 * (now - before)), abs=1e-5)
        before = now


def test_temporal_sensing_is_klinotaxis_without_the_lateral_difference():
    both = (random_steps(Foraging(sensing=sensing), 300, seed=1) for sensing in ("klinotaxis", "temporal"))
    for wide, narrow in zip(*both, strict=True):
        assert np.array_equal(np.delete(wide.obs[0], 2), narrow.obs[0])


def test_the_worm_smells_over_the_edge_of_its_grid():
    arena = Arena(Foraging(sensing="klinotaxis", foods=1))
    arena.put_foods((10, 0))
    arena.put_worm(0, 18, UP)
    arena.step(FORWARD)
    difference = concentration(arena, np.array([1, 19])) - concentration(arena, np.array([-1, 19]))
    assert arena.sense("lateral") == pytest.approx(np.tanh(50 * difference), abs=1e-6)


def test_predators_are_sensed_without_a_threshold():
    for arena in random_steps(Predator(damage=1.0), 1000, seed=3):
        gradient = odour_gradient(arena.predators, arena.place, 10.0)
        assert arena.sense("predator_magnitude") == pytest.approx(np.tanh(np.hypot(*gradient)), abs=1e-6)
        if np.hypot(*gradient) > 1e-6:
            sensed = arena.sense("predator_sine"), arena.sense("predator_cosine")
            assert sensed == pytest.approx(relative(gradient, arena.heading), abs=1e-5)


def test_a_predator_far_away_has_a_direction():
    arena = Arena(Predator(side=101, predators=1, foods=1))
    arena.predators[:] = (100, 50)
    arena.put_worm(50, 50, UP)
    arena.step(STAY)
    assert arena.sense("predator_magnitude") < 0.05
    assert arena.sense("predator_sine") == pytest.approx(1.0)


def test_a_turn_turns_what_is_sensed():
    arena = Arena(Foraging(foods=1))
    arena.put_foods((19, 10))
    arena.step(RIGHT)
    assert (arena.sense("odour_sine"), arena.sense("odour_cosine")) == pytest.approx((0.0, 1.0), abs=1e-6)
