"""How anchors are measured: null, references with full state, the search for blind policies, the check."""

import dataclasses
import json

import numpy as np
import pytest
from typer.testing import CliRunner

from nematodebench.brains.scripted.blind_cycle import BlindCycle, BlindCycleConfig
from nematodebench.calibration import anchors as calibration
from nematodebench.calibration import blind
from nematodebench.calibration.proposals import merged
from nematodebench.calibration.reference import reference_runs
from nematodebench.cli import build
from nematodebench.engine.run import interface
from nematodebench.errors import UsageError
from nematodebench.scoring import AnchorKind, ScoreAnchor
from nematodebench.tasks import anchoring
from nematodebench.tasks.registry import get_task

CARTPOLE = get_task("cartpole-v1")


@pytest.fixture
def anchors_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(anchoring, "anchor_path", lambda name: tmp_path / f"{name}.json")
    return tmp_path


def command(*arguments):
    done = CliRunner().invoke(build(), ["calibrate", *arguments, "--workers", "1", "--json"])
    return done.exit_code, json.loads(done.stdout)


def test_the_null_needs_no_training():
    trained, untrained = (calibration.measure_null(CARTPOLE, 200, seed, workers=1) for seed in (0, 1))
    assert calibration.agrees(trained, untrained)
    assert trained.n == 200
    assert trained.provenance.startswith("null=null_random, score_key=balanced, session seed 0, runs 0:199, n=200")


def test_an_exact_floor_keeps_the_measured_null_beside_it():
    anchors = calibration.calibrate_task(CARTPOLE, 200, workers=1)
    assert (anchors.floor.kind, anchors.floor.value, anchors.floor.se) == (AnchorKind.ANALYTIC, 0.0, 0.0)
    assert anchors.null.value > 0.01


def test_a_descriptive_task_has_no_anchors():
    assert calibration.calibrate_task(get_task("torus-v1"), 200, workers=1) is None


def test_without_an_analytic_ceiling_the_reference_is_measured():
    anchors = calibration.calibrate_task(dataclasses.replace(CARTPOLE, ceiling=None), 200, workers=1)
    assert anchors.ceiling.kind is AnchorKind.REFERENCE_MEASURED
    assert anchors.ceiling.n == calibration.REFERENCE_RUNS
    assert anchors.reference == anchors.ceiling


def test_references_run_the_same_on_any_number_of_workers():
    seeds = [1, 2, 3, 4]
    one, two = (reference_runs(CARTPOLE.untrained(), seeds, workers) for workers in (1, 3))
    assert all(np.array_equal(a["scored"], b["scored"]) for a, b in zip(one, two, strict=True))
    assert one[0]["scored"][:, CARTPOLE.scored_phase.columns.index("balanced")] == pytest.approx(1.0)


def test_a_world_without_reference_says_so():
    with pytest.raises(UsageError, match="no reference controller"):
        reference_runs(get_task("torus-v1").untrained(), [1], 1)


def test_measurements_agree_within_four_standard_errors():
    def anchor(value, se):
        return ScoreAnchor(value, AnchorKind.NULL_MEASURED, "test", 200, se)

    assert calibration.agrees(anchor(0.5, 0.03), anchor(0.699, 0.04))
    assert not calibration.agrees(anchor(0.5, 0.03), anchor(0.701, 0.04))
    assert calibration.agrees(anchor(1.0, 0.0), anchor(1.0, 0.0))


def test_a_blind_cycle_plays_its_segments_and_begins_anew():
    config = BlindCycleConfig(segments=((2, 0.25, 1), (1, 0.5)))
    layout = BlindCycle.layout(config, interface(CARTPOLE))
    action, words = np.zeros((1, 2), np.float32), np.zeros(11, np.uint64)
    played = []
    arguments = (layout.hyper, layout.ints, np.zeros(1, np.float32), words, np.zeros((1, 8), np.float32), action)
    for _ in range(2):
        BlindCycle.begin_episode(*arguments, np.zeros(3))
        for _ in range(4):
            BlindCycle.act(*arguments, np.zeros(3))
            played.append(action[0].tolist())
    assert played == [[0.25, 1.0], [0.25, 1.0], [0.5, 0.0], [0.25, 1.0]] * 2


@pytest.mark.parametrize(
    ("segment", "message"),
    [
        ((0.5, 1), "whole number"),
        ((0, 1), "whole number"),
        ((1, 1.5), r"outside of \[0, 1\]"),
        ((1, 0, 0, 0), "4 numbers"),
    ],
)
def test_a_blind_cycle_refuses_what_is_no_action(segment, message):
    with pytest.raises(ValueError, match=message):
        BlindCycle.layout(BlindCycleConfig(segments=(segment,)), interface(CARTPOLE))


