"""A brain gets new parameters and better defaults; what was stored before says what it always said."""

from types import SimpleNamespace
from typing import Any

import pytest

from nematodebench.brains.configs import earlier_values
from nematodebench.brains.registry import get_brain
from nematodebench.engine.run import resolve_config, resolve_stored
from nematodebench.sessions.config import SessionConfig
from nematodebench.sessions.plan import dump_config
from nematodebench.submissions.case import config_disagreement, full_config
from nematodebench.tasks.registry import get_task

TASK = "foraging_small-v1"
PPO = get_brain("mlp_ppo")
NEW = {"value_scaling", "max_divergence", "rollout_growth", "horizon_growth"}
TODAY = dump_config(resolve_config("mlp_ppo", PPO, {}))
OLD = {key: value for key, value in TODAY.items() if key not in NEW}


def disagreement(given: dict[str, Any], recorded: dict[str, Any]) -> str | None:
    record: Any = SimpleNamespace(brain="mlp_ppo", brain_config=recorded, task=TASK, task_spec=get_task(TASK).spec())
    return config_disagreement(SessionConfig(task=TASK, brain="mlp_ppo", config=given), record, PPO)


def test_a_stored_config_without_the_new_parameters_means_the_old_behaviour() -> None:
    stored = resolve_stored("mlp_ppo", PPO, OLD)
    assert {key: getattr(stored, key) for key in NEW} == dict.fromkeys(NEW, 0.0)
    assert full_config("mlp_ppo", PPO, TODAY) == TODAY


def test_a_config_of_today_without_them_means_the_defaults_of_today() -> None:
    given = resolve_config("mlp_ppo", PPO, OLD)
    assert all(getattr(given, key) == PPO.config.model_fields[key].default != 0.0 for key in NEW)


@pytest.mark.parametrize("recorded", [OLD, TODAY])
@pytest.mark.parametrize("given", [OLD, {}])
def test_a_config_file_without_them_describes_sessions_of_before_and_of_today(
    given: dict[str, Any], recorded: dict[str, Any]
) -> None:
    assert disagreement(given, recorded) is None


def test_a_config_file_that_says_something_else_is_found() -> None:
    assert disagreement({"value_scaling": 0.0}, TODAY) == "its parameters differ"
    assert disagreement({"value_scaling": 0.05}, OLD) == "its parameters differ"
    assert disagreement({}, {**TODAY, "value_scaling": 0.3}) == "its parameters differ"
    assert disagreement({}, {**OLD, "gamma": 0.5}) == "its parameters differ"


def test_the_default_of_before_is_understood_where_a_config_file_leaves_it_out() -> None:
    earlier = earlier_values(PPO)
    assert disagreement({}, {**OLD, **{key: value for key, value in earlier.items() if key not in NEW}}) is None
