"""The board in one figure: scores of current entries between floor and ceiling."""

from collections.abc import Sequence

from nematodebench.board.collect import Collection
from nematodebench.board.ranking import TaskBoard
from nematodebench.figures.figure import Figure, Row
from nematodebench.figures.marks import anchor_rows
from nematodebench.figures.scores import score_figure
from nematodebench.tasks.anchoring import load_anchors
from nematodebench.tasks.registry import get_task

__all__ = ["MOST_SHOWN", "board_figure"]

MOST_SHOWN = 20
"""So many entries of a task are shown at first, and drawn."""


def board_figure(found: Collection, boards: Sequence[TaskBoard]) -> Figure:
    """The first current entries, task by task."""
    rows: list[Row] = []
    for board in boards:
        for standing in board.standings[:MOST_SHOWN]:
            listing = found.listings[standing.entry.id]
            norm = listing.normalised
            if norm is None:
                continue
            low, high = norm.ci95 or (norm.unclamped, norm.unclamped)
            rows.append({"what": "score", "task": board.task, "brain": listing.entry.brain, "value": norm.unclamped,
                         "low": low, "high": high})  # fmt: skip
        rows += anchor_rows(board.task, load_anchors(get_task(board.task)))
    return score_figure("The board", rows)
