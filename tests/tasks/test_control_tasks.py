"""Control and collective tasks: what they fix, how they are scored, their variants and aliases."""

import numpy as np
import pytest

import nematodebench as nb
from nematodebench.tasks.anchoring import load_anchors
from nematodebench.tasks.base import trained_id
from nematodebench.tasks.control import TASKS
from nematodebench.tasks.registry import get_task

# budget, ticks of an episode, ticks that count, score, exact floor
TABLE = {
    "wall-v1": (100_000, 2000, 1000, "nav_score", None),
    "tracking-v1": (72_000, 7200, 7200, "track_score", 0.0),
    "pong-v1": (200_000, 20_000, 20_000, "hit_rate", None),
    "cartpole-v1": (200_000, 1000, 1000, "balanced", 0.0),
    "cartpole_hard-v1": (200_000, 1500, 1500, "balanced", 0.0),
    "cartpole_long-v1": (200_000, 1000, 1000, "balanced", 0.0),
    "cartpole_swingup-v1": (300_000, 1500, 1500, "mean_uprightness", None),
    "rhythm-v1": (100_000, 1000, 500, "lock", None),
    "torus-v1": (20_000, 1000, 1000, "", None),
    "forage-v1": (20_000, 1000, 1000, "forage_score", None),
    "wall-v2": (100_000, 2000, 2000, "nav_score", None),
    "pong-v2": (200_000, 20_000, 20_000, "hit_rate", None),
    "cartpole-v2": (200_000, 1000, 1000, "balanced", None),
    "cartpole_hard-v2": (200_000, 1500, 1500, "balanced", None),
    "cartpole_long-v2": (200_000, 1000, 1000, "balanced", None),
    "cartpole_swingup-v2": (1_000_000, 1500, 1000, "upright_share", None),
    "forage-v2": (200_000, 1000, 1000, "forage_score", None),
}
every_task = pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)


def test_the_family_is_complete():
    assert [task.id for task in TASKS] == list(TABLE)


@every_task
def test_budget_horizon_window_and_score(task):
    train, scored = task.phases
    world = scored.world
    assert (train.ticks, world.ticks, world.window, task.score_key, task.floor) == TABLE[task.id]
    assert train.world == world
    assert (scored.episodes, task.scored, task.ceiling) == (5, "scored", 1.0)


@every_task
def test_a_gate_has_a_name_and_its_world_reports_it(task):
    assert bool(task.gate) == ("gate" in task.world.metrics) == ("ungated" in task.world.metrics)


def test_a_score_depends_on_its_exact_floor():
    from dataclasses import replace

    task = get_task("tracking-v1")
    assert replace(task, floor=None).spec_hash != task.spec_hash
    assert replace(task, ceiling=0.9).spec_hash != task.spec_hash


@pytest.mark.parametrize("name", ["pong_hitrate-v1", "pong_hitrate"])
def test_aliases(name):
    assert get_task(name).id == "pong-v1"


def test_a_name_without_a_version_is_the_latest():
    assert get_task("pong").id == "pong-v2"
    assert get_task("tracking").id == "tracking-v1"


@pytest.mark.parametrize("name", ["cartpole", "cartpole_hard", "cartpole_long"])
def test_a_second_cartpole_differs_in_its_floor_alone(name):
    first, second = get_task(f"{name}-v1"), get_task(f"{name}-v2")
    assert second.changes_since({**first.spec(), "id": second.id, "floor": None}) == []


def test_the_untrained_variant_is_the_scored_phase_alone():
    task = get_task("pong_untrained-v1")
    assert [phase.name for phase in task.phases] == ["scored"]
    assert task.id == "pong_untrained-v1"
    assert not task.official
    assert trained_id(task.id) == "pong-v1"
    assert trained_id("pong-v1") is None


def test_the_untrained_variant_has_the_anchors_of_its_task():
    assert load_anchors(get_task("pong_untrained-v1")) == load_anchors(get_task("pong-v1"))


def test_a_run_is_its_budget_then_five_episodes():
    session = nb.run("cartpole-v1", "null_random", runs=1, seed=3, workers=1)
    records = session.results[0].records
    assert records["train"][:, 1].sum() == 200_000
    assert len(records["scored"]) == 5


def test_score_gate_and_descriptors_are_means_over_the_scored_episodes():
    session = nb.run("wall_untrained-v1", "null_random", runs=2, seed=3, workers=1)
    table = session.episodes
    for run, view in enumerate(session.runs):
        mine = table.filter((table["run"] == run) & (table["phase"] == "scored"))
        for name in ("nav_score", "gate", "ungated", "collisions", "distance", "cells"):
            assert view.metrics[name] == pytest.approx(mine[name].mean())
    assert session.metrics.nav_score.mean == pytest.approx(np.mean([r.metrics["nav_score"] for r in session.runs]))


def test_a_descriptive_task_has_descriptors_and_neither_score_nor_anchors(tmp_path):
    session = nb.run("torus_untrained-v1", "null_random", runs=2, seed=3, workers=1)
    assert {"polarization", "milling", "nearest_neighbour"} <= set(session.metrics)
    assert load_anchors(get_task("torus-v1")) is None
    stored = session.metadata()
    assert (stored.score_key, stored.normalised, stored.level) == ("", None, None)
    assert session.save(tmp_path).is_dir()


def test_a_motionless_disc_scores_nothing_through_the_gate():
    session = nb.run("wall_untrained-v1", "motionless", runs=2, seed=3, workers=1)
    assert session.metrics.nav_score.mean == 0.0
    assert session.metrics.gate.mean == 0.0
    assert session.metrics.ungated.mean == 1.0


def test_a_small_blind_circle_falls_below_the_null():
    circle = {"segments": [[1, 0.3, 0.5]]}
    session = nb.run("wall_untrained-v1", "blind_cycle", runs=1, seed=3, config=circle, workers=1)
    assert session.metrics.ungated.mean == 1.0
    assert session.metrics.nav_score.mean < 0.5
