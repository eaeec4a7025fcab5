"""World `gridworld`: moves, bumps, food, four sensors."""

import numpy as np
import pytest
from harness_continual import Trial, mean_reward, null

from nematodebench.worlds.grid.gridworld import Gridworld


def lay(x, y, food):
    trial = Trial(Gridworld())
    state = trial.state
    state.x, state.y = x, y
    state.food_x, state.food_y = food
    return trial


def test_food_is_on_any_cell_but_the_agents():
    states = [Trial(Gridworld(), seed).state for seed in range(2400)]
    assert all(state.x == state.y == 2.0 for state in states)
    counts = np.bincount([int(5 * state.food_y + state.food_x) for state in states], minlength=25)
    assert counts[12] == 0
    assert ((np.delete(counts, 12) - 100.0) ** 2 / 100.0).sum() < 23 + 5 * np.sqrt(46)


@pytest.mark.parametrize(("action", "place"), [(0, (1, 4)), (1, (2, 3)), (2, (1, 2)), (3, (0, 3))])
def test_moves(action, place):
    trial = lay(1, 3, (4, 0)).step(action)
    assert trial.place == place
    assert trial.reward == -0.01


@pytest.mark.parametrize(("place", "action"), [((2, 4), 0), ((4, 2), 1), ((2, 0), 2), ((0, 2), 3)])
def test_a_bump_moves_nothing_and_costs_a_tenth(place, action):
    trial = lay(*place, (1, 1)).step(action)
    assert trial.place == place
    assert trial.reward == -0.1
    assert trial.metrics == {"foods": 0.0, "bumps": 1.0}


@pytest.mark.parametrize("action", range(4, 10))
def test_surplus_actions_stay(action):
    trial = lay(0, 0, (4, 4)).step(action)
    assert trial.place == (0, 0)
    assert trial.reward == -0.01


def test_food_is_eaten_and_reappears_elsewhere():
    trial = lay(1, 1, (2, 1)).step(1)
    assert trial.reward == 1.0
    assert trial.place == (2, 1) != (trial.state.food_x, trial.state.food_y)
    assert trial.metrics == {"foods": 1.0, "bumps": 0.0}


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
    trial = lay(0, 4, (3, 1))
    assert [trial.refer().reward for _ in range(6)] == [-0.01] * 5 + [1.0]


def test_null_reward():
    mean, error = mean_reward(Gridworld(), null, 8000)
    assert mean == pytest.approx(-0.90, abs=4 * error)