def test_a_blind_cycle_of_choices_refuses_what_is_no_choice():
    with pytest.raises(ValueError, match="none of the actions 0 to 3"):
        BlindCycle.layout(BlindCycleConfig(segments=((1, 4),)), interface(get_task("foraging_small-v1")))


@pytest.fixture
def short_search(monkeypatch):
    monkeypatch.setattr(blind, "_EPISODES", (1200, 1200))


def test_the_search_finds_a_blind_policy_better_than_chance_and_always_the_same(short_search):
    task = get_task("wall-v1")
    result = blind.search(task, seed=2, workers=1)
    assert result == blind.search(task, seed=2, workers=2)
    found = result.cycle
    null = calibration.measure_null(task, 200, 0, workers=1)
    policy = calibration.measure_blind(task, found, 50, 0, workers=1)
    assert policy.value > null.value + 4 * np.hypot(null.se, policy.se)
    assert policy.segments == found


def test_the_search_knows_choices(short_search):
    task = get_task("foraging_small-v1")
    found = blind.search(task, seed=2, workers=1, budget=20_000).cycle
    assert any(name in blind.describe(task, found) for name in task.world.actions.names)


def test_of_equally_good_policies_the_simplest_is_taken():
    constant, cycle = ((1.0, 0.5),), ((3.0, 0.1), (2.0, 0.2))
    noise = np.array([-0.1, 0.0, 0.1, 0.0])
    assert blind._simplest([cycle, constant], np.stack([0.52 + noise, 0.5 + noise])) == constant
    assert blind._simplest([cycle, constant], np.stack([0.9 + noise, 0.5 + noise])) == cycle


def test_neighbours_of_the_same_action_are_one_segment():
    assert merged(((2.0, 1.0), (3.0, 1.0), (1.0, 0.0))) == ((5.0, 1.0), (1.0, 0.0))
    assert merged(((2.0, 1.0), (3.0, 1.0))) == ((1.0, 1.0),)


def test_write_then_check_on_other_seeds(anchors_folder):
    code, _ = command("cartpole-v1", "torus-v1", "--runs", "200", "--write", "--reference")
    assert code == 0
    assert sorted(path.stem for path in anchors_folder.iterdir()) == ["cartpole-v1"]
    code, rows = command("cartpole-v1", "torus-v1", "--runs", "200", "--check", "--reference")
    assert code == 0
    assert [(row["what"], row["verdict"]) for row in rows] == [
        ("null", "agrees"), ("reference", "agrees"), ("floor", "no score"),
    ]  # fmt: skip


def test_a_wrong_anchor_fails_the_check(anchors_folder):
    command("cartpole-v1", "--runs", "200", "--write")
    path = anchors_folder / "cartpole-v1.json"
    content = json.loads(path.read_text())
    content["null"]["value"] += 0.02
    path.write_text(json.dumps(content))
    code, rows = command("cartpole-v1", "--runs", "200", "--check")
    assert (code, rows[0]["verdict"]) == (1, "OFF")


def test_a_missing_anchor_fails_the_check(anchors_folder):
    code, rows = command("cartpole-v1", "--runs", "200", "--check")
    assert (code, rows[0]["verdict"]) == (1, "MISSING")


def test_writing_the_floor_anew_keeps_reference_and_blind_policy(anchors_folder, short_search):
    command("cartpole-v1", "--runs", "200", "--write", "--reference", "--blind")
    before = json.loads((anchors_folder / "cartpole-v1.json").read_text())
    assert before["blind"]["budget"].startswith("search with seed 2: ")
    command("cartpole-v1", "--runs", "220", "--write")
    after = json.loads((anchors_folder / "cartpole-v1.json").read_text())
    assert after["null"]["n"] == 220
    assert (after["reference"], after["blind"]) == (before["reference"], before["blind"])


def test_doing_nothing_is_added_beside_anchors_that_stay_as_they_are(anchors_folder):
    command("cartpole-v1", "--runs", "200", "--write")
    before = anchoring.load_anchors(CARTPOLE)
    code, (row,) = command("cartpole-v1", "--motionless", "--write")
    after = anchoring.load_anchors(CARTPOLE)
    assert code == 0
    assert before.motionless is None
    assert after.motionless.policy == "motionless"
    assert f"{after.motionless.value:.4f}" in row["motionless"]
    assert dataclasses.replace(after, motionless=None) == before
