"""World `wall`: kinematics, whiskers, collisions, gate."""

import numpy as np
import pytest
from harness_control import Life, constant, live, mean_and_error, null, run_scores

from nematodebench.worlds.control.wall import Wall

X, Y, HEADING = 0, 1, 2


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
    life = Life(Wall())
    assert life.state[:3] == pytest.approx([7.5, 7.5, np.pi / 2])


def test_moves_along_the_old_heading_then_turns():
    life = Life(Wall()).step(0.2, 0.6)
    assert life.state[:3] == pytest.approx([7.5, 7.9, np.pi / 2 + 0.4])
    assert life.reward == pytest.approx(0.4)


@pytest.mark.parametrize("seed", range(5))
def test_whiskers_measure_the_way_from_the_rim_to_the_wall(seed):
    life = Life(Wall(), seed)
    generator = np.random.default_rng(seed)
    for _ in range(30):
        life.step(*generator.random(2))
    x, y, heading = life.state[:3]
    expected = [whisker(x, y, heading + np.pi / 4), whisker(x, y, heading - np.pi / 4)]
    assert life.obs[0] == pytest.approx(expected, abs=1e-5)


def test_a_wall_stops_the_disc_and_turns_it_by_a_quarter_pi():
    life = Life(Wall())
    for _ in range(7):
        life.step(1.0, 1.0)
    assert life.state[Y] == pytest.approx(14.5)
    life.step(1.0, 1.0)
    assert life.state[Y] == 14.5
    assert abs(life.state[HEADING] - np.pi / 2) == pytest.approx(np.pi / 4)
    assert life.reward == 0.0


def test_the_coin_of_a_collision_is_fair():
    turns = []
    for seed in range(200):
        life = Life(Wall(), seed)
        for _ in range(8):
            life.step(1.0, 1.0)
        turns.append(life.state[HEADING] > np.pi / 2)
    assert 70 < sum(turns) < 130


def test_metrics_are_those_of_the_window():
    world = Wall(ticks=400, window=150)
    life, generator = Life(world, 3), np.random.default_rng(3)
    path, collisions = [life.state[:2].copy()], []
    while not life.done:
        life.step(*generator.random(2))
        path.append(life.state[:2].copy())
        collisions.append(life.reward == 0.0)
    path, hits = np.array(path)[-151:], sum(collisions[-150:])
    distance = np.hypot(*np.diff(path, axis=0).T).sum()
    cells = len({tuple(cell) for cell in np.floor(path[1:] / 3.0).astype(int)})
    gate = min(distance / 15.0, 1.0) * min(cells / 18, 1.0)
    expected = [(1 - hits / 150) * gate, gate, 1 - hits / 150, hits, distance, cells]
    assert list(life.metrics.values()) == pytest.approx(expected)


def test_the_reference_is_perfect():
    metrics, _, _ = live(Wall(), Wall.reference, seed=0)
    assert (metrics[:, 0] == 1.0).all()


def test_the_gate_zeroes_a_motionless_disc():
    metrics, _, _ = live(Wall(), constant, seed=0)
    assert list(metrics[0, :3]) == [0.0, 0.0, 1.0]


def test_a_small_blind_circle_falls_below_the_null():
    assert run_scores(Wall(), constant, 2, effectors=[0.3, 0.5]).mean() < 0.4


def test_null_floor():
    mean, error = mean_and_error(run_scores(Wall(), null, 100))
    assert mean == pytest.approx(0.763, abs=4 * np.hypot(error, 0.001))
