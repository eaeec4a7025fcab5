"""The continual scores against the worked example, computed exactly."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nematodebench import scoring
from nematodebench.scoring import EnvironmentTerms

REWARDS = st.lists(st.floats(-50, 50), min_size=2, max_size=30)


def navigation_rewards():
    """20 rewards: worst -5, best 45, mean 25, sample deviation 12, 14 of them at least 20."""
    values = np.concatenate([[-5.0, 45.0], np.full(13, 1.0), np.full(5, -2.6)])
    # Stretch the 18 inner values to the wanted mean and deviation; the two extremes stay.
    inner = values[2:] - values[2:].mean()
    squares = 19 * 144.0 - (-30.0) ** 2 - 20.0**2
    centre = (20 * 25.0 - 40.0) / 18
    squares -= 18 * (centre - 25.0) ** 2
    values[2:] = centre + inner * np.sqrt(squares / (inner**2).sum())
    return values


def terms(success, reward, stability):
    return EnvironmentTerms(success, 0.0, reward, stability)


GOLDEN = {
    "navigation": EnvironmentTerms(0.70, 25.0, 30 / 50.01, 1 - 12 / 26),
    "pattern_memory": terms(0.55, 0.45, 0.60),
    "prediction": terms(0.80, 0.70, 0.75),
    "association": terms(0.60, 0.50, 0.65),
}


def test_navigation_of_the_example_from_its_rewards():
    assert scoring.environment_score(navigation_rewards(), 20.0) == pytest.approx(0.6507, abs=5e-5)


@pytest.mark.parametrize(
    ("environment", "expected"),
    [("navigation", 0.6507), ("pattern_memory", 0.5325), ("prediction", 0.7675), ("association", 0.5825)],
)
def test_environment_scores_of_the_example(environment, expected):
    assert round(GOLDEN[environment].score(), 4) == expected


def test_weighted_score_of_the_example():
    scores = {name: environment.score() for name, environment in GOLDEN.items()}
    assert round(scoring.weighted_score(scores, scoring.ENVIRONMENT_WEIGHTS), 4) == 0.6401


def test_adjusted_score_of_the_example():
    reward, learning = scoring.reward_term(2.5), scoring.learning_term(0.01)
    assert scoring.adjusted_score(reward, 0.66, 0.60, learning, 0.70) == pytest.approx(0.63175, abs=1e-12)


def test_primary_score_of_the_example():
    weighted = scoring.weighted_score([e.score() for e in GOLDEN.values()], [0.35, 0.25, 0.25, 0.15])
    assert round(scoring.primary_score(weighted, 0.63175), 4) == 0.6359


def test_threshold_of_the_navigation_example():
    assert scoring.success_threshold(-2.0, 60.0, scoring.THRESHOLD_SHARES["navigation"]) == pytest.approx(16.6)


def test_an_episode_at_the_threshold_is_a_success():
    assert scoring.environment_terms([1.0, 2.0], 2.0).success_rate == 0.5


def test_weights_of_all_six_environments_add_up_to_120_percent_and_are_normalised():
    assert sum(scoring.ENVIRONMENT_WEIGHTS.values()) == pytest.approx(1.2)
    assert scoring.weighted_score(dict.fromkeys(scoring.ENVIRONMENT_WEIGHTS, 0.5), scoring.ENVIRONMENT_WEIGHTS) == 0.5


def test_a_constant_reward_cannot_reach_1_under_nenv_v2():
    assert scoring.environment_score([50.0] * 20, 1.0) == pytest.approx(0.75)


def test_adjusted_terms_are_clamped():
    assert scoring.adjusted_score(7.0, 1.0, 1.0, 3.0, 9.0) == pytest.approx(1.0)


def test_a_missing_energy_term_leaves_its_weight_to_the_others():
    without = scoring.adjusted_score(0.625, 0.66, 0.60, 0.55)
    assert without == pytest.approx((0.63175 - 0.07) / 0.9)


def test_calibrated_environment_score():
    rewards = [0.0, 2.0, 4.0, 6.0]  # mean 3, half of the gap 0 to 6; learning speed 4/6 saturates its term
    steady = 1 - np.std(rewards, ddof=1) / 4
    expected = 0.5 * 0.5 + 0.3 * 0.5 + 0.1 * steady + 0.1 * 1.0
    assert scoring.environment_score(rewards, 4.0, "calibrated", 0.0, 6.0) == pytest.approx(expected)


def test_calibrated_primary_weights_the_environments_more():
    assert scoring.primary_score(0.8, 0.4, "calibrated") == pytest.approx(0.66)


def test_calibrated_without_anchors_is_refused():
    with pytest.raises(ValueError, match="floor and ceiling are missing"):
        scoring.environment_score([1.0, 2.0], 1.0, "calibrated")


def test_an_unknown_profile_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match="'nenv-v2' or 'calibrated'"):
        scoring.primary_score(0.5, 0.5, "nenv")


def test_learning_speed_is_the_gain_from_the_first_to_the_second_half():
    assert scoring.reward_learning_speed([0, 0, 3, 3], floor=-2.0, ceiling=28.0) == pytest.approx(0.1)


def test_no_learning_is_half_of_the_learning_term():
    assert scoring.learning_term(0.0) == pytest.approx(0.5)


@pytest.mark.parametrize(("spent", "expected"), [(50.0, 0.8), (100.0, 0.4), (10.0, 1.0), (0.0, 1.0)])
def test_energy_efficiency_is_reward_per_share_of_the_budget(spent, expected):
    assert scoring.energy_efficiency(0.4, spent, 100.0) == pytest.approx(expected)


def test_no_reward_at_no_expense_is_not_efficient():
    assert scoring.energy_efficiency(0.0, 0.0, 100.0) == 0.0


def test_066_where_chance_gets_064_reads_as_006():
    assert round(scoring.anchored_primary(0.66, 0.64), 2) == 0.06


def test_worse_than_chance_is_negative():
    assert scoring.anchored_primary(0.5, 0.64) < 0


@given(REWARDS, st.floats(-50, 50))
def test_environment_scores_stay_in_the_unit_interval(rewards, threshold):
    found = scoring.environment_terms(rewards, threshold, floor=-10.0, ceiling=10.0)
    assert all(0.0 <= found.score(profile) <= 1.0 + 1e-12 for profile in scoring.PROFILES)


@pytest.mark.parametrize("profile", ["nenv-v2", "calibrated"])
def test_a_continual_score_is_built_from_its_parts(profile):
    rng = np.random.default_rng(3)
    found = {
        name: scoring.environment_terms(rng.normal(2, 1, 20), 2.0, 0.0, 5.0) for name in ("navigation", "gridworld")
    }
    score = scoring.continual_score(found, profile, null_primary=0.3)
    nav, grid = found.values()

    def mean(attribute):
        return (0.35 * getattr(nav, attribute) + 0.10 * getattr(grid, attribute)) / 0.45

    reward = mean("anchored_reward") if profile == "calibrated" else scoring.reward_term(mean("mean_reward"))
    learning = scoring.learning_term(mean("learning_speed"))
    adjusted = scoring.adjusted_score(reward, mean("success_rate"), mean("stability"), learning)
    assert score.adjusted == pytest.approx(adjusted)
    assert score.weighted == pytest.approx((0.35 * nav.score(profile) + 0.10 * grid.score(profile)) / 0.45)
    assert score.primary == scoring.primary_score(score.weighted, score.adjusted, profile)
    assert score.anchored == scoring.anchored_primary(score.primary, 0.3)


def test_the_order_of_environments_does_not_fake_learning():
    low = scoring.environment_terms([0.0, 0.0, 0.0, 0.0], 1.0, 0.0, 5.0)
    high = scoring.environment_terms([4.0, 4.0, 4.0, 4.0], 1.0, 0.0, 5.0)
    first = scoring.continual_score({"navigation": low, "gridworld": high})
    second = scoring.continual_score({"gridworld": high, "navigation": low})
    assert first.adjusted == pytest.approx(second.adjusted)


def test_a_brain_without_energy_account_is_reported():
    found = {"navigation": scoring.environment_terms([1.0, 2.0], 1.0, 0.0, 5.0)}
    assert not scoring.continual_score(found).has_energy_term
    assert scoring.continual_score(found, efficiency=0.5).has_energy_term


@pytest.mark.parametrize(
    ("scores", "weights", "message"),
    [
        ([0.5], [0.5, 0.5], "weights does not fit"),
        ([0.5, 0.5], [0.0, 0.0], "weights does not fit"),
        ([0.5, 1.5], [0.5, 0.5], "scores spans"),
        ({"a": 0.5}, {"b": 1.0}, "weights lacks a"),
        ({"a": 0.5}, [1.0], "scores is not a regular array of numbers"),
        ([], [], "scores is empty"),
    ],
)
def test_scores_and_weights_that_do_not_fit_are_refused(scores, weights, message):
    with pytest.raises(ValueError, match=message):
        scoring.weighted_score(scores, weights)


@pytest.mark.parametrize("rewards", [[], [1.0], [1.0, np.nan], [[1.0, 2.0]]])
def test_bad_rewards_are_refused_by_name(rewards):
    with pytest.raises(ValueError, match=r"^rewards "):
        scoring.environment_score(rewards, 1.0)


def test_a_null_that_is_always_perfect_is_refused():
    with pytest.raises(ValueError, match="null_primary is 1"):
        scoring.anchored_primary(1.0, 1.0)
