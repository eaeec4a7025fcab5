"""World `realtime`: eight moves, exclusive rewards, rays alone."""

import numpy as np
import pytest
from grid_walks import DANGER, EMPTY, FOOD, WAYS, grid, lay, rays
from harness_continual import Trial, mean_reward, null, run_episodes

from nematodebench.worlds.grid.realtime import Realtime


def test_start():
    trial = Trial(Realtime())
    state = trial.state
    assert (state.x, state.y, state.step, state.eaten, state.hurt) == (6.0, 6.0, 0.0, 0.0, 0.0)
    assert ((grid(trial) == FOOD).sum(), (grid(trial) == DANGER).sum()) == (3, 3)


@pytest.mark.parametrize("action", range(8))
def test_a_move_goes_where_its_ray_looks(action):
    trial = lay(Trial(Realtime()), 5, 5, food=[tuple(np.array([5, 5]) + 2 * WAYS[action])])
    trial.step(9)
    assert trial.obs[0, 3 * action] == np.float32(1 - 2 / 12)
    trial.step(action)
    assert trial.place == tuple(np.array([5, 5]) + WAYS[action])
    assert trial.step(action).reward == 1.0


@pytest.mark.parametrize("action", [8, 9])
def test_surplus_actions_stay(action):
    trial = lay(Trial(Realtime()), 5, 5).step(action)
    assert trial.place == (5, 5)
    assert trial.reward == -0.01


@pytest.mark.parametrize("action", [2, 3, 5, 6, 7])
def test_the_edge_blocks_diagonals_as_well(action):
    trial = lay(Trial(Realtime()), 0, 0).step(action)
    assert trial.place == (0, 0)
    assert trial.reward == -0.01


def test_the_reward_is_that_of_the_cell():
    trial = lay(Trial(Realtime()), 5, 5, food=[(6, 6)], danger=[(7, 6)])
    assert trial.step(4).reward == 1.0
    grid(trial)[grid(trial) == FOOD] = EMPTY
    assert trial.step(1).reward == -0.5
    assert trial.step(8).reward == -0.5
    assert trial.step(1).reward == -0.01
    assert trial.metrics == {"foods": 1.0, "dangers": 2.0}


def test_inputs_follow_from_the_map():
    trial, generator = Trial(Realtime(), 4), np.random.default_rng(4)
    for _ in range(150):
        trial.step(generator.integers(10))
        assert trial.obs[0] == pytest.approx(np.array(rays(trial), np.float32), rel=1e-6)


def test_reference_reward():
    mean, error = mean_reward(Realtime(), Realtime.reference, 300)
    assert mean == pytest.approx(57.2, abs=4 * error + 0.05)
    assert (run_episodes(Realtime(), Realtime.reference, 300)[0][:, 3] == 0.0).all()


def test_null_reward():
    mean, error = mean_reward(Realtime(), null, 4000)
    assert mean == pytest.approx(-2.56, abs=4 * error + 0.02)
