"""World `wall`: kinematics, whiskers, collisions, gate."""

import numpy as np
import pytest
from harness_control import Episode, constant, mean_and_error, null, run_episodes, run_scores

from nematodebench.kernels.rng import RNG_WORDS, STREAM_WORLD, set_stream, uniform
from nematodebench.worlds.control.wall import Wall

POSE = ("x", "y", "heading")


def whisker(x, y, angle, side=15.0, radius=0.5):
    """March along the ray until it leaves the box."""
    lengths = np.arange(radius, side * np.sqrt(2), 1e-4)
    inside = (
        (x + lengths * np.cos(angle) >= 0)
        & (x + lengths * np.cos(angle) <= side)
        & (y + lengths * np.sin(angle) >= 0)
        & (y + lengths * np.sin(angle) <= side)
    )
    return 1.0 - (lengths[inside].max() - radius) / (side * np.sqrt(2))


def test_starts_at_the_centre_facing_up():
    episode = Episode(Wall())
    assert episode.read(*POSE) == pytest.approx([7.5, 7.5, np.pi / 2])


def test_moves_along_the_old_heading_then_turns():
    episode = Episode(Wall()).step(0.2, 0.6)
    assert episode.read(*POSE) == pytest.approx([7.5, 7.9, np.pi / 2 + 0.4])
    assert episode.reward == pytest.approx(0.4)


@pytest.mark.parametrize("seed", range(5))
def test_whiskers_measure_the_way_from_the_rim_to_the_wall(seed):
    episode = Episode(Wall(), seed)
    generator = np.random.default_rng(seed)
    for _ in range(30):
        episode.step(*generator.random(2))
    x, y, heading = episode.read(*POSE)
    expected = [whisker(x, y, heading + np.pi / 4), whisker(x, y, heading - np.pi / 4)]
    assert episode.obs[0] == pytest.approx(expected, abs=1e-5)


def test_a_wall_stops_the_disc_and_turns_it_by_a_quarter_pi():
    episode = Episode(Wall())
    for _ in range(7):
        episode.step(1.0, 1.0)
    assert episode.state.y == pytest.approx(14.5)
    episode.step(1.0, 1.0)
    assert episode.state.y == 14.5
    assert abs(episode.state.heading - np.pi / 2) == pytest.approx(np.pi / 4)
    assert episode.reward == 0.0


def test_the_coin_of_a_collision_is_fair():
    turns = []
    for seed in range(200):
        episode = Episode(Wall(), seed)
        for _ in range(8):
            episode.step(1.0, 1.0)
        turns.append(episode.state.heading > np.pi / 2)
    assert 70 < sum(turns) < 130


def test_metrics_are_those_of_the_window():
    world = Wall(ticks=400, window=150)
    episode, generator = Episode(world, 3), np.random.default_rng(3)
    path, collisions = [episode.read("x", "y")], []
    while not episode.done:
        episode.step(*generator.random(2))
        path.append(episode.read("x", "y"))
        collisions.append(episode.reward == 0.0)
    path, hits = np.array(path)[-151:], sum(collisions[-150:])
    distance = np.hypot(*np.diff(path, axis=0).T).sum()
    cells = len({tuple(cell) for cell in np.floor(path[1:] / 3.0).astype(int)})
    gate = min(distance / 15.0, 1.0) * min(cells / 18, 1.0)
    expected = [(1 - hits / 150) * gate, gate, 1 - hits / 150, hits, distance, cells]
    assert list(episode.metrics.values()) == pytest.approx(expected)


def test_the_reference_is_perfect():
    metrics, _, _ = run_episodes(Wall(), Wall.reference, seed=0)
    assert (metrics[:, 0] == 1.0).all()


def test_the_gate_zeroes_a_motionless_disc():
    metrics, _, _ = run_episodes(Wall(), constant, seed=0)
    assert list(metrics[0, :3]) == [0.0, 0.0, 1.0]


def test_a_small_blind_circle_falls_below_the_null():
    assert run_scores(Wall(), constant, 2, effectors=[0.3, 0.5]).mean() < 0.4


def test_null_floor():
    mean, error = mean_and_error(run_scores(Wall(), null, 100))
    assert mean == pytest.approx(0.763, abs=4 * np.hypot(error, 0.001))


NOISY = Wall(ticks=300, window=300, random_start=True, heading_noise=0.5, bump_weight=40.0, bump_cost=1.0)


def noisy_port(seed, effectors, weight=40.0):
    """An independent version of an episode with a noisy heading: pose after every tick, rewards and the score."""
    words = np.zeros(RNG_WORDS, np.uint64)
    set_stream(words, np.uint64(seed), STREAM_WORLD, 0, 0)
    x, y, heading = 1.5 + 12 * uniform(words), 1.5 + 12 * uniform(words), 2 * np.pi * uniform(words)
    poses, rewards, bumps, distance, cells = [(x, y, heading)], [], 0, 0.0, set()
    for left, right in effectors.astype(float):
        wanted = x + (left + right) / 2 * np.cos(heading), y + (left + right) / 2 * np.sin(heading)
        there = tuple(np.clip(wanted, 0.5, 14.5))
        bumped = there != wanted
        distance += np.hypot(there[0] - x, there[1] - y)
        (x, y), heading = there, heading + right - left
        if bumped:
            heading += np.pi / 4 * (1 if uniform(words) < 0.5 else -1)
        heading += 0.5 * (2 * uniform(words) - 1)
        bumps += bumped
        cells.add((int(x // 3), int(y // 3)))
        poses.append((x, y, heading))
        rewards.append(-1.0 if bumped else (left + right) / 2)
    gate = min(distance / (0.1 * len(effectors)), 1) * min(len(cells) / 18, 1)
    return poses, rewards, max(0.0, 1 - weight * bumps / distance) * gate


@pytest.mark.parametrize("seed", range(6))
def test_a_noisy_episode_is_that_of_an_independent_version(seed):
    effectors = np.random.default_rng(seed).uniform(0.0, 0.4 + 0.1 * seed, (300, 2)).astype(np.float32)
    poses, rewards, score = noisy_port(seed, effectors)
    episode = Episode(NOISY, seed)
    for pose, row, reward in zip(poses, effectors, rewards, strict=False):
        x, y, heading = episode.read(*POSE)
        assert (x, y) == pytest.approx(pose[:2], abs=1e-4)
        assert np.cos(heading - pose[2]) == pytest.approx(1.0, abs=1e-6)
        assert episode.step(*row).reward == pytest.approx(reward, abs=1e-6)
    assert episode.done
    assert episode.metrics["nav_score"] == pytest.approx(score, abs=1e-5)


def test_a_weight_counts_collisions_by_the_way():
    metrics = run_episodes(Wall(window=2000, bump_weight=0.5), null, seed=1)[0]
    names = Wall().metrics
    ungated, bumps, way = (metrics[:, names.index(name)] for name in ("ungated", "collisions", "distance"))
    assert ungated == pytest.approx(np.maximum(0.0, 1.0 - 0.5 * bumps / way))
    assert (ungated > 0).any()


def test_the_reference_keeps_from_the_walls_with_a_noisy_heading():
    world = Wall(window=2000, random_start=True, heading_noise=0.5, bump_weight=40.0, bump_cost=1.0)
    assert run_episodes(world, Wall.reference, seed=0, episodes=20)[0][:, 0].mean() > 0.98
