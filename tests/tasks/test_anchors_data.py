"""The anchors that are shipped: complete, with provenance, and found again on other seeds."""

import dataclasses
import json

import pytest

from nematodebench.calibration.anchors import CHECK_SEED, agrees, measure_blind, measure_null, measure_reference
from nematodebench.scoring import MIN_NULL_SEEDS, AnchorKind, ScoreAnchor
from nematodebench.tasks import anchoring, control, memory, nematode, plate
from nematodebench.tasks.anchoring import load_anchors
from nematodebench.tasks.registry import built_in_tasks, get_task
from nematodebench.tasks.specification import specification_hash

FAMILIES = (*nematode.TASKS, *control.TASKS, *memory.TASKS, *plate.TASKS)
SCORED = [task for task in FAMILIES if task.scoring.has_score]
every_task = pytest.mark.parametrize("task", SCORED, ids=lambda task: task.id)
# Found by independent implementations of the same tasks, with their standard errors where they gave them.
INDEPENDENT = {
    "wall-v1": (0.767, None), "pong-v1": (0.258, 0.0044), "tracking-v1": (-0.002, 0.003),
    "cartpole_swingup-v1": (0.084, 0.007), "forage-v1": (0.457, 0.002), "rhythm-v1": (0.055, None),
}  # fmt: skip
REACHED = {
    "wall-v1": 1.0, "tracking-v1": 0.99, "pong-v1": 1.0, "cartpole-v1": 1.0, "cartpole_hard-v1": 1.0,
    "cartpole_long-v1": 1.0, "cartpole_swingup-v1": 0.9, "rhythm-v1": 0.95,
}  # fmt: skip


def null_of(task):
    anchors = load_anchors(task)
    return anchors.null or anchors.floor


def test_every_task_with_a_score_has_a_file_and_every_file_a_task():
    files = anchoring.anchor_path("any").parent.glob("*.json")
    assert {path.stem for path in files} == {name for name, task in built_in_tasks().items() if task.scoring.has_score}


@every_task
def test_anchors_are_complete(task):
    anchors = load_anchors(task)
    null = null_of(task)
    assert null.kind is AnchorKind.NULL_MEASURED
    assert null.n >= MIN_NULL_SEEDS
    assert f"n={null.n}, se=" in null.provenance
    assert f"score_key={task.score_key}" in null.provenance
    assert "git " in null.provenance
    assert anchors.ceiling.value > anchors.floor.value
    assert anchors.reference.kind is AnchorKind.REFERENCE_MEASURED
    assert anchors.reference.value > anchors.floor.value
    assert anchors.blind.n >= MIN_NULL_SEEDS
    assert anchors.blind.policy


@every_task
def test_no_anchor_exceeds_its_analytic_ceiling(task):
    anchors = load_anchors(task)
    assert anchors.ceiling.kind is AnchorKind.ANALYTIC
    for found in (anchors.reference, anchors.blind, null_of(task)):
        assert found.value <= anchors.ceiling.value


@every_task
def test_the_floor_is_exact_only_where_the_task_says_so(task):
    anchors = load_anchors(task)
    exact = anchors.floor.kind is AnchorKind.ANALYTIC
    assert exact == (task.floor is not None) == (anchors.null is not None)


@pytest.mark.parametrize("name", INDEPENDENT)
def test_the_null_scores_what_independent_implementations_found(name):
    null = null_of(get_task(name))
    value, error = INDEPENDENT[name]
    error = error or null.se * (null.n / MIN_NULL_SEEDS) ** 0.5
    assert agrees(null, ScoreAnchor(value, AnchorKind.NULL_MEASURED, "independent", MIN_NULL_SEEDS, error))


@pytest.mark.parametrize("name", REACHED)
def test_references_reach_what_can_be_reached(name):
    assert load_anchors(get_task(name)).reference.value >= REACHED[name]


@pytest.mark.parametrize("name", ["wall-v1", "cartpole-v1", "cartpole_swingup-v1", "rhythm-v1", "predator_small-v1"])
def test_the_null_is_found_again_on_other_seeds(name):
    task = get_task(name)
    assert agrees(null_of(task), measure_null(task, 200, CHECK_SEED, workers=1))


@pytest.mark.parametrize("name", ["wall-v1", "cartpole_hard-v1", "cartpole_swingup-v1", "rhythm-v1"])
def test_references_and_blind_policies_are_found_again_on_other_seeds(name):
    task = get_task(name)
    anchors = load_anchors(task)
    assert agrees(anchors.reference, measure_reference(task, 50, CHECK_SEED, workers=1))
    assert agrees(anchors.blind, measure_blind(task, anchors.blind.segments, 50, CHECK_SEED, workers=1))


def test_anchors_of_another_specification_are_refused(tmp_path, monkeypatch):
    from nematodebench.errors import UsageError

    task = get_task("wall-v1")
    content = json.loads(anchoring.anchor_path(task.id).read_text())
    (tmp_path / "wall-v1.json").write_text(json.dumps({**content, "spec_hash": "0" * 64}))
    monkeypatch.setattr(anchoring, "anchor_path", lambda name: tmp_path / f"{name}.json")
    with pytest.raises(UsageError, match=r"edited.*calibrate wall-v1 --write"):
        load_anchors(task)
    content["spec"]["phases"][0]["side"] = 14.0
    changed = {**content, "spec_hash": specification_hash(content["spec"])}
    (tmp_path / "wall-v1.json").write_text(json.dumps(changed))
    with pytest.raises(UsageError, match=r"another specification: phases\[0\].side was 14.0 and is 15.0"):
        load_anchors(task)


def test_anchors_of_a_specification_with_fewer_keys_can_be_written_again(tmp_path, monkeypatch):
    task = get_task("wall-v1")
    content = json.loads(anchoring.anchor_path(task.id).read_text())
    for phase in content["spec"]["phases"]:
        phase.pop("heading_noise", None)
    content["spec_hash"] = specification_hash(content["spec"])
    (tmp_path / "wall-v1.json").write_text(json.dumps(content))
    monkeypatch.setattr(anchoring, "anchor_path", lambda name: tmp_path / f"{name}.json")
    anchoring.write_anchors(task, load_anchors(task))
    assert load_anchors(task).spec_hash == task.spec_hash


def test_what_is_written_is_read_again(tmp_path, monkeypatch):
    task = get_task("tracking-v1")
    anchors = load_anchors(task)
    monkeypatch.setattr(anchoring, "anchor_path", lambda name: tmp_path / f"{name}.json")
    anchoring.write_anchors(task, anchors)
    assert load_anchors(task) == dataclasses.replace(anchors, spec_hash=task.spec_hash)
