"""World `realtime`: eight moves, exclusive rewards, rays alone."""

import numpy as np
import pytest
from grid_walks import DANGER, EMPTY, FOOD, MAP, WAYS, X, Y, grid, lay, rays
from harness_continual import Life, live, mean_reward, null

from nematodebench.worlds.grid.realtime import Realtime


def test_start():
    life = Life(Realtime())
    assert tuple(life.state[:MAP]) == (6.0, 6.0, 0.0, 0.0, 0.0)
    assert ((grid(life) == FOOD).sum(), (grid(life) == DANGER).sum()) == (3, 3)


@pytest.mark.parametrize("action", range(8))
def test_a_move_goes_where_its_ray_looks(action):
    life = lay(Life(Realtime()), 5, 5, food=[tuple(np.array([5, 5]) + 2 * WAYS[action])])
    life.step(9)
    assert life.obs[0, 3 * action] == np.float32(1 - 2 / 12)
    life.step(action)
    assert tuple(life.state[[X, Y]]) == tuple(np.array([5, 5]) + WAYS[action])
    assert life.step(action).reward == 1.0


@pytest.mark.parametrize("action", [8, 9])
def test_surplus_actions_stay(action):
    life = lay(Life(Realtime()), 5, 5).step(action)
    assert tuple(life.state[[X, Y]]) == (5, 5)
    assert life.reward == -0.01


@pytest.mark.parametrize("action", [2, 3, 5, 6, 7])
def test_the_edge_blocks_diagonals_as_well(action):
    life = lay(Life(Realtime()), 0, 0).step(action)
    assert tuple(life.state[[X, Y]]) == (0, 0)
    assert life.reward == -0.01


def test_the_reward_is_that_of_the_cell():
    life = lay(Life(Realtime()), 5, 5, food=[(6, 6)], danger=[(7, 6)])
    assert life.step(4).reward == 1.0
    grid(life)[grid(life) == FOOD] = EMPTY
    assert life.step(1).reward == -0.5
    assert life.step(8).reward == -0.5
    assert life.step(1).reward == -0.01
    assert life.metrics == {"foods": 1.0, "dangers": 2.0}


def test_inputs_follow_from_the_map():
    life, generator = Life(Realtime(), 4), np.random.default_rng(4)
    for _ in range(150):
        life.step(generator.integers(10))
        assert life.obs[0] == pytest.approx(np.array(rays(life), np.float32), rel=1e-6)


def test_reference_reward():
    mean, error = mean_reward(Realtime(), Realtime.reference, 300)
    assert mean == pytest.approx(57.2, abs=4 * error + 0.05)
    assert (live(Realtime(), Realtime.reference, 300)[0][:, 3] == 0.0).all()


def test_null_reward():
    mean, error = mean_reward(Realtime(), null, 4000)
    assert mean == pytest.approx(-2.56, abs=4 * error + 0.02)
