"""The figures of ``docs/concepts.md``."""

import importlib.util
from collections import Counter
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "scripts" / "concept_figures.py"
spec = importlib.util.spec_from_file_location("concept_figures", SCRIPT)
concept_figures = importlib.util.module_from_spec(spec)
spec.loader.exec_module(concept_figures)


def test_an_entry_that_was_verified_twice_is_in_a_figure_once():
    found = concept_figures.entries()
    assert found
    assert max(Counter(one["claim"]["submission_id"] for one in found).values()) == 1
