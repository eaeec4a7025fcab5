"""docs/coverage.md is what the simulation gives, and the simulation is what the platform prints."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

from nematodebench import scoring, stats
from nematodebench.scoring import AnchorKind, ScoreAnchor
from nematodebench.stats import StatValue

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))  # where a script finds what lies beside it
_spec = importlib.util.spec_from_file_location("coverage_page", ROOT / "scripts" / "interval_coverage.py")
coverage = importlib.util.module_from_spec(_spec)
sys.modules["coverage_page"] = coverage
_spec.loader.exec_module(coverage)

SIZES = [(5, "normal"), (20, "90/10"), (50, "80/20"), (60, "skewed"), (320, "90/10")]


def inside(value, truth):
    return value.ci95[0] <= truth <= value.ci95[1], bool(value.doubt)


@pytest.mark.parametrize(("n", "shape"), SIZES)
def test_a_metric_is_simulated_as_it_is_printed(n, shape):
    found = coverage.run_metric(np.random.default_rng(3), shape, n, 40)
    rows = coverage.runs_of(np.random.default_rng(3), shape, (40, n))
    printed = [inside(StatValue.from_values(row), coverage.MEANS[shape]) for row in rows]
    assert np.array(printed).T.tolist() == [found[0].tolist(), found[1].tolist()]


@pytest.mark.parametrize(("n", "shape"), SIZES)
def test_composite_and_stability_are_simulated_as_they_are_printed(n, shape):
    composite, steady = coverage.truth(shape)
    parts = coverage.parts_of(np.random.default_rng(3), shape, (40, n))
    composites, stabilities = [], []
    for success, efficiency, speed, final in np.moveaxis(parts, 1, 0):
        value = scoring.stability(final)
        pseudo = scoring.composite_pseudo_values(success, efficiency, speed, final)
        runs = scoring.composite(success, efficiency, speed, value)
        composites.append(inside(StatValue.from_values(runs, pseudo=pseudo), composite))
        stabilities.append(inside(StatValue.of_session(value, scoring.stability_pseudo_values(final)), steady))
    for batch, printed in ((coverage.composite, composites), (coverage.stability, stabilities)):
        found = batch(np.random.default_rng(3), shape, n, 40)
        assert np.array(printed).T.tolist() == [found[0].tolist(), found[1].tolist()]


@pytest.mark.parametrize(("n", "shape"), SIZES)
def test_a_normalised_score_is_simulated_as_it_is_printed(n, shape):
    found = coverage.normalised_metric(np.random.default_rng(3), shape, n, 40)
    rng = np.random.default_rng(3)
    rows, floors = coverage.runs_of(rng, shape, (40, n)), rng.normal(0.05, 0.004, 40)
    ceiling = ScoreAnchor(1.0, AnchorKind.ANALYTIC, "simulated")
    printed = [
        inside(
            scoring.anchored_score(row, ScoreAnchor(floor, AnchorKind.NULL_MEASURED, "simulated", 200, 0.004), ceiling),
            (coverage.MEANS[shape] - 0.05) / 0.95,
        )
        for row, floor in zip(rows, floors, strict=True)
    ]
    assert np.array(printed).T.tolist() == [found[0].tolist(), found[1].tolist()]


@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.parametrize(("n", "shape"), SIZES)
def test_a_brain_against_itself_is_simulated_as_it_is_judged(n, shape, paired):
    found = coverage.SELF[f"composite, {'paired' if paired else 'unpaired'}"](np.random.default_rng(3), shape, n, 40)
    rng = np.random.default_rng(3)
    (x, dx), (y, dy) = (coverage.composites(coverage.parts_of(rng, shape, (40, n))) for _ in range(2))
    seeds = range(n) if paired else None
    for k in range(40):
        comparison = stats.compare(x[k], y[k], seeds, seeds, dx[k], dy[k])
        assert (stats.verdict(comparison).outcome in {"better", "worse"}) == found[1][k]
        assert (comparison.ci95[0] <= 0 <= comparison.ci95[1]) == found[0][k]


PART = ("metric of a session", "composite of a session", "stability of a session", "share of runs", "P(A > B), paired")


@pytest.mark.slow
@pytest.mark.parametrize("name", PART)
def test_part_of_the_page_is_simulated_again(name):
    batch, sizes = coverage.INTERVALS[name]
    cells = {(n, shape): coverage.simulate(name, batch, shape, n) for n in sizes for shape in coverage.SHAPES}
    assert [key for key, cell in cells.items() if not cell.holds] == []
    assert coverage.table(sizes, cells) in coverage.PAGE.read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("name", coverage.SELF)
@pytest.mark.parametrize("n", [10, 20, 50])
def test_comparisons_of_a_brain_with_itself_err_in_at_most_5_percent(name, n):
    # Of 1,000 comparisons chance alone would tell: their rate has an error of .6 %. Of 20,000 it is .14 %.
    for shape in coverage.SHAPES:
        rng = np.random.default_rng(n)
        assert coverage.SELF[name](rng, shape, n, 20_000)[1].mean() <= 0.05


def test_other_shapes_are_simulated_again_and_those_that_fall_short_are_named():
    section = coverage.other_shapes()
    assert section in coverage.PAGE.read_text(encoding="utf-8")
    assert "| all equal | 100.0 % (!) | 100.0 % (!) | 100.0 % (!) |" in section
    short = section.rpartition("have no mark and miss: ")[2]
    assert "99/1 with 50 runs" in short
    assert "skewness" not in short
    assert "three peaks" not in short


def test_the_page_says_what_holds():
    text = coverage.PAGE.read_text(encoding="utf-8")
    assert "Wherever no mark is printed, coverage is 93 to 97 %" in text
    for name in coverage.INTERVALS:
        assert f"## {name[0].upper()}{name[1:]}\n" in text
