"""The verdicts on the page of findings follow from the numbers."""

import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def scripts():
    """The scripts, by name; they find each other as they do when they are executed."""
    sys.path.insert(0, str(ROOT / "scripts"))
    yield {name: runpy.run_path(str(ROOT / "scripts" / f"findings_{name}.py")) for name in ("memory", "continual")}
    sys.path.remove(str(ROOT / "scripts"))


def one(score, low):
    return {"normalised": f"{score:.3f} ± 0.010", "low": low}


def test_memory_helps_where_nobody_without_it_is_above_chance(scripts):
    memory = scripts["memory"]
    nothing = {task: {} for task in memory["TASKS"]}
    bits = {"bit_memory_4-v1": {"mlp_ppo": one(0.0, -0.02), "gru_ppo": one(0.99, 0.98)}}
    first, second = memory["verdict"]({**nothing, **bits})
    assert first.startswith("Yes, where it is needed: of the 1 tasks")
    assert "without memory, none; with memory, `gru_ppo` (`gru_ppo` at 0.9 or more)" in second
    bits["bit_memory_4-v1"]["mlp_ppo"] = one(0.2, 0.1)
    assert memory["verdict"]({**nothing, **bits})[0].startswith("Not as expected")


def test_who_learned_nothing_does_not_win_by_forgetting_nothing(scripts):
    made = {
        "idle": {"learned": 0.01, "forgetting": [0.0, -0.01, 0.01]},
        "steady": {"learned": 0.4, "forgetting": [0.1, 0.08, 0.12]},
        "leaky": {"learned": 0.6, "forgetting": [0.4, 0.35, 0.45]},
    }
    best, worst, idle = scripts["continual"]["verdict"](made)
    assert "`steady` forgets least: 0.100 ± 0.020, and its interval lies below all others" in best
    assert worst.startswith("`leaky`") and "`idle`" in idle
