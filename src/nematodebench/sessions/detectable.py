"""What a plan can find out before it is run: the smallest difference between two brains that it would detect."""

import math
from dataclasses import dataclass

from nematodebench.sessions.plan import Plan
from nematodebench.stats import detectable_difference
from nematodebench.tasks.anchoring import TaskAnchors, load_anchors

__all__ = ["Detectable", "detectable"]

_WIDEST = 0.5
"""The standard deviation of runs of which half score 0 and half score 1: no score from 0 to 1 spreads more."""


@dataclass(frozen=True)
class Detectable:
    """The smallest difference of two brains that a plan detects with 80 % power.

    Attributes:
        difference: In units of the score; nan for a single run.
        normalised: As a share of the gap from floor to ceiling; None without anchors.
        std: What runs of one brain are assumed to spread.
        source: Where that comes from.
        at_worst: The difference that would be detected if half of the runs failed: learners may spread more.
    """

    difference: float
    normalised: float | None
    std: float
    source: str
    at_worst: float

    def __str__(self) -> str:
        if math.isnan(self.difference):
            return "none: one run has no spread"
        share = "" if self.normalised is None else f" ({self.normalised:.3f} normalised)"
        spread = f"if runs have std {self.std:.4f}: {self.source}"
        worst = f"{self.at_worst:.3f} if half of the runs fail"
        return f"{self.difference:.4f}{share} between two brains with 80 % power, {spread}; {worst}"


def detectable(plan: Plan) -> Detectable | None:
    """What the plan detects between two brains on the same seeds; None for a task without a score.

    The spread is assumed, because nothing has run yet: the largest of what was measured of the task's null policy,
    blind policy and reference. The runs of two brains are taken as independent, though they share their seeds.
    """
    if not plan.task.scoring.has_score:
        return None
    anchors = load_anchors(plan.task)
    std, source = _spread(anchors)
    found = detectable_difference(math.sqrt(2) * std, plan.runs)
    gap = None if anchors is None else anchors.ceiling.value - anchors.floor.value
    worst = detectable_difference(math.sqrt(2) * _WIDEST * (gap or 1.0), plan.runs)
    return Detectable(found, None if gap is None else found / gap, std, source, worst)


def _spread(anchors: TaskAnchors | None) -> tuple[float, str]:
    known = {} if anchors is None else {
        "the floor": anchors.floor, "the null policy": anchors.null, "the blind policy": anchors.blind,
        "the reference": anchors.reference,
    }  # fmt: skip
    spreads = {name: one.se * math.sqrt(one.n) for name, one in known.items() if one is not None and one.n}
    if not spreads or max(spreads.values()) == 0.0:
        return _WIDEST, "the widest a score from 0 to 1 can have, nothing was measured"
    name = max(spreads, key=spreads.__getitem__)
    return spreads[name], f"measured of {name}, the widest of the task's anchors"
