"""Sets of ranks: simultaneous, as wide as the data leave them, and all true at once 95 % of the time."""

import math

import numpy as np
import pytest

from nematodebench.stats import holm, rank_sets


def test_clear_differences_give_single_ranks():
    found = rank_sets([0.5, 0.9, 0.7], [0.01, 0.01, 0.01])
    assert found.ranges == [(3, 3), (1, 1), (2, 2)]
    assert found.groups == ["c", "a", "b"]
    assert found.resolution == 1.0


def test_what_is_not_told_apart_shares_ranks_and_a_letter():
    found = rank_sets([0.90, 0.89, 0.50], [0.01, 0.01, 0.01])
    assert found.ranges == [(1, 2), (1, 2), (3, 3)]
    assert found.groups == ["a", "a", "b"]
    assert found.resolution == pytest.approx(2 / 3)


def test_being_told_apart_is_not_transitive_and_letters_show_it():
    found = rank_sets([0.60, 0.57, 0.54], [0.01, 0.01, 0.01])
    assert found.groups == ["a", "ab", "b"]
    assert found.ranges == [(1, 2), (1, 3), (2, 3)]


def test_more_brains_need_more_evidence():
    two = rank_sets([0.53, 0.50], [0.01, 0.01])
    many = rank_sets([0.53, *[0.50] * 20], [0.01] * 21)
    assert two.apart[0, 1]
    assert not many.apart[0].any()


def test_constants_differ_or_do_not():
    assert rank_sets([0.5, 0.5, 0.4], [0.0, 0.0, 0.0]).ranges == [(1, 2), (1, 2), (3, 3)]


def test_one_brain_has_one_rank_and_no_resolution():
    found = rank_sets([0.5], [0.1])
    assert (found.ranges, found.groups, found.resolution) == ([(1, 1)], ["a"], None)


def test_fifty_that_are_all_alike_are_one_group():
    assert set(rank_sets([0.5] * 50, [0.01] * 50).groups) == {"a"}


def test_wrong_errors_are_refused():
    with pytest.raises(ValueError, match="one each"):
        rank_sets([0.5, 0.6], [0.1])
    with pytest.raises(ValueError, match="none below 0"):
        rank_sets([0.5, 0.6], [0.1, -0.1])


def _step_by_step(differences, errors):
    """Holm's method as it is written: p-values in order, the first that is too large ends it."""
    p = [math.erfc(ratio / math.sqrt(2)) for ratio in (np.abs(differences) / errors).tolist()]
    found, order = np.zeros(len(p), dtype=bool), np.argsort(p, kind="stable")
    for shown, k in enumerate(order):
        if p[k] * (len(p) - shown) >= 0.05:
            break
        found[k] = True
    return found


@pytest.mark.parametrize("count", [2, 3, 10, 60, 250])
@pytest.mark.parametrize("spread", [0.0, 0.01, 0.1, 1.0, 30.0])
@pytest.mark.parametrize("digits", [1, 3, 9])
def test_as_many_are_told_apart_as_step_by_step(count, spread, digits):
    """Rounded means give many equal differences."""
    rng = np.random.default_rng([count, digits])
    means, errors = np.round(spread * rng.standard_normal(count), digits), np.full(count, 0.1)
    i, j = np.triu_indices(count, 1)
    wanted = _step_by_step(means[i] - means[j], np.sqrt(errors[i] ** 2 + errors[j] ** 2))
    assert (rank_sets(means, errors).apart[i, j] == wanted).all()


@pytest.mark.parametrize("last", [-1e-9, -1e-13, 1e-13, 1e-9])
def test_a_p_value_beside_the_level_is_decided_exactly(last):
    """One of two that are left lies beside 0.05 / 2, and after it 0.05 would do."""
    from scipy.special import erfcinv

    ratio = math.sqrt(2) * float(erfcinv(0.025)) * (1 - last)
    means, errors = [0.0, ratio / math.sqrt(2), 100.0], [0.5, 0.5, 0.5]
    difference = (means[1] - means[0]) / math.sqrt(errors[0] ** 2 + errors[1] ** 2)
    assert rank_sets(means, errors).apart[0, 1] == (math.erfc(difference / math.sqrt(2)) < 0.05)
    assert rank_sets(means, errors).apart[0, 2]


LADDER = np.arange(6) * 0.02
TRUTHS = {
    "all alike": np.full(6, 0.5),
    "a ladder": 0.5 + LADDER,
    "two groups": np.array([0.5, 0.5, 0.5, 0.56, 0.56, 0.56]),
    "one better": np.array([0.5] * 7 + [0.54]),
}


@pytest.mark.parametrize("truth", TRUTHS.values(), ids=TRUTHS)
@pytest.mark.parametrize("bimodal", [False, True])
def test_all_true_ranks_lie_in_their_sets_at_once(truth, bimodal):
    """Runs are drawn, means and errors estimated from them as the board does (500 runs a brain)."""
    rng, runs, rounds = np.random.default_rng(5), 500, 600
    ranks = 1 + (truth[np.newaxis, :] > truth[:, np.newaxis]).sum(axis=1)
    spread = np.linspace(0.1, 0.4, truth.size)
    covered = 0
    for _ in range(rounds):
        shape = (truth.size, runs)
        noise = 2.5 * (0.2 - (rng.random(shape) < 0.2)) if bimodal else rng.standard_normal(shape)
        values = truth[:, np.newaxis] + spread[:, np.newaxis] * noise
        found = rank_sets(values.mean(axis=1), values.std(axis=1, ddof=1) / np.sqrt(runs))
        covered += all(low <= rank <= high for rank, (low, high) in zip(ranks, found.ranges, strict=True))
    assert covered / rounds >= 0.95 - 2 * np.sqrt(0.05 * 0.95 / rounds)


def test_the_sets_are_not_wide_for_nothing():
    rng = np.random.default_rng(6)
    truth = 0.5 + LADDER * 5  # steps of 0.1 with errors of 0.02: five standard errors of a difference, nearly
    widths = []
    for _ in range(200):
        ranges = rank_sets(truth + 0.02 * rng.standard_normal(6), [0.02] * 6).ranges
        widths.append(np.mean([high - low for low, high in ranges]))
    assert np.mean(widths) < 0.5


def test_many_brains_have_ranks_and_no_letters():
    means = np.linspace(0.0, 1.0, 300)
    found = rank_sets(means, np.full(300, 0.05))
    assert set(found.groups) == {""}
    assert all(first <= 300 - place <= last for place, (first, last) in enumerate(found.ranges))
    assert 0.0 < found.resolution < 1.0
    assert set(rank_sets(means[:100], np.full(100, 0.05)).groups) != {""}


@pytest.mark.parametrize("seed", range(40))
def test_pairs_are_told_apart_as_holm_says(seed):
    rng = np.random.default_rng(seed)
    means, errors = rng.normal(size=12) * [0.01, 1.0][seed % 2], np.abs(rng.normal(size=12)) * 0.05
    if seed % 4 == 0:  # the same ratios again and again, and constants
        means, errors = means.round(1), errors.round(1)
    i, j = np.triu_indices(12, 1)
    differences, both = (means[i] - means[j]).tolist(), np.hypot(errors[i], errors[j]).tolist()
    p = [
        math.erfc(abs(d) / e / math.sqrt(2.0)) if e else float(d == 0.0) for d, e in zip(differences, both, strict=True)
    ]
    assert rank_sets(means, errors).apart[i, j].tolist() == (holm(p) < 0.05).tolist()
