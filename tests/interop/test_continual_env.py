"""The continual task as an environment: the body of scored brains, and the worlds of a run in their order."""

import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from stable_baselines3.common.env_checker import check_env as sb3_check_env

from nematodebench.engine.run import interface
from nematodebench.errors import UsageError
from nematodebench.interop.continual import ContinualEnv
from nematodebench.interop.env import NematodeEnv
from nematodebench.sessions.config import SessionConfig
from nematodebench.sessions.execution import run_plan
from nematodebench.sessions.plan import make_plan
from nematodebench.tasks.continual import ORDER, TASKS
from nematodebench.tasks.registry import get_task

ALONE = [task for task in TASKS if task.version == 2]


def test_make_gives_it_and_both_checkers_are_content():
    env = gymnasium.make("nematodebench/continual-v1")
    assert isinstance(env.unwrapped, ContinualEnv)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env.unwrapped)
        sb3_check_env(ContinualEnv())


def test_it_has_the_body_of_a_scored_brain():
    env, body = ContinualEnv(), interface(get_task("continual-v1"))
    assert env.observation_space.shape == (body.inputs,) == (28,)
    assert env.action_space.n == body.choices == 10
    assert np.allclose(env.observation_space.low, body.low)
    assert np.allclose(env.observation_space.high, body.high)


def test_episodes_are_those_of_a_run():
    """The rewards of a brain that repeats one action are the same here and in a run with that seed."""
    given = SessionConfig(task="continual-v1", brain="blind_cycle", config={"segments": [[1, 2]]}, runs=1, seed=3)
    (run,) = run_plan(make_plan(given, workers=1)).runs
    env, names = ContinualEnv(), []
    rewards = {name: [] for name in ORDER}
    for episode in range(sum(len(rows) for rows in run.records.values())):
        env.reset(seed=run.seed if episode == 0 else None)
        total, ended = 0.0, False
        while not ended:
            _, reward, terminated, truncated, info = env.step(2)
            total, ended = total + reward, terminated or truncated
        names.append(info["environment"])
        rewards[info["environment"]].append(total)
    assert list(dict.fromkeys(names)) == list(ORDER)
    for name in ORDER:
        assert rewards[name] == run.records[name][:, 0].tolist()


def test_after_the_last_world_the_first_comes_again():
    env, met = ContinualEnv(), []
    for _ in range(sum(phase.episodes for phase in get_task("continual-v1").phases) + 1):
        env.reset()
        met.append(env.environment)
    assert met[-2:] == [ORDER[-1], ORDER[0]]


def test_one_environment_can_be_chosen_and_keeps_the_body():
    env = ContinualEnv(environment="gridworld")
    observation, _ = env.reset(seed=1)
    assert observation.shape == (28,)
    assert not observation[4:].any()
    for _ in range(40):
        env.reset()
        assert env.environment == "gridworld"
    with pytest.raises(UsageError, match="gridwold"):
        ContinualEnv(environment="gridwold")


def test_actions_outside_the_body_are_refused():
    env = ContinualEnv()
    env.reset(seed=1)
    for action in (10, -1, 0.5, [1, 2]):
        with pytest.raises(UsageError, match="is not in"):
            env.step(action)


@pytest.mark.parametrize("task", ALONE, ids=lambda task: task.id)
def test_a_task_alone_has_the_body_of_its_own_world_also_as_an_environment(task):
    env, body = NematodeEnv(task.id), interface(task)
    assert env.observation_space.shape == (body.inputs,) == (len(task.world.sensors),)
    assert env.action_space.n == body.choices == task.world.actions.n
    assert "body" not in task.spec()
