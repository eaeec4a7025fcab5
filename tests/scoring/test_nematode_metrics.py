"""The run and session metrics against the numbers of their definition."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from nematodebench import scoring

PUBLISHED = json.loads((Path(__file__).parents[1] / "data" / "published_sessions.json").read_text())["sessions"]
UNIT = st.floats(0.0, 1.0)


def flags(text):
    return np.array([int(c) for c in text])


def learned_after(failures, episodes):
    return np.arange(episodes) >= failures


def test_composite_golden_value():
    assert scoring.composite(0.92, 0.78, 0.85, 0.95) == pytest.approx(0.867, abs=1e-12)


@given(hnp.arrays(float, st.tuples(st.just(3), st.integers(1, 60)), elements=UNIT), UNIT)
def test_mean_of_composites_is_composite_of_means(parts, steady):
    composites = scoring.composite(*parts, steady)
    assert composites.mean() == pytest.approx(scoring.composite(*parts.mean(axis=1), steady), abs=1e-12)


def test_composite_refuses_values_outside_the_unit_interval():
    with pytest.raises(ValueError, match="distance_efficiency spans"):
        scoring.composite(0.5, 1.2, 0.5, 0.5)


def test_reaching_80_percent_at_episode_75_of_500_is_speed_085():
    successes = learned_after(59, 500)  # 16 of the 20 episodes 56 to 75 succeed
    assert scoring.episodes_to_80(successes) == 75
    assert scoring.learning_speed(successes) == pytest.approx(0.85)


def test_exactly_16_of_20_counts_as_80_percent():
    assert scoring.episodes_to_80(flags("0000" + "1" * 16)) == 20


def test_15_of_20_is_not_80_percent():
    assert scoring.episodes_to_80(flags("00000" + "1" * 15)) is None


def test_never_reaching_80_percent_is_speed_zero():
    assert scoring.learning_speed(np.zeros(500, dtype=bool)) == 0.0


def test_a_run_shorter_than_the_window_has_not_reached_80_percent():
    assert scoring.episodes_to_80(np.ones(19)) is None


def test_learning_speed_counts_against_the_given_maximum():
    assert scoring.learning_speed(np.ones(100), max_episodes=500) == pytest.approx(1 - 20 / 500)


def test_learning_speed_is_clamped_at_zero():
    assert scoring.learning_speed(learned_after(60, 100), max_episodes=50) == 0.0


@given(hnp.arrays(bool, st.integers(1, 120)), st.integers(1, 30))
def test_episodes_to_80_equals_the_plain_loop(successes, window):
    ends = range(window, len(successes) + 1)
    expected = next((k for k in ends if 5 * int(successes[k - window : k].sum()) >= 4 * window), None)
    assert scoring.episodes_to_80(successes, window) == expected


@pytest.mark.parametrize("session", PUBLISHED, ids=lambda s: s["id"])
def test_success_rate_equals_the_published_one(session):
    assert scoring.success_rate(flags(session["success"])) == pytest.approx(session["claimed"]["success_rate"])


@pytest.mark.parametrize("session", PUBLISHED, ids=lambda s: s["id"])
def test_learning_speed_with_window_10_equals_the_published_one(session):
    successes = flags(session["success"])
    assert scoring.episodes_to_80(successes, window=10) == session["claimed"]["learning_speed_episodes"]
    assert scoring.learning_speed(successes, window=10) == pytest.approx(session["claimed"]["learning_speed"])


@pytest.mark.parametrize(
    ("rates", "expected"),
    [([0.8, 1.0], 1 - np.sqrt(0.02) / 0.9), ([0.5] * 4, 1.0), ([0.0, 0.0], 0.0), ([0.9], 0.0), ([0, 0, 0, 1], 0.0)],
)
def test_stability(rates, expected):
    assert scoring.stability(rates) == pytest.approx(expected)


def test_distance_efficiency_per_episode():
    values = scoring.distance_efficiency([6, 6, 6, 0], [12, 4, 9, 0], [True, True, False, True])
    assert values.tolist() == [0.5, 1.0, 0.0, 1.0]


def test_distances_of_episodes_without_food_may_be_missing():
    assert scoring.distance_efficiency([np.nan], [np.nan], [False]).tolist() == [0.0]


def test_missing_distance_where_food_was_reached_is_refused():
    with pytest.raises(ValueError, match="optimal is negative or not finite"):
        scoring.distance_efficiency([np.nan], [3.0], [True])


def test_distance_efficiency_refuses_different_shapes():
    with pytest.raises(ValueError, match="pass equal ones"):
        scoring.distance_efficiency([1.0, 2.0], [3.0], [True])


def test_episode_success_needs_the_target_or_a_fed_survivor():
    foods, steps = [10, 9, 9, 0, 1], [40, 500, 400, 500, 500]
    alive = [True, True, False, True, False]
    assert scoring.episode_success(foods, 10, steps, 500, alive).tolist() == [True, True, False, False, False]


@pytest.mark.parametrize(
    ("score", "name"),
    [
        (0.9, "Exceptional"),
        (0.8999, "Excellent"),
        (0.8, "Excellent"),
        (0.7, "Good"),
        (0.6, "Acceptable"),
        (0.5999, "Below threshold"),
        (0, "Below threshold"),
    ],
)
def test_level_is_judged_unrounded(score, name):
    assert scoring.level(score) == name


@pytest.mark.parametrize(
    ("ci", "name"),
    [(-1, "None"), (0.39, "None"), (0.4, "Minimum"), (0.6, "Target"), (0.75, "Excellent"), (1, "Excellent")],
)
def test_biological_level(ci, name):
    assert scoring.biological_level(ci) == name


def test_chemotaxis_index_counts_all_worms():
    assert scoring.chemotaxis_index(30, 10, 50) == pytest.approx(0.4)


def test_chemotaxis_index_refuses_more_worms_than_there_are():
    with pytest.raises(ValueError, match="impossible"):
        scoring.chemotaxis_index(30, 30, 50)


@given(hnp.arrays(bool, st.tuples(st.integers(1, 6), st.integers(1, 90))), st.randoms(use_true_random=False))
def test_a_session_scores_each_run_as_if_alone(successes, random):
    efficiency = np.full(successes.shape, random.random())
    session = scoring.score_session(successes, efficiency)
    assert session.success_rate.tolist() == [scoring.success_rate(run) for run in successes]
    assert session.learning_speed.tolist() == [scoring.learning_speed(run) for run in successes]
    assert session.final_success_rate.tolist() == [scoring.final_success_rate(run) for run in successes]
    assert session.stability == scoring.stability(session.final_success_rate)


def test_the_composite_of_a_session_uses_its_shared_stability():
    successes = np.array([learned_after(0, 100), learned_after(50, 100)])
    session = scoring.score_session(successes, np.full(successes.shape, 0.5))
    expected = [
        0.4 * 1.0 + 0.15 + 0.2 * 0.8 + 0.1 * session.stability,
        0.4 * 0.5 + 0.15 + 0.2 * 0.34 + 0.1 * session.stability,
    ]
    assert session.composite == pytest.approx(expected)


def test_doing_nothing_scores_zero():
    successes = np.zeros((50, 500), dtype=bool)
    assert scoring.score_session(successes, np.zeros(successes.shape)).composite.max() == 0.0


@pytest.mark.parametrize("bad", [[], [0, 1, 2], [0.5], [np.nan], [[0, 1]], ["yes"], [[0, 1], [1]]])
@pytest.mark.parametrize(
    "function", [scoring.success_rate, scoring.learning_speed, scoring.convergence, scoring.final_success_rate]
)
def test_bad_success_flags_are_refused_by_name(function, bad):
    with pytest.raises(ValueError, match=r"^successes .*: .*pass|^successes .*: leave"):
        function(bad)


@pytest.mark.parametrize(("kwargs", "name"), [({"window": 0}, "window"), ({"max_episodes": 0}, "max_episodes")])
def test_bad_learning_speed_options_are_refused_by_name(kwargs, name):
    with pytest.raises(ValueError, match=f"^{name} is 0: pass"):
        scoring.learning_speed([1, 1, 1], **kwargs)
