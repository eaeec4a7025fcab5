"""What pages say about a task: the lines its scores are read against, and how well it tells brains apart."""

import math

from nematodebench.board.ranking import TaskBoard
from nematodebench.scoring import AnchorKind, ScoreAnchor
from nematodebench.site.cells import interval
from nematodebench.stats import Z95
from nematodebench.tasks.anchoring import BlindPolicy, TaskAnchors

__all__ = ["CEILINGS", "anchor_table", "resolution_text"]

CEILINGS = {
    AnchorKind.ANALYTIC: "the largest possible score",
    AnchorKind.REFERENCE_MEASURED: "what the reference reached",
    AnchorKind.NULL_MEASURED: "what chance reached",
}
"""What a ceiling is, in words."""


def resolution_text(board: TaskBoard) -> str:
    """How many pairs of learners the task tells apart."""
    share, count = board.resolution, len(board.learners)
    if share is None or count < 2:
        return "Fewer than two learners are published."
    pairs = count * (count - 1) // 2
    return f"It tells {round(share * pairs)} of {pairs} pairs of learners apart."


def anchor_table(anchors: TaskAnchors | None) -> list[list[str]]:
    """Every line with its value, its normalised value, its runs and where it comes from."""
    if anchors is None:
        return []
    named: list[tuple[str, ScoreAnchor | BlindPolicy | None]] = [
        ("ceiling", anchors.ceiling), ("reference", anchors.reference), ("best blind policy", anchors.blind),
        ("doing nothing", anchors.motionless), ("null policy", anchors.null), ("floor", anchors.floor),
    ]  # fmt: skip
    gap = anchors.ceiling.value - anchors.floor.value
    rows = []
    for name, one in named:
        if one is None:
            continue
        half = Z95 * one.se if one.n and one.se else math.nan
        value = interval(one.value, (one.value - half, one.value + half))
        words = f"{one.policy}; {one.provenance}" if isinstance(one, BlindPolicy) else one.provenance
        rows.append([name, value, f"{(one.value - anchors.floor.value) / gap:z.3f}", str(one.n or "–"), words])
    return rows
