"""The page of peers says what was measured, and names what was not."""

import importlib.util
from pathlib import Path

_PATH = Path(__file__).parents[2] / "perf" / "_peer_page.py"
_spec = importlib.util.spec_from_file_location("peer_page", _PATH)
peers = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(peers)

WANTED = {("cartpole-v2", "PPO"): 2, ("pong-v2", "PPO"): 5}


def rows(learner, *scores, task="cartpole-v2", ticks="0"):
    return [
        {"task": task, "algorithm": "PPO", "learner": learner, "seed": str(seed), "ticks": ticks, "score": str(score),
         "best_actions": "" if learner == "ours" else "1.0", "seconds": "2.0"}
        for seed, score in enumerate(scores)
    ]  # fmt: skip


def test_a_difference_has_an_interval_and_a_verdict():
    text = peers.page(rows("ours", 0.97, 0.98, 0.99) + rows("stable-baselines3", 0.10, 0.11, 0.12), WANTED)
    assert "| cartpole-v2 | PPO | mlp_ppo | 0.980 ± 0.025 (3) | 0.110 ± 0.025 (3) |" in text
    assert "ours better" in text


def test_what_is_missing_is_named():
    text = peers.page(rows("ours", 0.98, 1.0) + rows("stable-baselines3", 0.10), WANTED)
    assert "Not measured yet: PPO on cartpole-v2 (1 of 2 seeds), PPO on pong-v2 (5 of 5 seeds)." in text
    assert "too few seeds" in text


def test_trials_with_another_budget_are_left_out():
    both = rows("ours", 0.98, 1.0, ticks="100") + rows("stable-baselines3", 0.10, 0.12, ticks="100")
    text = peers.page(both, WANTED)
    assert "| cartpole-v2 |" not in text
    assert "PPO on cartpole-v2 (2 of 2 seeds)" in text


def test_a_whole_page_names_nothing_as_missing():
    text = peers.page(rows("ours", 0.98, 1.0) + rows("stable-baselines3", 0.1, 0.2), {("cartpole-v2", "PPO"): 2})
    assert "Not measured yet" not in text
