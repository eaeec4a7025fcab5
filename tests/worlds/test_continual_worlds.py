"""What holds for every world of the continual family: widths, ranges, padding, determinism, ends, pictures."""

import numpy as np
import pytest
from harness_continual import MOST, PADDING, WIDEST, Life, live, null

from nematodebench.worlds.cognition.association import Association
from nematodebench.worlds.cognition.pattern_memory import PatternMemory
from nematodebench.worlds.cognition.prediction import Prediction
from nematodebench.worlds.grid.gridworld import Gridworld
from nematodebench.worlds.grid.navigation import Navigation
from nematodebench.worlds.grid.realtime import Realtime

SIZES = {
    Navigation: (28, 4, 200), PatternMemory: (8, 4, 10), Prediction: (14, 10, 100), Association: (8, 6, 50),
    Gridworld: (4, 4, 110), Realtime: (24, 8, 220),
}  # fmt: skip
VARIANTS = [
    *(kind() for kind in SIZES), Navigation.easy(), Navigation.hard(), PatternMemory.easy(), PatternMemory.hard(),
    Prediction("square"), Prediction("random_walk"),
]  # fmt: skip
every_world = pytest.mark.parametrize("kind", SIZES, ids=lambda kind: kind.name)
every_variant = pytest.mark.parametrize("world", VARIANTS, ids=lambda world: str(world.spec()).replace(" ", ""))


@every_world
def test_inputs_and_actions(kind):
    world = kind()
    assert (len(world.sensors), world.actions.n) == SIZES[kind][:2]
    assert len({sensor.name for sensor in world.sensors}) == len(world.sensors)
    assert len(set(world.actions.names)) == world.actions.n


def test_the_widest_give_the_padding():
    assert max(inputs for inputs, _, _ in SIZES.values()) == WIDEST
    assert max(actions for _, actions, _ in SIZES.values()) == MOST


@every_variant
def test_observations_stay_in_their_ranges(world):
    results, outside = live(world, null, 20, seed=11)
    assert outside == 0
    assert np.isfinite(results).all()


@every_variant
def test_padding_changes_nothing_and_is_left_alone(world):
    wide, narrow = Life(world, 7, padded=True), Life(world, 7)
    generator, own = np.random.default_rng(7), len(world.sensors)
    while not narrow.done:
        choice = generator.integers(10)
        wide.step(choice)
        narrow.step(choice)
        assert (wide.obs[0, :own] == narrow.obs[0]).all()
        assert (wide.obs[0, own:] == PADDING).all()
    assert (wide.out == narrow.out).all()


@every_world
def test_truncated_at_the_horizon_and_never_terminated(kind):
    life, steps = Life(kind(), 1), SIZES[kind][2]
    for _ in range(steps - 1):
        assert not life.refer().done
    life.refer()
    assert (life.out[0], life.out[1]) == (0.0, 1.0)


@every_world
def test_the_same_seed_gives_the_same_bits(kind):
    assert live(kind(), null, 5, seed=5)[0].tobytes() == live(kind(), null, 5, seed=5)[0].tobytes()


@every_world
def test_other_seeds_and_episodes_give_other_lives(kind):
    rewards = live(kind(), null, 40, seed=5)[0][:, 1], live(kind(), null, 40, seed=6)[0][:, 1]
    assert (rewards[0] != rewards[1]).any()
    assert len(set(rewards[0])) > 1


@every_world
def test_a_reset_forgets_the_life_before(kind):
    fresh, used = Life(kind(), 3), Life(kind(), 2)
    for n in range(9):
        used.step(n)
    used.start(3)
    assert fresh.state.tobytes() == used.state.tobytes()
    assert fresh.obs.tobytes() == used.obs.tobytes()
    assert fresh.out.tobytes() == used.out.tobytes()
    assert fresh.rng[:7].tobytes() == used.rng[:7].tobytes()


@every_variant
def test_the_reference_acts_within_the_worlds_own_actions(world):
    life = Life(world, 4)
    while not life.done:
        life.refer()
        assert 0 <= life.action[0, 0] < world.actions.n


@every_world
def test_pictures(kind):
    life = Life(kind())
    image = life.world.image(life.state)
    assert image.dtype == np.uint8
    assert image.shape[1:] == (300, 3)
    assert len(np.unique(image.reshape(-1, 3), axis=0)) >= 2
    before, after = life.world.text(life.state), life.world.text(life.refer().state)
    assert before != after


@every_variant
def test_spec_and_state_hold_what_they_should(world):
    assert world.spec()["world"] == world.name
    assert Life(world).state.size == world.state_size
    assert np.isfinite(Life(world).state).all()
