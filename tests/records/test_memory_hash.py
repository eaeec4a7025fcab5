"""A memory hash is compared with hashes of its own kind; one of an older kind decides nothing."""

import hashlib

import pytest

from nematodebench.records.memory_hash import NO_HASH, OLDER_KIND, memory_kind, not_compared, same_memory

A, B = "a" * 64, "b" * 64


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (A, 1),
        (f"v2:{A}", 2),
        (f"v10:{A}", 10),
        ("", None),
        (A[1:], None),
        (f"v0:{A}", None),
        (f"x{A}", None),
        (f"v1000:{A}", None),
        (f"v{'9' * 5000}:{A}", None),
    ],
)
def test_a_hash_says_its_kind(text: str, kind: int | None) -> None:
    assert memory_kind(text) == kind


@pytest.mark.parametrize("kind", ["", "v2:"])
def test_hashes_of_one_kind_are_compared(kind: str) -> None:
    assert same_memory(kind + A, kind + A) is True
    assert same_memory(kind + A, kind + B) is False


def test_an_older_kind_decides_nothing() -> None:
    assert same_memory(A, f"v2:{A}") is None
    assert same_memory(f"v2:{A}", f"v3:{B}") is None


@pytest.mark.parametrize("recorded", [f"v3:{A}", "", "nonsense"])
def test_a_newer_kind_or_none_agrees_with_nothing(recorded: str) -> None:
    assert same_memory(recorded, f"v2:{A}") is False


def test_without_a_hash_nothing_matches_and_nothing_differs() -> None:
    assert same_memory(None, None) is None
    assert same_memory(None, f"v3:{A}") is None
    assert not_compared(None, f"v3:{A}") == NO_HASH
    assert not_compared(A, f"v3:{A}") == OLDER_KIND
    assert not_compared(A, A) == ""


def test_a_recorded_hash_that_cannot_be_computed_any_more_is_a_difference() -> None:
    assert same_memory(f"v3:{A}", None) is False
    assert same_memory(A, None) is False


def test_the_hash_of_nothing_was_stored_for_brains_that_told_nothing() -> None:
    assert same_memory(hashlib.sha256(b"").hexdigest(), None) is None
    assert same_memory(hashlib.sha256(b"").hexdigest(), f"v3:{A}") is None
