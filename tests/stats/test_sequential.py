"""Sequential decisions keep their error rate, and agree with AdaStop where the answer is clear."""

import numpy as np
import pytest
from scipy.special import stdtrit

from nematodebench.stats import compare
from nematodebench.stats.sequential import look_levels, look_sizes, sequential_verdict
from nematodebench.stats.verdicts import EQUIVALENCE_LEVEL, EQUIVALENCE_RUNS, LEVEL

MOST = 200


def test_looks_grow_and_end_at_the_most():
    assert look_sizes(200) == [10, 16, 26, 41, 66, 105, 200]
    assert look_sizes(10) == [10]
    assert look_sizes(5) == [5]
    with pytest.raises(ValueError, match=r"^most is 2"):
        look_sizes(2)


def test_levels_add_up():
    assert sum(look_levels(200, 0.05)) == pytest.approx(0.05)
    assert len(look_levels(200, 0.05)) == len(look_sizes(200))


def decide(x, y, smallest=0.01, most=MOST):
    for look, n in enumerate(look_sizes(most)):
        found = sequential_verdict(compare(x[:n], y[:n], range(n), range(n)), look, most, smallest)
        if found.outcome != "undecided":
            return found.outcome, n
    return "undecided", most


def test_a_clear_difference_is_decided_early():
    rng = np.random.default_rng(0)
    outcome, runs = decide(rng.normal(0.8, 0.05, MOST), rng.normal(0.6, 0.05, MOST))
    assert (outcome, runs) == ("better", 10)


def test_two_of_the_same_are_equivalent_or_undecided():
    rng = np.random.default_rng(1)
    assert decide(rng.normal(0.8, 0.02, MOST), rng.normal(0.8, 0.02, MOST))[0] == "equivalent"
    assert decide(rng.normal(0.8, 0.5, MOST), rng.normal(0.8, 0.5, MOST))[0] == "undecided"


def test_a_rare_failure_that_few_runs_do_not_show_is_not_taken_for_equivalence():
    rng = np.random.default_rng(2)
    steady = np.full(MOST, 0.9)
    found = [decide(np.where(rng.random(MOST) < share, 0.2, 0.9), steady)[0] for share in [0.1, 0.05] * 200]
    assert np.mean([one == "equivalent" for one in found[::2]]) <= 0.01
    assert np.mean([one == "equivalent" for one in found[1::2]]) <= 0.05
    alike = sequential_verdict(compare(steady[:66], steady[:66], range(66), range(66)), 4, MOST)
    assert alike.reason == "the same in every run; up to 4.5% of runs may be unlike these 66"


def outcomes(draw, shift, sessions, smallest):
    """Of many brains against brains that are better by shift: shares of better or worse, and of equivalent.

    All at once; `decide` gives the same for single ones.
    """
    rng = np.random.default_rng(7)
    gaps = draw(rng, (sessions, MOST)) - draw(rng, (sessions, MOST)) + shift
    open_, differs, equal = (np.full(sessions, start) for start in (True, False, False))
    for look, n in enumerate(look_sizes(MOST)):
        level, one_sided = look_levels(MOST, LEVEL)[look], look_levels(MOST, EQUIVALENCE_LEVEL)[look]
        mean, se = np.abs(gaps[:, :n].mean(axis=1)), gaps[:, :n].std(axis=1, ddof=1) / np.sqrt(n)
        small = open_ & (mean + stdtrit(n - 1, 1 - one_sided) * se < smallest)
        large = open_ & ~small & (mean > stdtrit(n - 1, 1 - level / 2) * se)
        small &= n >= EQUIVALENCE_RUNS
        equal, differs, open_ = equal | small, differs | large, open_ & ~small & ~large
    return differs.mean(), equal.mean()


def alike(rng, size):
    return rng.normal(0.9, 0.05, size)


def failing(share):
    return lambda rng, size: np.where(rng.random(size) < share, rng.normal(0.2, 0.05, size), alike(rng, size))


def skewed(rng, size):
    return 1 - rng.gamma(3, 0.05, size)


SHAPES = {"normal": alike, "80/20": failing(0.2), "90/10": failing(0.1), "skewed": skewed}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_brain_against_itself_is_called_different_in_at_most_5_percent(shape):
    assert outcomes(SHAPES[shape], 0.0, 2000, 0.01)[0] <= 0.05


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_false_decisions_stay_below_5_percent(shape):
    assert outcomes(SHAPES[shape], 0.0, 40_000, 1e-9)[0] <= 0.05
    # Worst case of equivalence: the difference is just the smallest one that matters.
    assert outcomes(SHAPES[shape], 0.01, 40_000, 0.01)[1] <= 0.05
    assert outcomes(SHAPES[shape], 0.05, 40_000, 0.05)[1] <= 0.05


def test_the_simulation_is_what_is_done():
    rng = np.random.default_rng(7)
    x, y = failing(0.2)(rng, (60, MOST)), failing(0.2)(rng, (60, MOST))
    found = [decide(*pair)[0] for pair in zip(x, y, strict=True)]
    simulated = outcomes(failing(0.2), 0.0, 60, 0.01)
    assert simulated[0] == pytest.approx(np.mean([one in {"better", "worse"} for one in found]))
    assert simulated[1] == pytest.approx(np.mean([one == "equivalent" for one in found]))


@pytest.mark.parametrize(("gap", "expected"), [(0.3, "larger"), (-0.3, "smaller"), (0.0, "equal")])
def test_adastop_decides_the_same(gap, expected):
    adastop = pytest.importorskip("adastop")
    rng = np.random.default_rng(11)
    x, y = rng.normal(0.5 + gap, 0.1, 50), rng.normal(0.5, 0.1, 50)
    comparator = adastop.MultipleAgentsComparator(n=5, K=5, B=2000, alpha=0.05, seed=3)
    for k in range(1, 6):
        comparator.partial_compare({"x": x[: 5 * k], "y": y[: 5 * k]}, False)
        if comparator.is_finished:
            break
    (theirs,) = set(comparator.decisions.values())
    ours, _ = decide(x, y, most=50, smallest=1e-9)
    assert theirs == expected
    assert {"better": "larger", "worse": "smaller", "undecided": "equal"}[ours] == expected
