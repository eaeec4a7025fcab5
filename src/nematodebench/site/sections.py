"""Sections: what a report says of one task, one search or one continual run."""

from typing import Any

__all__ = ["section_of"]

_PARTS = ("tables", "figures", "facts", "notes", "replays")


def section_of(title: str, lead: str, **content: Any) -> dict[str, Any]:
    """A section with those parts that it has; the others are empty."""
    return {"title": title, "lead": lead, **{part: [] for part in _PARTS}, **content}
