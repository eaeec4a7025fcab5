"""Published brains against themselves: docs/self_comparisons.md."""

import importlib.util
import zlib
from pathlib import Path

import numpy as np
import pytest

_PATH = Path(__file__).parents[2] / "scripts" / "self_comparisons.py"
_spec = importlib.util.spec_from_file_location("self_comparisons", _PATH)
script = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(script)


def test_runs_of_one_brain_are_seldom_told_apart():
    runs = np.random.default_rng(1).normal(0.5, 0.1, (1, 200))
    assert script.false_verdicts(runs, 20, 0.01, seed=3, comparisons=200) <= 20


def test_a_comparison_with_too_small_an_error_would_be_seen(monkeypatch):
    # Ten copies of every run pretend to be ten runs: the error of a mean is then far too small.
    monkeypatch.setattr(script, "scores", lambda parts: (np.repeat(parts[0], 10), None))
    runs = np.random.default_rng(1).normal(0.5, 0.1, (1, 200))
    assert script.false_verdicts(runs, 20, 0.01, seed=3, comparisons=100) > 20


def test_a_composite_is_made_of_the_runs_that_were_drawn():
    parts = np.random.default_rng(2).uniform(0.2, 0.9, (4, 12))
    values, pseudo = script.scores(parts)
    steady = script.scoring.stability(parts[3])
    assert values == pytest.approx(0.4 * parts[0] + 0.3 * parts[1] + 0.2 * parts[2] + 0.1 * steady)
    assert pseudo.shape == values.shape


def test_the_page_says_that_at_most_5_percent_are_false():
    last = script.PAGE.read_text(encoding="utf-8").splitlines()[-1]
    shares = [float(cell.strip(" *%")) for cell in last.split("|")[4:7]]
    assert max(shares) <= 5.0


@pytest.mark.slow
def test_part_of_the_page_is_counted_again():
    text = script.PAGE.read_text(encoding="utf-8")
    for (name, brain), (task, runs) in list(script.published().items())[:3]:
        parts, seed = script.columns(task, runs), zlib.crc32(f"{name} {brain}".encode())
        counts = [script.false_verdicts(parts, n, script.smallest(task), seed) for n in script.SIZES]
        cells = " | ".join(f"{count / 10:.1f} %" for count in counts)
        assert f"| {name} | {brain} | {len(runs)} | {cells} |" in text
