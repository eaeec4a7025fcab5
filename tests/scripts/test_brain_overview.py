"""The page of all brains: none is missing, and every test it names is there."""

import re
import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))  # where a script finds what lies beside it
_found = runpy.run_path(str(ROOT / "scripts" / "findings_memory.py"))
sys.path.remove(str(ROOT / "scripts"))
BRAINS, remembers = _found["BRAINS"], _found["remembers"]
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
