"""The committed table of bits is that of this environment, and says what was tried."""

import importlib.util
import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
spec = importlib.util.spec_from_file_location("bits_matrix", ROOT / "scripts" / "bits_matrix.py")
bits_matrix = importlib.util.module_from_spec(spec)
spec.loader.exec_module(bits_matrix)
TABLE = json.loads((ROOT / "docs" / "bits.json").read_text())


@pytest.mark.slow
def test_this_environment_gives_the_bits_of_the_table():
    """If not, and nothing was meant to change: a library, the compiler or the code changes the bits of results."""
    assert bits_matrix.differences(TABLE["hashes"], bits_matrix.compute()) == []


def test_no_environment_gave_other_bits():
    tried = TABLE["environments"]
    assert {name: one["different"] for name, one in tried.items() if one["different"]} == {}
    assert {name: one["lacks"] for name, one in tried.items() if one["lacks"]} == {}
    assert len(tried) >= 6


def test_a_bit_that_differs_is_named():
    case, (records, memory) = next(iter(TABLE["hashes"].items()))
    other = {**TABLE["hashes"], case: [records, memory[:-1] + "x"]}
    assert bits_matrix.differences(TABLE["hashes"], other) == [case]
    assert bits_matrix.differences(TABLE["hashes"], {}) == list(TABLE["hashes"])


def test_a_killed_matrix_goes_on_with_the_cases_that_it_lacks(tmp_path, monkeypatch):
    cases = [("tracking-v1", "null_random"), ("pong-v1", "null_random")]
    monkeypatch.setattr(bits_matrix, "cases", lambda: cases[:1])
    first = bits_matrix.compute(tmp_path / "kept.json")
    monkeypatch.setattr(bits_matrix, "cases", lambda: cases)
    content = json.loads((tmp_path / "kept.json").read_text())
    marked = content | {"hashes": {case: ["kept", "kept"] for case in first}}
    (tmp_path / "kept.json").write_text(json.dumps(marked))
    found = bits_matrix.compute(tmp_path / "kept.json")
    assert found["tracking-v1 null_random"] == ["kept", "kept"] and len(found["pong-v1 null_random"][0]) == 64
    (tmp_path / "kept.json").write_text(json.dumps(marked | {"source": "of another state"}))
    assert bits_matrix.compute(tmp_path / "kept.json")["tracking-v1 null_random"] == first["tracking-v1 null_random"]


def test_a_new_case_is_lacking_until_an_environment_has_computed_it(monkeypatch):
    asked = []

    def tried(name, how, wanted=None):
        asked.append((name, wanted))
        hashes = {"old": ["1", "2"], "new": ["3", "4"]}
        return {"facts": {"python": "3"}, "hashes": {case: hashes[case] for case in wanted or hashes}}

    monkeypatch.setattr(bits_matrix, "tried", tried)
    known = {"python": "3", "different": [], "lacks": []}
    table = {"hashes": {"old": ["1", "2"]}, "environments": {bits_matrix.HERE: known, "other": known}}
    table["environments"][bits_matrix.HERE] = bits_matrix.row(table, bits_matrix.HERE, {}, missing=True)
    assert table["environments"]["other"]["lacks"] == ["new"]
    assert bits_matrix.computed_by(table, table["environments"]["other"]) == 1
    assert bits_matrix.row(table, "other", {}, missing=True) == known
    assert asked == [(bits_matrix.HERE, None), ("other", ["new"])]
    table["environments"]["other"]["python"] = "2"  # it is another environment by now: all of it is computed again
    assert bits_matrix.row(table, "other", {}, missing=True) == known and asked[-1] == ("other", None)


def test_a_case_that_came_out_otherwise_makes_all_rows_old():
    table = {"hashes": {"old": ["1", "2"]}, "environments": {"other": {"different": [], "lacks": []}}}
    found = {"old": ["1", "3"]}
    assert bits_matrix.with_new_cases(table, found) == {"hashes": found, "environments": {}}


def test_the_page_is_that_of_the_table():
    assert (ROOT / "docs" / "bits.md").read_text() == bits_matrix.page(TABLE)


def test_the_oldest_versions_are_those_of_the_package():
    assert bits_matrix.bounds() == {"numpy": "numpy==2.0.0", "numba": "numba==0.61.0"}
    assert {one["numba"] for one in TABLE["environments"].values()} >= {"0.61.0"}
