"""Which tasks are ranked, and why not."""

from dataclasses import replace

import pytest

from nematodebench.scoring import AnchorKind, ScoreAnchor
from nematodebench.tasks import ranked
from nematodebench.tasks.anchoring import BlindPolicy, TaskAnchors
from nematodebench.tasks.ranked import lines_of, newer_version, why_unranked
from nematodebench.tasks.registry import get_task

TASK = get_task("foraging_small-v1")


def anchors(null=0.2, blind=0.3, reference=0.95, floor=None):
    measured = ScoreAnchor(null, AnchorKind.NULL_MEASURED, "null", 1000, 0.001)
    exact = ScoreAnchor(0.2 if floor is None else floor, AnchorKind.ANALYTIC, "exact")
    return TaskAnchors(
        TASK.id, TASK.spec_hash, TASK.score_key, measured if floor is None else exact,
        ScoreAnchor(1.0, AnchorKind.ANALYTIC, "exact"), None if floor is None else measured,
        ScoreAnchor(reference, AnchorKind.REFERENCE_MEASURED, "reference", 200, 0.001),
        BlindPolicy(blind, 0.001, 200, "cycle", ((1.0, 0.0),), "blind"),
    )  # fmt: skip


@pytest.fixture
def stored(monkeypatch):
    """Puts anchors in the place of the task's own, and no other version beside it."""

    def put(found, newer=None):
        monkeypatch.setattr(ranked, "load_anchors", lambda task: found)
        monkeypatch.setattr(ranked, "newer_version", lambda task: newer)

    return put


def test_a_task_that_meets_all_conditions_is_ranked(stored):
    stored(anchors())
    assert why_unranked(TASK, 0.5) == []


def test_every_condition_that_is_missed_is_a_reason(stored):
    stored(anchors(null=0.25, blind=0.6, reference=0.8, floor=0.2))
    assert why_unranked(TASK, 0.0) == [
        "the null policy gets 0.062 instead of 0",
        "the best blind policy gets 0.500, more than 0.25",
        "the reference gets 0.750, less than 0.9",
        "it tells no two published learners apart",
    ]


def test_what_was_not_measured_is_a_reason(stored):
    stored(replace(anchors(floor=0.2), null=None, blind=None, reference=None))
    assert len(why_unranked(TASK, 1.0)) == 3
    stored(None)
    assert why_unranked(TASK, 1.0) == ["it was never calibrated"]


def test_fewer_than_two_published_learners_are_a_reason(stored):
    stored(anchors())
    (reason,) = why_unranked(TASK, None)
    assert "fewer than two learners" in reason


def test_an_old_version_is_not_ranked(stored):
    stored(anchors(), newer=replace(TASK, id="foraging_small-v7"))
    assert why_unranked(TASK, 1.0) == ["foraging_small-v7 has taken its place"]


def test_the_newest_version_is_found_and_other_tasks_are_not_versions():
    others = [replace(TASK, id=name) for name in ("foraging_small-v9", "foraging_small-v3", "foraging_small_x-v12")]
    assert newer_version(TASK, [TASK, *others]).id == "foraging_small-v9"
    assert newer_version(others[0], [TASK, *others]) is None


def test_lines_are_normalised_and_a_measured_floor_is_the_null():
    lines = lines_of(anchors())
    assert (lines.null, lines.blind, lines.motionless) == (0.0, pytest.approx(0.125), None)
    assert lines_of(anchors(null=0.24, floor=0.2)).null == pytest.approx(0.05)


def test_pong_v1_and_wall_v1_are_not_ranked_because_a_blind_policy_does_well():
    for name in ("pong-v1", "wall-v1"):
        assert any("blind policy gets" in reason for reason in why_unranked(get_task(name), 1.0))
