"""A memory hash is compared with hashes of its own kind; one of an older kind decides nothing."""

import pytest

from nematodebench.records.memory_hash import memory_kind, same_memory

A, B = "a" * 64, "b" * 64


@pytest.mark.parametrize(
    ("text", "kind"),
    [(A, 1), (f"v2:{A}", 2), (f"v10:{A}", 10), ("", None), (A[1:], None), (f"v0:{A}", None), (f"x{A}", None)],
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
