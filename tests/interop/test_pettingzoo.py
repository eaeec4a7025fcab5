"""Swarm tasks as PettingZoo parallel environments, the other control tasks as Gymnasium ones."""

import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import parallel_api_test, parallel_seed_test

import nematodebench as nb
from nematodebench.errors import UsageError
from nematodebench.interop.env import NematodeEnv
from nematodebench.interop.pettingzoo import parallel_env
from nematodebench.tasks.control import TASKS

SWARMS = [task.id for task in TASKS if task.world.agents > 1]
SINGLE = [task.id for task in TASKS if task.world.agents == 1]


def test_all_swarm_tasks_are_covered():
    assert set(SWARMS) == {"torus-v1", "forage-v1", "forage-v2"}


@pytest.mark.parametrize("task", SWARMS)
def test_parallel_api(task):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parallel_api_test(parallel_env(task), num_cycles=1100)


@pytest.mark.parametrize("task", SWARMS)
def test_parallel_seed(task):
    parallel_seed_test(lambda: parallel_env(task), num_cycles=20)


def test_an_episode_gives_the_metrics_that_a_run_records():
    """The environment steps the very world of the run loop: same stream, same actions, same numbers."""
    session = nb.run("forage_untrained-v1", "motionless", runs=1, seed=5, workers=1)
    env = parallel_env("forage-v1")
    env.reset(seed=session.runs[0].seed)
    infos = {}
    while env.agents:
        _, _, _, _, infos = env.step({agent: np.zeros(3, np.float32) for agent in env.agents})
    recorded = session.episodes["forage_score"][0]
    assert infos["agent_0"]["forage_score"] == recorded
    assert infos["agent_7"] == infos["agent_0"]


def test_a_reset_without_seed_goes_on_to_the_next_episode():
    env = parallel_env("torus-v1")
    first, _ = env.reset(seed=1)
    second, _ = env.reset()
    again, _ = env.reset(seed=1)
    assert np.array_equal(first["agent_3"], again["agent_3"])
    assert not np.array_equal(first["agent_3"], second["agent_3"])


@pytest.mark.parametrize("bad", [[0.1, 0.2], [0.1, 0.2, 1.5], [0.1, 0.2, np.nan]])
def test_illegal_actions_are_refused(bad):
    env = parallel_env("torus-v1")
    env.reset(seed=1)
    with pytest.raises(UsageError, match="agent_0"):
        env.step(dict.fromkeys(env.agents, np.array(bad)))


def test_a_missing_action_and_a_step_after_the_end_are_refused():
    env = parallel_env("torus-v1")
    with pytest.raises(UsageError, match="call reset"):
        env.step({})
    env.reset(seed=1)
    with pytest.raises(UsageError, match="no action for agent_0"):
        env.step({})


def test_pictures_and_text():
    env = parallel_env("forage-v1", "rgb_array")
    env.reset(seed=1)
    before = env.render()
    assert before.shape[1:] == (400, 3)
    env.step({agent: np.array([0.0, 1.0, 1.0], dtype=np.float32) for agent in env.agents})
    assert not np.array_equal(env.render(), before)
    assert parallel_env("forage-v1").render() is None


def test_gymnasium_points_to_pettingzoo():
    with pytest.raises(UsageError, match="PettingZoo"):
        NematodeEnv("forage-v1")


@pytest.mark.parametrize("task", SINGLE)
def test_control_tasks_as_gymnasium_environments(task):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(NematodeEnv(task), skip_render_check=True)


def test_control_tasks_are_registered_with_gymnasium():
    from nematodebench.interop.registration import register_all

    register_all()
    env = gymnasium.make("nematodebench/pong-v1")
    assert env.observation_space.shape == (46,)
