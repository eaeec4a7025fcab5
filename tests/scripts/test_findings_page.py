"""The page of findings: its tables are the files of results, which are made from stored sessions."""

import importlib.util
import json
import sys
from pathlib import Path

import pytest

import nematodebench as nb

_PATH = Path(__file__).parents[2] / "scripts" / "findings_page.py"
_spec = importlib.util.spec_from_file_location("findings_page", _PATH)
findings = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(findings)


@pytest.fixture
def workshop(tmp_path, monkeypatch):
    """A page and a folder of results of one's own."""
    monkeypatch.setattr(findings, "PAGE", tmp_path / "findings.md")
    monkeypatch.setattr(findings, "KEPT", tmp_path / "findings")
    findings.PAGE.write_text("# Found\n\n<!-- found: one -->\n<!-- end -->\n\nMore.\n", encoding="utf-8")
    return tmp_path


def call(monkeypatch, *words):
    monkeypatch.setattr(sys, "argv", ["findings_page.py", *map(str, words)])
    findings.main()


def test_the_page_shows_what_was_kept():
    page = findings.PAGE.read_text(encoding="utf-8")
    assert findings.written(page) == page


def test_every_file_of_results_has_its_place_on_the_page():
    page = findings.PAGE.read_text(encoding="utf-8")
    assert [path.name for path in findings.KEPT.glob("*.json") if f"<!-- found: {path.stem} -->" not in page] == []


def test_sessions_become_a_table_with_their_commands(workshop, monkeypatch):
    for folder, brain in (("a", "null_random"), ("b", "motionless")):
        nb.run("association-v2", brain, runs=3, seed=5).save(workshop / folder)
    call(monkeypatch, "compare", "one", workshop / "a", workshop / "b")
    with pytest.raises(SystemExit, match="other numbers"):
        call(monkeypatch, "check")
    call(monkeypatch, "write")
    call(monkeypatch, "check")
    page = findings.PAGE.read_text(encoding="utf-8")
    assert "nematodebench run association-v2 null_random --runs 3 --seed 5" in page
    assert page.endswith("<!-- end -->\n\nMore.\n")
    call(monkeypatch, "scores", "one", workshop / "a", workshop / "b")
    kept = json.loads((workshop / "findings" / "one.json").read_text(encoding="utf-8"))
    assert [row["brain"] for row in kept["rows"]] == ["null_random", "motionless"]


def test_a_folder_without_sessions_is_refused(workshop, monkeypatch):
    with pytest.raises(SystemExit, match="no stored session"):
        call(monkeypatch, "scores", "one", workshop)
