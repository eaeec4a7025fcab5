"""The guides for contributors say what a contributor needs to know."""

import re
from pathlib import Path

import pytest

from nematodebench.tasks.registry import built_in_tasks

DOCS = Path(__file__).parents[1] / "docs" / "nematodebench"
GUIDE, EVALUATION, REPRODUCIBILITY = "SUBMISSION_GUIDE.md", "EVALUATION.md", "REPRODUCIBILITY.md"


def _text(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def _headings(name: str) -> str:
    return "\n".join(re.findall(r"^#+ .*$", _text(name), re.M)).lower()


def test_submission_guide_access() -> None:
    text, headings = _text(GUIDE), _headings(GUIDE)
    assert "prerequisites" in headings
    assert re.search(r"\b50\b", text)
    assert "clean" in text
    assert "git" in text
    assert "configs/" in text
    assert re.search(r"pull request", text, re.I)
    assert re.search(r"verif", text, re.I)
    for command in ("nematodebench run", "nematodebench submit", "nematodebench evaluate"):
        assert command in text
    assert re.search(r"^PASS", text, re.M), "example commands come with their output"


def test_evaluation_methodology_documentation() -> None:
    text, headings = _text(EVALUATION), _headings(EVALUATION)
    for weight in ("0.40", "0.30", "0.20", "0.10"):
        assert weight in text
    for part in ("success_rate", "distance_efficiency", "learning_speed", "stability"):
        assert part in text
    assert "convergence" in headings
    assert "rank" in headings
    assert "example" in headings
    assert "0.867" in text


def test_reproducibility_requirements_documentation() -> None:
    headings = _headings(REPRODUCIBILITY)
    for part in ("config", "git", "version", "verif"):
        assert part in headings


@pytest.mark.parametrize("linked", [GUIDE, EVALUATION, REPRODUCIBILITY])
def test_documentation_discoverability(linked: str) -> None:
    places = [path for path in (DOCS.parent / "BENCHMARKS.md", DOCS.parents[1] / "BENCHMARKS.md") if path.is_file()]
    text = places[0].read_text(encoding="utf-8") if places else _text("BENCHMARKS.md")
    assert linked in text
    assert re.search(r"submit", text, re.I)
    assert re.search(r"public", text, re.I)


def test_the_comparison_counts_the_tasks() -> None:
    text = (DOCS.parent / "comparison.md").read_text(encoding="utf-8")
    found = re.search(r"(\d+) tasks, versioned", text)
    assert found and int(found[1]) == len(built_in_tasks())
