"""Normalised scores, their errors, and what is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nematodebench import scoring
from nematodebench.scoring import AnchorKind, ScoreAnchor

FLOOR = ScoreAnchor(0.26, AnchorKind.NULL_MEASURED, "null=null_random, n=200", n=200, se=0.01)
TOP = ScoreAnchor(1.0, AnchorKind.ANALYTIC, "every ball")
REFERENCE = ScoreAnchor(0.9, AnchorKind.REFERENCE_MEASURED, "scripted, n=50", n=50, se=0.02)


@pytest.mark.parametrize(("raw", "expected"), [(0.2, 0.0), (0.6, 0.5), (1.0, 1.0), (0.1, 0.0), (1.3, 1.0)])
def test_normalised_is_the_clamped_share_of_the_gap(raw, expected):
    assert scoring.normalised(raw, 0.2, 1.0) == pytest.approx(expected)


def test_runs_are_averaged_before_clamping():
    assert scoring.normalised([-0.4, 0.8], 0.2, 1.0) == 0.0


def test_normalised_takes_anchors():
    assert scoring.normalised(0.63, FLOOR, TOP) == pytest.approx(0.5)


@given(st.lists(st.floats(-5, 5), min_size=2, max_size=30))
def test_estimate_is_the_unclamped_value_clamped(raw):
    score = scoring.anchored_score(raw, FLOOR, TOP)
    assert score.estimate == min(1.0, max(0.0, score.unclamped)) == scoring.normalised(raw, FLOOR, TOP)


@pytest.mark.parametrize("ceiling", [0.26, 0.1])
def test_a_ceiling_not_above_the_floor_is_refused(ceiling):
    with pytest.raises(ValueError, match="does not exceed floor"):
        scoring.anchored_score([0.5, 0.6], FLOOR, ScoreAnchor(ceiling, AnchorKind.ANALYTIC, "a bound"))


def test_error_of_the_score_carries_the_anchors_errors():
    raw = np.array([0.5, 0.6, 0.7, 0.8])
    score = scoring.anchored_score(raw, FLOOR, REFERENCE)
    s = (0.65 - 0.26) / 0.64
    variance = raw.var(ddof=1) / 4 + (1 - s) ** 2 * 0.01**2 + s**2 * 0.02**2
    assert score.se == pytest.approx(np.sqrt(variance) / 0.64)


@pytest.mark.slow
def test_interval_with_measured_anchors_covers_the_true_score():
    rng = np.random.default_rng(7)
    hits = 0
    for _ in range(4000):
        floor = ScoreAnchor(rng.normal(0.26, 0.01), AnchorKind.NULL_MEASURED, "simulated", n=200, se=0.01)
        top = ScoreAnchor(rng.normal(0.9, 0.02), AnchorKind.REFERENCE_MEASURED, "simulated", n=50, se=0.02)
        low, high = scoring.anchored_score(rng.normal(0.58, 0.1, 50), floor, top).ci95
        hits += low <= 0.5 <= high
    assert 0.93 <= hits / 4000 <= 0.97


def test_a_single_run_has_no_error_rather_than_none():
    assert np.isnan(scoring.anchored_score([0.5], FLOOR, TOP).se)


def test_rounding_errors_of_a_constant_are_no_error_of_the_score():
    floor = ScoreAnchor(0.0, AnchorKind.ANALYTIC, "a bound")
    assert scoring.anchored_score([0.3, 0.1 + 0.2] * 30, floor, TOP).se == 0.0


def test_the_null_averages_to_zero():
    runs = np.random.default_rng(0).normal(FLOOR.value, 0.2, 2000)
    score = scoring.anchored_score(runs, FLOOR, TOP)
    assert abs(score.unclamped) < 4 * score.se


def test_averaging_across_ceiling_kinds_is_refused():
    scores = [scoring.anchored_score([0.5, 0.6], FLOOR, ceiling) for ceiling in (TOP, REFERENCE)]
    with pytest.raises(ValueError, match="mix the ceiling kinds ANALYTIC and REFERENCE_MEASURED"):
        scoring.mean_score(scores)


def test_mean_score_clamps_last():
    scores = [scoring.anchored_score(raw, FLOOR, TOP) for raw in ([-0.11, -0.11], [0.63, 0.63])]
    assert scoring.mean_score(scores) == pytest.approx(0.0)


def test_scores_are_grouped_by_ceiling_kind():
    scores = {
        name: scoring.anchored_score([0.5, 0.6], FLOOR, c) for name, c in [("r", REFERENCE), ("a", TOP), ("b", TOP)]
    }
    groups = scoring.group_by_ceiling(scores)
    assert {kind: list(group) for kind, group in groups.items()} == {
        AnchorKind.ANALYTIC: ["a", "b"],
        AnchorKind.REFERENCE_MEASURED: ["r"],
    }


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.nan, AnchorKind.ANALYTIC, "x"), "value contains NaN"),
        ((0.1, AnchorKind.ANALYTIC, " "), "provenance is empty"),
        ((0.1, AnchorKind.ANALYTIC, "x", 200, 0.1), "leave them out of an ANALYTIC one"),
        ((0.1, AnchorKind.NULL_MEASURED, "x"), "n is None"),
        ((0.1, AnchorKind.NULL_MEASURED, "x", 200, -1.0), "se is -1"),
    ],
)
def test_an_anchor_without_its_evidence_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        ScoreAnchor(*arguments)


@pytest.mark.parametrize(
    ("floor", "ceiling", "message"),
    [
        (ScoreAnchor(0.2, AnchorKind.NULL_MEASURED, "x", 8, 0.09), TOP, "on 8 seeds"),
        (REFERENCE, TOP, "floor is REFERENCE_MEASURED"),
        (FLOOR, ScoreAnchor(0.5, AnchorKind.NULL_MEASURED, "x", 200, 0.01), "ceiling is NULL_MEASURED"),
        (TOP, TOP, "does not exceed floor"),
    ],
)
def test_anchors_no_published_score_may_rest_on_are_refused(floor, ceiling, message):
    with pytest.raises(ValueError, match=message):
        scoring.check_anchors(floor, ceiling)


def test_good_anchors_pass():
    scoring.check_anchors(FLOOR, REFERENCE)


def test_the_gate_multiplies_and_both_parts_stay_visible():
    gated = scoring.GatedScore("movement", 0.0, 1.0)
    assert (gated.score, gated.ungated, gated.gate_name) == (0.0, 1.0, "movement")
