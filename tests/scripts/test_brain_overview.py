"""The page of all brains: none is missing, and every test it names is there."""

import inspect
import json
import re
import runpy
import sys
from pathlib import Path

import pytest

from nematodebench.brains.registry import get_brain

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))  # where a script finds what lies beside it
_found = runpy.run_path(str(ROOT / "scripts" / "findings_memory.py"))
sys.path.remove(str(ROOT / "scripts"))
BRAINS, DATA, remembers = _found["BRAINS"], _found["DATA"], _found["remembers"]
PAGE = (ROOT / "docs" / "brains.md").read_text(encoding="utf-8")
ROWS = {
    cells[0].split("]")[0].lstrip("["): cells
    for cells in (line.strip("| ").split(" | ") for line in PAGE.splitlines() if line.startswith("| ["))
}


def test_every_learner_has_a_row():
    assert sorted(ROWS) == sorted(BRAINS)


@pytest.mark.parametrize("brain", BRAINS)
def test_a_row_names_the_file_the_page_and_a_test_that_exists(brain):
    name, what, remembered, compared, tested = ROWS[brain]
    assert f"/{brain}.py)" in name
    assert f"(brains/{brain}.md)" in name
    assert what
    assert compared
    found = re.fullmatch(r"`(tests/\S+\.py)::(test_\w+)`", tested)
    assert found, tested
    assert f"def {found[2]}(" in (ROOT / found[1]).read_text(encoding="utf-8")
    assert (remembered != "–") == remembers(brain)


@pytest.mark.parametrize("brain", BRAINS)
def test_the_page_of_a_brain_has_a_picture_and_a_table(brain):
    text = (ROOT / "docs" / "brains" / f"{brain}.md").read_text(encoding="utf-8")
    assert "\n```\n" in text
    assert re.search(r"<!-- (measured|results): .*tasks=.*foraging_small-v2", text)


def quoted(brain):
    """Tasks and scores that the docstring of a brain names as what it reaches with its defaults."""
    return re.findall(r"`([a-z_]+-v\d+)` (?:about )?(0\.\d+)", " ".join(inspect.getdoc(get_brain(brain)).split()))


@pytest.mark.parametrize("brain", [name for name in BRAINS if quoted(name)])
def test_scores_that_a_docstring_quotes_are_the_measured_ones(brain):
    for task, score in quoted(brain):
        measured = json.loads((DATA / f"{task}.json").read_text(encoding="utf-8"))["brains"][brain]["score"]
        half = 0.5 * 10.0 ** -len(score.partition(".")[2])
        assert abs(float(measured.split()[0]) - float(score)) <= half * 1.0001, (task, measured)


def test_some_docstrings_quote_scores():
    assert len([name for name in BRAINS if quoted(name)]) >= 4
