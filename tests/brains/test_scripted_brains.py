"""The brains that learn nothing."""

import numpy as np
import pytest
from brain_trial import GRADIENT, Trial, discrete, effectors, forage

FORWARD, LEFT, RIGHT, STAY = range(4)
KLINOTAXIS = ("concentration", "change", "lateral", "satiety", "touch")
TEMPORAL = ("concentration", "change", "satiety", "touch")


def test_null_random_draws_every_action_equally_often():
    trial = Trial("null_random", discrete())
    counts = np.bincount([int(trial.act(np.zeros(5))[0]) for _ in range(4000)], minlength=4)
    assert np.abs(counts - 1000).max() < 5 * np.sqrt(1000)


def test_null_random_draws_effectors_uniformly_and_independently():
    trial = Trial("null_random", effectors())
    drawn = np.array([trial.act(np.zeros(4)) for _ in range(4000)])
    assert drawn.min() >= 0
    assert drawn.max() <= 1
    np.testing.assert_allclose(drawn.mean(0), 0.5, atol=0.03)
    np.testing.assert_allclose(np.cov(drawn.T), np.eye(3) / 12, atol=0.01)


def test_null_random_does_not_look():
    one, other = Trial("null_random", discrete()), Trial("null_random", discrete())
    assert [one.act(np.zeros(5))[0] for _ in range(50)] == [other.act(np.ones(5))[0] for _ in range(50)]


@pytest.mark.parametrize(("names", "stay"), [(("a", "stay", "b"), 1), (("a", "b", "c"), 2), (("stay",), 0)])
def test_motionless_stays_or_takes_the_last_action(names, stay):
    assert Trial("motionless", discrete(names=names)).act(np.zeros(5))[0] == stay


def test_motionless_keeps_all_effectors_at_0():
    trial = Trial("motionless", effectors())
    trial.action[:] = 0.7
    assert not trial.act(np.ones(4)).any()


@pytest.mark.parametrize(
    ("sine", "cosine", "touch", "choices"),
    [
        (0.1, 0.9, 0, {FORWARD}),
        (-0.1, 0.9, 0, {FORWARD}),
        (0.9, 0.1, 0, {RIGHT}),
        (-0.9, 0.1, 0, {LEFT}),
        (0.1, -0.9, 0, {RIGHT}),
        (-0.1, -0.9, 0, {LEFT}),
        (0.1, -0.9, 1, {LEFT}),
        (-0.9, 0.1, 1, {RIGHT}),
        (0.0, -1.0, 0, {LEFT, RIGHT}),
        (0.0, 0.0, 0, {FORWARD}),
        (0.0, 0.0, 1, {LEFT, RIGHT}),
    ],
)
def test_gradient_follower_goes_towards_the_odour(sine, cosine, touch, choices):
    taken = set()
    for seed in range(40):
        trial = Trial("gradient_follower", discrete(), seed, randomness=0, wander=0)
        taken.add(int(trial.act([0.5, sine, cosine, 1, touch])[0]))
    assert taken == choices


@pytest.mark.parametrize(
    ("change", "lateral", "choice"),
    [(0.5, 0.1, FORWARD), (0.5, 0.7, FORWARD), (0.5, 0.9, RIGHT), (0.1, -0.9, LEFT), (-0.5, 0.1, RIGHT)],
)
def test_gradient_follower_weighs_lateral_difference_against_change(change, lateral, choice):
    trial = Trial("gradient_follower", discrete(KLINOTAXIS), randomness=0)
    assert trial.act([0.5, change, lateral, 1, 0])[0] == choice


def test_gradient_follower_runs_while_odour_rises_and_turns_to_one_side_while_it_falls():
    sides = set()
    for seed in range(20):
        trial = Trial("gradient_follower", discrete(TEMPORAL), seed, randomness=0)
        assert trial.act([0.5, 0.2, 1, 0])[0] == FORWARD
        turns = [int(trial.act([0.5, -0.2, 1, 0])[0]) for _ in range(4)]
        assert len(set(turns)) == 1
        sides.add(turns[0])
    assert sides == {LEFT, RIGHT}


def test_gradient_follower_that_is_all_random_is_the_null():
    trial = Trial("gradient_follower", discrete(), randomness=1)
    counts = np.bincount([int(trial.act([0.5, 0, 1, 1, 0])[0]) for _ in range(4000)], minlength=4)
    assert np.abs(counts - 1000).max() < 5 * np.sqrt(1000)


def test_gradient_follower_names_the_sensors_it_needs():
    with pytest.raises(ValueError, match="odour_sine and odour_cosine, or change"):
        Trial("gradient_follower", discrete(("ray_0", "ray_1")))


def test_gradient_follower_names_the_actions_it_needs():
    with pytest.raises(ValueError, match="forward, left and right"):
        Trial("gradient_follower", discrete(GRADIENT, ("up", "down")))


def test_gradient_follower_finds_food():
    successes, _ = forage("gradient_follower")
    assert successes.mean() >= 0.97


@pytest.mark.parametrize("name", ["null_random", "motionless"])
def test_doing_nothing_sensible_finds_none(name):
    successes, _ = forage(name)
    assert successes.mean() <= 0.02
