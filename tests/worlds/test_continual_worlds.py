"""What holds for every world of the continual family: widths, ranges, padding, determinism, ends, pictures."""

import numpy as np
import pytest
from harness_continual import MOST, PADDING, WIDEST, Trial, null, run_episodes

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
    results, outside = run_episodes(world, null, 20, seed=11)
    assert outside == 0
    assert np.isfinite(results).all()


@every_variant
def test_padding_changes_nothing_and_is_left_alone(world):
    wide, narrow = Trial(world, 7, padded=True), Trial(world, 7)
    generator, own = np.random.default_rng(7), len(world.sensors)
    while not narrow.done:
        choice = generator.integers(10)
        wide.step(choice)
        narrow.step(choice)
        assert (wide.obs[0, :own] == narrow.obs[0]).all()
        assert (wide.obs[0, own:] == PADDING).all()
    assert (wide.arrays.outs == narrow.arrays.outs).all()


@every_world
def test_truncated_at_the_horizon_and_never_terminated(kind):
    trial, steps = Trial(kind(), 1), SIZES[kind][2]
    for _ in range(steps - 1):
        assert not trial.refer().done
    trial.refer()
    outcome = trial.arrays.outcome()
    assert (outcome.terminated, outcome.truncated) == (0.0, 1.0)


@every_world
def test_the_same_seed_gives_the_same_bits(kind):
    assert run_episodes(kind(), null, 5, seed=5)[0].tobytes() == run_episodes(kind(), null, 5, seed=5)[0].tobytes()


@every_world
def test_other_seeds_and_episodes_give_other_rewards(kind):
    rewards = run_episodes(kind(), null, 40, seed=5)[0][:, 1], run_episodes(kind(), null, 40, seed=6)[0][:, 1]
    assert (rewards[0] != rewards[1]).any()
    assert len(set(rewards[0])) > 1


@every_world
def test_a_reset_forgets_the_episode_before(kind):
    fresh, used = Trial(kind(), 3), Trial(kind(), 2)
    for n in range(9):
        used.step(n)
    used.begin(3)
    assert fresh.arrays.states.tobytes() == used.arrays.states.tobytes()
    assert fresh.obs.tobytes() == used.obs.tobytes()
    assert fresh.arrays.outs.tobytes() == used.arrays.outs.tobytes()
    assert fresh.arrays.rng[0, :7].tobytes() == used.arrays.rng[0, :7].tobytes()


@every_variant
def test_the_reference_acts_within_the_worlds_own_actions(world):
    trial = Trial(world, 4)
    while not trial.done:
        trial.refer()
        assert 0 <= trial.action[0, 0] < world.actions.n


@every_world
def test_text(kind):
    trial = Trial(kind())
    before, after = trial.world.text(trial.state), trial.world.text(trial.refer().state)
    assert before != after


@every_variant
def test_spec_and_state_hold_what_they_should(world):
    assert world.spec()["world"] == world.name
    assert Trial(world).arrays.states.shape == (1, world.memory.state.count(world.memory.params(world.pack())))
    assert np.isfinite(Trial(world).arrays.states).all()
