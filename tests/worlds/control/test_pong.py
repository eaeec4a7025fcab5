"""World `pong`: paddle, walls, hits and misses, bearing units."""

import numpy as np
import pytest
from harness_control import Episode, mean_and_error, null, run_episodes, run_scores

from nematodebench.worlds.control.pong import Pong


def placed(x, y, vx=-5.0, vy=5.0, paddle=250.0):
    return Episode(Pong()).put(x=x, y=y, vx=vx, vy=vy, paddle=paddle)


def test_a_ball_starts_at_the_far_side_moving_left():
    starts = [Episode(Pong(), seed).state for seed in range(200)]
    assert all(s.x == 995.0 and 1.0 < s.y < 499.0 and s.vx == -5.0 and abs(s.vy) == 5.0 for s in starts)
    assert 70 < sum(s.vy > 0 for s in starts) < 130


def test_paddle_moves_by_the_difference_and_is_clamped():
    episode = Episode(Pong()).step(0.8, 0.3)
    assert episode.state.paddle == pytest.approx(300.0)
    for _ in range(3):
        episode.step(1.0, 0.0)
    assert episode.state.paddle == 450.0


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ((500.0, 250.0, -5.0, 5.0), (495.0, 255.0, -5.0, 5.0)),
        ((500.0, 7.0, -5.0, -5.0), (495.0, 8.0, -5.0, 5.0)),
        ((500.0, 493.0, 5.0, 5.0), (505.0, 492.0, 5.0, -5.0)),
        ((995.0, 250.0, 5.0, 5.0), (990.0, 255.0, -5.0, 5.0)),
    ],
)
def test_the_ball_is_mirrored_at_three_walls(before, after):
    assert tuple(placed(*before).step(0.5, 0.5).read("x", "y", "vx", "vy")) == after


@pytest.mark.parametrize(("offset", "hit"), [(65.0, True), (65.5, False), (-65.0, True), (-65.5, False)])
def test_the_paddle_reaches_65_up_and_down(offset, hit):
    episode = placed(120.0, 245.0 + offset).step(0.5, 0.5)
    assert episode.reward == float(hit)
    assert tuple(episode.read("x", "vx", "past")) == ((115.0, 5.0, 0.0) if hit else (115.0, -5.0, 1.0))


def test_a_ball_that_is_past_cannot_be_hit_and_ends_as_a_miss():
    episode = placed(120.0, 450.0).step(0.5, 0.5)
    rewards = []
    while episode.state.vx < 0 and episode.state.x < 200.0:
        rewards.append(episode.step(1.0, 0.0).reward)
    assert rewards == [0.0] * 23 + [-1.0]
    assert (episode.state.x, episode.state.past) == (995.0, 0.0)


@pytest.mark.parametrize(("x", "y"), [(600.0, 330.0), (150.0, 20.0), (101.0, 470.0), (990.0, 250.0)])
def test_units_within_2_degrees_of_the_balls_bearing_are_on(x, y):
    episode = placed(x + 5.0, y - 5.0).step(0.5, 0.5)
    bearing = np.degrees(np.arctan2(episode.state.y - 250.0, episode.state.x - 100.0))
    expected = np.abs(np.arange(-90, 91, 4) - bearing) <= 2.0
    assert (episode.obs[0] == expected).all()
    assert expected.any()


def rebounds(world, count):
    """Vertical speeds after hits, always of a ball that came down at 5 a tick."""
    episode, speeds = Episode(world), []
    for _ in range(count):
        episode.put(x=120.0, y=245.0, vx=-5.0, vy=-5.0, paddle=240.0, past=0.0).step(0.5, 0.5)
        assert episode.reward == 1.0
        speeds.append(episode.state.vy)
    return np.array(speeds)


def test_a_hit_leaves_the_vertical_speed_as_it_is():
    assert (rebounds(Pong(), 50) == -5.0).all()


def test_a_random_rebound_draws_the_vertical_speed_anew():
    speeds = rebounds(Pong(random_rebound=True), 2000)
    assert (np.abs(speeds) < 5.0).all()
    expected = np.diff(np.histogram(speeds, np.linspace(-5.0, 5.0, 11))[0].cumsum(), prepend=0)
    assert expected == pytest.approx(np.full(10, 200), abs=70)


@pytest.mark.parametrize(
    ("y", "vy", "after"), [(6.0, -2.5, (6.5, 2.5)), (494.0, 1.5, (494.5, -1.5)), (2.0, 1.0, (7.0, 1.0))]
)
def test_walls_mirror_any_vertical_speed(y, vy, after):
    assert tuple(placed(500.0, y, -5.0, vy).step(0.5, 0.5).read("y", "vy")) == after


def test_nothing_is_felt_of_a_ball_behind():
    episode = placed(100.0, 450.0).put(past=1.0)
    assert episode.step(0.5, 0.5).obs.max() == 0.0


def test_hit_rate_counts_the_window():
    episode, generator = Episode(Pong(ticks=6000, window=4000), 2), np.random.default_rng(2)
    rewards = []
    while not episode.done:
        rewards.append(episode.step(*generator.random(2)).reward)
    hits, misses = rewards[-4000:].count(1.0), rewards[-4000:].count(-1.0)
    assert episode.metrics == {"hit_rate": hits / (hits + misses), "hits": hits, "misses": misses}


def test_hit_rate_without_a_ball_is_0():
    episode = Episode(Pong(ticks=10, window=10))
    for _ in range(10):
        episode.step(0.5, 0.5)
    assert episode.metrics["hit_rate"] == 0.0


def test_the_reference_hits_every_ball():
    assert (run_episodes(Pong(), Pong.reference, seed=0)[0][:, 0] == 1.0).all()


def test_null_floor():
    mean, error = mean_and_error(run_scores(Pong(), null, 25))
    assert mean == pytest.approx(0.258, abs=4 * np.hypot(error, 0.0044))
