"""World `pong`: paddle, walls, hits and misses, bearing units."""

import numpy as np
import pytest
from harness_control import Life, live, mean_and_error, null, run_scores

from nematodebench.worlds.control.pong import Pong

X, Y, VX, VY, PADDLE, PAST = range(6)


def put(life, x, y, vx=-5.0, vy=5.0, paddle=250.0):
    life.state[:5] = x, y, vx, vy, paddle
    return life


def test_a_ball_starts_at_the_far_side_moving_left():
    lives = [Life(Pong(), seed).state for seed in range(200)]
    assert all(s[X] == 995.0 and 1.0 < s[Y] < 499.0 and s[VX] == -5.0 and abs(s[VY]) == 5.0 for s in lives)
    assert 70 < sum(s[VY] > 0 for s in lives) < 130


def test_paddle_moves_by_the_difference_and_is_clamped():
    life = Life(Pong()).step(0.8, 0.3)
    assert life.state[PADDLE] == pytest.approx(300.0)
    for _ in range(3):
        life.step(1.0, 0.0)
    assert life.state[PADDLE] == 450.0


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
    assert tuple(put(Life(Pong()), *before).step(0.5, 0.5).state[:4]) == after


@pytest.mark.parametrize(("offset", "hit"), [(65.0, True), (65.5, False), (-65.0, True), (-65.5, False)])
def test_the_paddle_reaches_65_up_and_down(offset, hit):
    life = put(Life(Pong()), 120.0, 245.0 + offset).step(0.5, 0.5)
    assert life.reward == float(hit)
    assert (life.state[X], life.state[VX], life.state[PAST]) == ((115.0, 5.0, 0.0) if hit else (115.0, -5.0, 1.0))


def test_a_ball_that_is_past_cannot_be_hit_and_ends_as_a_miss():
    life = put(Life(Pong()), 120.0, 450.0).step(0.5, 0.5)
    rewards = []
    while life.state[VX] < 0 and life.state[X] < 200.0:
        rewards.append(life.step(1.0, 0.0).reward)
    assert rewards == [0.0] * 23 + [-1.0]
    assert (life.state[X], life.state[PAST]) == (995.0, 0.0)


@pytest.mark.parametrize(("x", "y"), [(600.0, 330.0), (150.0, 20.0), (101.0, 470.0), (990.0, 250.0)])
def test_units_within_2_degrees_of_the_balls_bearing_are_on(x, y):
    life = put(Life(Pong()), x + 5.0, y - 5.0).step(0.5, 0.5)
    bearing = np.degrees(np.arctan2(life.state[Y] - 250.0, life.state[X] - 100.0))
    expected = np.abs(np.arange(-90, 91, 4) - bearing) <= 2.0
    assert (life.obs[0] == expected).all()
    assert expected.any()


def test_nothing_is_felt_of_a_ball_behind():
    life = put(Life(Pong()), 100.0, 450.0)
    life.state[PAST] = 1.0
    assert life.step(0.5, 0.5).obs.max() == 0.0


def test_hit_rate_counts_the_window():
    life, generator = Life(Pong(ticks=6000, window=4000), 2), np.random.default_rng(2)
    rewards = []
    while not life.done:
        rewards.append(life.step(*generator.random(2)).reward)
    hits, misses = rewards[-4000:].count(1.0), rewards[-4000:].count(-1.0)
    assert life.metrics == {"hit_rate": hits / (hits + misses), "hits": hits, "misses": misses}


def test_hit_rate_without_a_ball_is_0():
    life = Life(Pong(ticks=10, window=10))
    for _ in range(10):
        life.step(0.5, 0.5)
    assert life.metrics["hit_rate"] == 0.0


def test_the_reference_hits_every_ball():
    assert (live(Pong(), Pong.reference, seed=0)[0][:, 0] == 1.0).all()


def test_null_floor():
    mean, error = mean_and_error(run_scores(Pong(), null, 25))
    assert mean == pytest.approx(0.258, abs=4 * np.hypot(error, 0.0044))
