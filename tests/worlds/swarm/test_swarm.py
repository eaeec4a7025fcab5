"""Worlds `torus` and `forage`: motion, rays, descriptors, score."""

import numpy as np
import pytest
from harness_control import Episode, mean_and_error, null, run_episodes, run_scores

from nematodebench.worlds.swarm.forage import Forage
from nematodebench.worlds.swarm.torus import Torus

COLUMNS = ("x", "y", "heading", "speed", "rate")
RAYS = np.radians(np.concatenate([30.0 + np.arange(-60, 61, 4), -30.0 + np.arange(-60, 61, 4)]))


def agents(episode):
    """x, y, heading, speed, rate of every agent."""
    return episode.read(*COLUMNS).T


def around(d, period=15.0):
    return (d + period / 2) % period - period / 2


def disc_rays(x, y, heading, target, radius):
    dx, dy = around(target[0] - x), around(target[1] - y)
    d = np.hypot(dx, dy)
    half_width = np.arcsin(min(1.0, radius / d))
    return np.abs(around(np.arctan2(dy, dx) - heading - RAYS, 2 * np.pi)) <= half_width


def wander(world, ticks, seed=0):
    episode, generator = Episode(world, seed), np.random.default_rng(seed)
    for _ in range(ticks):
        episode.action[:] = generator.random(episode.action.shape)
        episode.step()
    return episode


def assert_bank(values, on):
    """The lit rays are within 10 % of one another, the others at most a ninth of them, the sum 1."""
    assert values.sum() == pytest.approx(1.0, abs=1e-5)
    if on.any() and not on.all():
        unit = values[on].mean()
        assert values[on].min() > 0.8 * unit
        assert values[~on].max() < 0.13 * unit


def test_agents_start_at_rest_and_apart():
    places = agents(Episode(Torus(n_agents=30), 4))
    d = np.hypot(*(around(places[:, None, k] - places[None, :, k]) for k in (0, 1)))
    assert d[~np.eye(30, dtype=bool)].min() >= 1.2
    assert not places[:, 3:].any()
    assert (places[:, :2] >= 0.0).all()
    assert (places[:, :2] < 15.0).all()


def test_too_many_agents_still_start():
    assert np.isfinite(Episode(Torus(n_agents=150)).obs).all()


def test_a_tick_of_motion():
    episode = Episode(Torus(n_agents=1)).put(x=14.95, y=3.0, heading=0.1, speed=0.1, rate=0.05)
    episode.step(0.2, 0.7, 0.5)
    speed, rate = 0.1 + 0.5 * 0.04 - 0.02, 0.05 + 0.5 * np.pi / 40 - 0.01
    heading = 0.1 + rate
    expected = [14.95 + speed * np.cos(heading) - 15.0, 3.0 + speed * np.sin(heading), heading, speed, rate]
    assert agents(episode)[0] == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(10))
def test_rays_see_the_other_agents(seed):
    episode = wander(Torus(n_agents=5), 20, seed)
    for n, (x, y, heading, *_) in enumerate(agents(episode)):
        others = [other[:2] for k, other in enumerate(agents(episode)) if k != n]
        on = np.any([disc_rays(x, y, heading, other, 0.5) for other in others], axis=0)
        assert_bank(episode.obs[n, :62], on)
        assert not episode.obs[n, 62:].any()


@pytest.mark.parametrize("seed", range(10))
def test_the_second_bank_sees_the_source(seed):
    episode = wander(Forage(), 20, seed)
    source = episode.read("source_x", "source_y")
    for n, (x, y, heading, *_) in enumerate(agents(episode)):
        inside = np.hypot(*around(source - [x, y])) <= 1.0
        on = np.full(62, True) if inside else disc_rays(x, y, heading, source, 1.0)
        assert_bank(episode.obs[n, 64:126], on)
        assert not episode.obs[n, 126:].any()


def test_all_rays_are_on_inside_the_source_but_for_uniform_noise():
    episode = Episode(Forage(n_agents=1))
    episode.put(source_x=episode.state.x[0] + 0.5, source_y=episode.state.y[0] - 0.5)
    values = 62 * np.concatenate([episode.step(0.0, 0.0, 0.0).obs[0, 64:126].copy() for _ in range(100)])
    assert values.min() == pytest.approx(0.9, abs=0.025)
    assert values.max() == pytest.approx(1.1, abs=0.025)
    assert values.std() == pytest.approx(0.2 / np.sqrt(12), rel=0.03)


def test_noise_is_floored_at_0():
    episode = Episode(Torus(n_agents=1))
    values = np.concatenate([episode.step(0.5, 0.5, 0.0).obs[0, :62].copy() for _ in range(300)])
    assert np.mean(values == 0.0) == pytest.approx(0.5, abs=0.02)


def test_descriptors_and_score_of_the_window():
    world = Forage(ticks=60, window=25)
    episode, generator = Episode(world, 1), np.random.default_rng(1)
    rows = []
    while not episode.done:
        episode.action[:] = generator.random(episode.action.shape)
        episode.step()
        x, y, heading = agents(episode)[:, :3].T
        unit = np.stack([np.cos(heading), np.sin(heading)])
        centre = [np.angle(np.exp(2j * np.pi * c / 15).mean()) * 15 / (2 * np.pi) for c in (x, y)]
        away = np.stack([around(x - centre[0]), around(y - centre[1])])
        away /= np.hypot(*away)
        d = np.hypot(around(x[:, None] - x), around(y[:, None] - y)) + 99.0 * np.eye(8)
        source = np.hypot(around(x - episode.state.source_x), around(y - episode.state.source_y))
        assert episode.rewards == pytest.approx(1 - source / (15 * np.sqrt(2) / 2))
        milling = abs(np.mean(away[0] * unit[1] - away[1] * unit[0]))
        rows.append([episode.rewards.mean(), np.hypot(*unit.mean(1)), milling, d.min(1).mean()])
    assert len(rows) == 60
    assert list(episode.metrics.values()) == pytest.approx(np.mean(rows[-25:], axis=0))


def test_the_torus_pays_nothing_and_has_no_score():
    episode = wander(Torus(), 30)
    assert not episode.rewards.any()
    assert tuple(episode.metrics) == ("polarization", "milling", "nearest_neighbour")


def test_the_reference_gathers_on_the_source():
    assert run_episodes(Forage(), Forage.reference, seed=0, episodes=10)[0][:, 0].mean() > 0.98


def test_null_floor():
    mean, error = mean_and_error(run_scores(Forage(), null, 40))
    assert mean == pytest.approx(0.457, abs=4 * np.hypot(error, 0.002))
