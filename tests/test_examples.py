"""The examples work as they are: each gets a session and a normalised score, and its bits whatever executes it."""

import importlib.util
import re
from pathlib import Path

import pytest

import nematodebench as nb
from nematodebench.engine.run import execute
from nematodebench.sessions.config import SessionConfig
from nematodebench.sessions.execution import run_plan
from nematodebench.sessions.plan import make_plan
from nematodebench.sessions.recording import normalised_record

EXAMPLES = Path(__file__).parents[1] / "examples"
PAGE = (EXAMPLES.parent / "docs" / "own_brain.md").read_text(encoding="utf-8")
TASK = "association-v2"
PLAIN = ["plain_brain.py:Table", "random_features.py:RandomFeatures", "sarsa_lambda.py:SarsaLambda"]
PLAIN += ["linear_actor.py:LinearActor"]
TORCH = ["torch_class.py:TorchClass"]
SB3 = ["sb3_brain.py:SmallPPO"]
POPULATIONS = ["torch_policy.py:Reinforce", "torch_policy.py:Ppo"]
needs_sb3 = pytest.mark.skipif(importlib.util.find_spec("stable_baselines3") is None, reason="it is not installed")
needs_torch = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
BRAINS = [
    *PLAIN,
    *(pytest.param(name, marks=needs_torch) for name in TORCH),
    *(pytest.param(name, marks=needs_sb3) for name in SB3),
    *(pytest.param(name, marks=[needs_torch, pytest.mark.slow]) for name in POPULATIONS),  # their trial takes long
]


def plan(brain, **how):
    given = SessionConfig(task=TASK, brain=f"{EXAMPLES}/{brain}", runs=3, episodes=2, seed=8)
    return make_plan(given, **how)


def bits(runs):
    return [(run.index, run.record_hash, run.memory_hash) for run in runs]


@pytest.mark.parametrize("brain", BRAINS)
def test_a_session_of_an_example_has_a_normalised_score_above_chance(brain):
    session = nb.run(TASK, f"{EXAMPLES}/{brain}", runs=3, seed=2, workers=1)
    assert session.failed_runs == []
    record = normalised_record(session.plan.task, session.measurement)
    assert 0.0 < record.score < 1.0


@pytest.mark.parametrize("brain", BRAINS)
def test_an_example_has_the_same_bits_alone_and_among_others(brain):
    alone = bits(map(execute, plan(brain, workers=1).specs()))
    assert len({memory for _, _, memory in alone}) == 3
    assert bits(run_plan(plan(brain, workers=1, executor="threads")).runs) == alone


@pytest.mark.slow
@pytest.mark.parametrize("brain", BRAINS)
def test_an_example_has_the_same_bits_in_processes(brain):
    alone = bits(map(execute, plan(brain, workers=1).specs()))
    assert bits(run_plan(plan(brain, workers=2, executor="processes")).runs) == alone


def test_the_page_names_every_example_and_shows_the_short_ones_as_they_are():
    assert {name.partition(":")[0] for name in (*PLAIN, *TORCH, *SB3, *POPULATIONS)} <= set(
        re.findall(r"examples/(\w+\.py)", PAGE)
    )
    shown = dict(re.findall(r"<!-- file: (\w+\.py) -->\n```python\n(.*?)```", PAGE, re.S))
    assert set(shown) == {"plain_brain.py", "sb3_brain.py", "torch_policy.py"}
    for name, content in shown.items():
        assert content == (EXAMPLES / name).read_text(encoding="utf-8")
