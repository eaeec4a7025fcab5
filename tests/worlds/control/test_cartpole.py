"""World `cartpole`: equations, limits, senses, the variants and the swing-up."""

import numpy as np
import pytest
from harness_control import Episode, mean_and_error, null, run_episodes, run_scores

from nematodebench.worlds.control.cartpole import Cartpole, CartpoleSwingup, CartpoleUpright

STANDARD = Cartpole()
HARD = Cartpole(
    half_length=0.75, force=8.0, dead_zone=0.0, angle_limit=0.12, v_scale=5.0, angle_scale=0.12, spin_scale=5.0,
    ticks=1500, window=1500,
)  # fmt: skip
LONG = Cartpole(half_length=1.0, dead_zone=0.0, v_scale=5.0, spin_scale=5.0)
SWINGUP = CartpoleSwingup()
POSE = ("x", "v", "angle", "spin")


def placed(world, *pose):
    return Episode(world).put(**dict(zip(POSE, pose, strict=True)))


def successor(state, force, half):
    """One tick of the pole's full equations of motion, solved as a linear system."""
    x, v, angle, spin = state
    sine, cosine = np.sin(angle), np.cos(angle)
    matrix = [[1.1, 0.1 * half * cosine], [cosine, 4.0 / 3.0 * half]]
    cart, turn = np.linalg.solve(matrix, [force + 0.1 * half * spin**2 * sine, 9.8 * sine])
    v, spin = v + 0.02 * cart, spin + 0.02 * turn
    return [x + 0.02 * v, v, angle + 0.02 * spin, spin]


@pytest.mark.parametrize(
    ("world", "effectors", "force"),
    [
        (STANDARD, (1.0, 0.0), -10.0),
        (STANDARD, (0.4, 0.5), 10.0),
        (STANDARD, (0.5, 0.54), 0.0),
        (HARD, (0.5, 0.5), -8.0),
        (HARD, (0.5, 0.54), 8.0),
        (LONG, (0.5, 0.54), 10.0),
    ],
)
def test_a_tick_obeys_the_equations_of_motion(world, effectors, force):
    episode = placed(world, 0.3, -0.4, 0.07, 0.5).step(*effectors)
    assert episode.read(*POSE) == pytest.approx(successor([0.3, -0.4, 0.07, 0.5], force, world.half_length))


def test_a_swinging_pole_turns_freely_through_the_bottom():
    episode = placed(SWINGUP, 0.0, 0.0, 3.1, 5.0)
    expected = successor([0.0, 0.0, 3.1, 5.0], 10.0, 0.5)
    expected[2] -= 2 * np.pi
    assert episode.step(0.0, 1.0).read(*POSE) == pytest.approx(expected)
    assert not episode.done


@pytest.mark.parametrize(
    ("world", "bounds", "rest"), [(HARD, (1.2, 0.05, 0.10475, 0.05), 0.0), (SWINGUP, (0.25, 0.05, 0.08, 0.05), np.pi)]
)
def test_starts_fill_their_ranges(world, bounds, rest):
    starts = np.array([Episode(world, seed).read(*POSE) for seed in range(200)])
    starts[:, 2] = (starts[:, 2] - rest + np.pi) % (2 * np.pi) - np.pi
    widest = np.abs(starts).max(0) / bounds
    assert (widest <= 1.0).all()
    assert (widest > 0.95).all()


def test_senses_are_clipped_halves():
    episode = placed(STANDARD, 1.1, -3.0, -0.1, 0.4).step(0.5, 0.5)
    scaled = np.clip(episode.read(*POSE) / [2.4, 1.0, 0.2095, 1.0], -1.0, 1.0)
    expected = np.stack([np.maximum(-scaled, 0.0), np.maximum(scaled, 0.0)], axis=1).ravel()
    assert episode.obs[0] == pytest.approx(expected)
    assert episode.obs[0, 2] == 1.0


@pytest.mark.parametrize(
    ("world", "pose"),
    [
        (STANDARD, (2.39, 1.0, 0.0, 0.0)),
        (STANDARD, (0.0, 0.0, 0.2, 1.0)),
        (HARD, (0.0, 0.0, -0.119, -1.0)),
        (SWINGUP, (19.99, 2.0, 0.0, 0.0)),
    ],
)
def test_leaving_a_limit_terminates_without_reward(world, pose):
    episode = placed(world, *pose).step(0.5, 0.5)
    assert (*episode.flags, episode.reward) == (1.0, 0.0, 0.0)


def test_an_early_failure_counts_as_unbalanced_for_the_rest_of_the_window():
    episode, ticks = Episode(Cartpole(ticks=1000, window=998)), 0
    while not episode.done:
        episode.step(1.0, 0.0)
        ticks += 1
    assert 3 < ticks < 100
    assert episode.metrics["balanced"] == pytest.approx((ticks - 1 - 2) / 998)


def test_mean_uprightness_is_that_of_the_window():
    episode, generator = Episode(CartpoleSwingup(ticks=200, window=150), 1), np.random.default_rng(1)
    upright = []
    while not episode.done:
        episode.step(*generator.random(2))
        upright.append((1 + np.cos(episode.state.angle)) / 2)
        assert episode.reward == pytest.approx(upright[-1])
    assert len(upright) == 200
    assert episode.metrics["mean_uprightness"] == pytest.approx(np.mean(upright[-150:]))


def test_the_upright_share_counts_the_window_above_a_cosine():
    episode = Episode(CartpoleUpright(ticks=300, window=250), 1)
    upright = []
    while not episode.done:
        episode.refer()
        upright.append(np.cos(episode.state.angle))
        assert episode.reward == pytest.approx((1 + upright[-1]) / 2)
    assert 0 < sum(cosine > 0.95 for cosine in upright[-250:]) < 250
    assert episode.metrics["upright_share"] == np.mean(np.array(upright[-250:]) > 0.95)
    assert episode.metrics["mean_uprightness"] == pytest.approx(np.mean((1 + np.array(upright[-250:])) / 2))


def test_nothing_counts_after_the_cart_has_left_the_track():
    episode = placed(CartpoleUpright(ticks=300, window=300), 19.5, 0.0, 0.0, 0.0)
    ticks = 0
    while not episode.done:
        episode.put(angle=0.0, spin=0.0).step(0.0, 1.0)
        ticks += 1
    assert episode.flags == (1.0, 0.0)
    assert episode.metrics["upright_share"] == pytest.approx((ticks - 1) / 300)


def test_an_upright_world_moves_as_the_swing_up_does():
    one, two = (
        run_episodes(kind(window=1500), null, seed=4, episodes=3)[0] for kind in (CartpoleUpright, CartpoleSwingup)
    )
    assert (one[:, 1] == two[:, 0]).all()


@pytest.mark.parametrize("world", [STANDARD, HARD, LONG], ids=["standard", "hard", "long"])
def test_the_reference_balances_forever(world):
    assert (run_episodes(world, Cartpole.reference, seed=0, episodes=50)[0][:, 0] == 1.0).all()


def test_the_reference_swings_up():
    assert run_episodes(SWINGUP, Cartpole.reference, seed=0, episodes=50)[0][:, 0].min() > 0.95


@pytest.mark.parametrize("world", [STANDARD, HARD, LONG], ids=["standard", "hard", "long"])
def test_null_is_near_the_analytic_floor(world):
    assert 0.0 < run_scores(world, null, 40).mean() < 0.035


def test_swingup_null_floor():
    mean, error = mean_and_error(run_scores(SWINGUP, null, 200))
    assert mean == pytest.approx(0.084, abs=4 * np.hypot(error, 0.007))
