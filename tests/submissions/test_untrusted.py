"""Reading files somebody else wrote."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nematodebench.errors import UsageError
from nematodebench.submissions.compare import differences
from nematodebench.submissions.untrusted import parse_config, read_file, strict_json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(VALUES)
def test_ordinary_json_keeps_its_meaning(value: object) -> None:
    assert strict_json(json.dumps(value).encode(), "x") == value


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused_with_one_line(content: bytes) -> None:
    try:
        strict_json(content, "x")
    except UsageError as error:
        assert "\n" not in str(error)


@given(st.text(max_size=60))
def test_no_path_leaves_the_folder(text: str) -> None:
    here = Path(__file__).parent
    with pytest.raises(UsageError):
        read_file(here, f"../{text}", 10)


def test_path_that_goes_round_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b.json").write_text("{}")
    with pytest.raises(UsageError, match="not a path inside"):
        read_file(tmp_path, "a/../b.json", 10)


def test_link_on_the_way_is_refused(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "x.json").write_text("{}")
    (tmp_path / "link").symlink_to("real")
    assert read_file(tmp_path, "real/x.json", 10) == b"{}"
    with pytest.raises(UsageError, match="link is a symbolic link"):
        read_file(tmp_path, "link/x.json", 10)


def test_number_of_too_many_digits_is_refused() -> None:
    with pytest.raises(UsageError, match="is not valid JSON"):
        strict_json(b"1" * 10_000, "x")


@given(st.text(max_size=80))
def test_any_config_is_read_or_refused_with_one_line(text: str) -> None:
    try:
        parse_config(text.encode("utf-8", "surrogatepass"), "x.yml")
    except UsageError as error:
        assert "\n" not in str(error)


@pytest.mark.parametrize("text", ["a: 2001-99-99", "? {a: b}\n: c", "task: [1, 2", "- 1", "1: 2"])
def test_odd_config_is_one_line(text: str) -> None:
    with pytest.raises(UsageError):
        parse_config(text.encode(), "x.yml")


@given(VALUES)
def test_nothing_differs_from_itself(value: object) -> None:
    assert list(differences(value, value, "x")) == []


@pytest.mark.parametrize(
    ("claimed", "computed"),
    [(1.0, 1.0 + 1e-9), (True, 1), (2**63, 2**63 + 1), ([1], [1, 2]), ({"a": 1}, {"b": 1}), (None, 0.0), ("1", 1.0)],
)
def test_what_is_not_the_same_is_a_difference(claimed: object, computed: object) -> None:
    assert list(differences(claimed, computed, "x"))


def test_rounding_of_the_last_bit_is_no_difference() -> None:
    assert list(differences({"a": 0.1 + 0.2}, {"a": 0.3}, "x")) == []


def test_a_file_that_grows_while_it_is_read_is_refused():
    # The system says that this one is empty, and gives more and more.
    with pytest.raises(UsageError, match="status has more than 10 bytes"):
        read_file(Path("/proc/self"), "status", 10)


def test_a_file_that_becomes_a_link_after_it_was_looked_at_is_refused(tmp_path, monkeypatch):
    (tmp_path / "theirs").write_text("theirs")
    (tmp_path / "file").write_text("mine")
    opened = os.open

    def replaced(path, *flags, **options):
        (tmp_path / "file").unlink()
        (tmp_path / "file").symlink_to("theirs")
        return opened(path, *flags, **options)

    monkeypatch.setattr(os, "open", replaced)
    with pytest.raises(UsageError, match="Cannot read file"):
        read_file(tmp_path, "file", 100)
