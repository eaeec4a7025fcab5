"""World `gridworld`: moves, bumps, food, four sensors."""

import numpy as np
import pytest
from harness_continual import Life, mean_reward, null

from nematodebench.worlds.grid.gridworld import Gridworld

X, Y, FOOD_X, FOOD_Y = range(4)


def lay(x, y, food):
    life = Life(Gridworld())
    life.state[:4] = x, y, *food
    return life


def test_food_is_on_any_cell_but_the_agents():
    food = np.array([Life(Gridworld(), seed).state[:4] for seed in range(2400)])
    assert (food[:, :2] == 2.0).all()
    counts = np.bincount((5 * food[:, FOOD_Y] + food[:, FOOD_X]).astype(int), minlength=25)
    assert counts[12] == 0
    assert ((np.delete(counts, 12) - 100.0) ** 2 / 100.0).sum() < 23 + 5 * np.sqrt(46)


@pytest.mark.parametrize(("action", "place"), [(0, (1, 4)), (1, (2, 3)), (2, (1, 2)), (3, (0, 3))])
def test_moves(action, place):
    life = lay(1, 3, (4, 0)).step(action)
    assert tuple(life.state[:2]) == place
    assert life.reward == -0.01


@pytest.mark.parametrize(("place", "action"), [((2, 4), 0), ((4, 2), 1), ((2, 0), 2), ((0, 2), 3)])
def test_a_bump_moves_nothing_and_costs_a_tenth(place, action):
    life = lay(*place, (1, 1)).step(action)
    assert tuple(life.state[:2]) == place
    assert life.reward == -0.1
    assert life.metrics == {"foods": 0.0, "bumps": 1.0}


@pytest.mark.parametrize("action", range(4, 10))
def test_surplus_actions_stay(action):
    life = lay(0, 0, (4, 4)).step(action)
    assert tuple(life.state[:2]) == (0, 0)
    assert life.reward == -0.01


def test_food_is_eaten_and_reappears_elsewhere():
    life = lay(1, 1, (2, 1)).step(1)
    assert life.reward == 1.0
    assert tuple(life.state[:2]) == (2, 1) != tuple(life.state[2:4])
    assert life.metrics == {"foods": 1.0, "bumps": 0.0}


@pytest.mark.parametrize(
    ("food", "senses"),
    [((4, 1), (0, 0.4, 0, 0)), ((0, 4), (0.4, 0, 0, 0.8)), ((2, 0), (0, 0.8, 0.8, 0)), ((1, 0), (0, 0, 0.8, 0))],
)
def test_sensors_are_stronger_when_nearer(food, senses):
    assert lay(1, 1, food).step(9).obs[0] == pytest.approx(senses)


def test_reference_reward():
    mean, error = mean_reward(Gridworld(), Gridworld.reference, 400)
    assert mean == pytest.approx(32.4, abs=4 * error)


def test_the_reference_takes_the_shortest_way():
    life = lay(0, 4, (3, 1))
    assert [life.refer().reward for _ in range(6)] == [-0.01] * 5 + [1.0]


def test_null_reward():
    mean, error = mean_reward(Gridworld(), null, 8000)
    assert mean == pytest.approx(-0.90, abs=4 * error)
