"""What a plan can find out before it is run: the smallest difference between two brains that it would detect."""

import json
import math
import statistics
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

from nematodebench.brains.registry import canonical_name, class_of
from nematodebench.sessions.plan import Plan
from nematodebench.stats import detectable_difference
from nematodebench.tasks.anchoring import TaskAnchors, load_anchors
from nematodebench.vocabulary import NEVER_LEARN

__all__ = ["SPREADS", "Detectable", "detectable"]

SPREADS = "spreads.json"
"""In the package of tasks: how much the runs of the built-in learners spread, written by scripts/results_page.py."""

_WIDEST = 0.5
"""The standard deviation of runs of which half score 0 and half score 1: no score from 0 to 1 spreads more."""


@dataclass(frozen=True)
class Detectable:
    """The smallest difference of two brains that a plan detects with 80 % power.

    Attributes:
        difference: In units of the score; nan for a single run.
        gap: From floor to ceiling: no two brains should differ by more. None without anchors.
        std: What runs of one brain are assumed to spread.
        source: Where that comes from.
        at_worst: The difference that would be detected if half of the runs failed: learners may spread more.
    """

    difference: float
    gap: float | None
    std: float
    source: str
    at_worst: float

    @property
    def normalised(self) -> float | None:
        """The difference as a share of the gap from floor to ceiling; None without anchors."""
        return None if self.gap is None else self.difference / self.gap

    def __str__(self) -> str:
        if math.isnan(self.difference):
            return "none: one run has no spread"
        share = "" if self.normalised is None else f" ({self.normalised:.3f} normalised)"
        found = "none" if self._is_too_large(self.difference) else f"{self.difference:.4f}{share}"
        worst = "none" if self._is_too_large(self.at_worst) else f"{self.at_worst:.3f}"
        spread = f"if runs have std {self.std:.4f}: {self.source}"
        return f"{found} between two brains with 80 % power, {spread}; {worst} if half of the runs fail"

    def _is_too_large(self, difference: float) -> bool:
        return self.gap is not None and difference > self.gap


def detectable(plan: Plan) -> Detectable | None:
    """What the plan detects between two brains on the same seeds; None for a task without a score.

    The spread is assumed, because nothing has run yet. A learner spreads as it did when docs/results.md was measured;
    one that was not measured is taken for the middle one of those that were, or for the task's widest anchor if that
    spreads more. The runs of two brains are taken as independent, though they share their seeds.
    """
    if not plan.task.scoring.has_score:
        return None
    anchors = load_anchors(plan.task)
    std, source = _spread(plan, anchors)
    found = detectable_difference(math.sqrt(2) * std, plan.runs)
    gap = None if anchors is None else anchors.ceiling.value - anchors.floor.value
    worst = detectable_difference(math.sqrt(2) * _WIDEST * (gap or 1.0), plan.runs)
    return Detectable(found, gap, std, source, worst)


def _spread(plan: Plan, anchors: TaskAnchors | None) -> tuple[float, str]:
    """The standard deviation that the runs of a plan may have, and where it comes from."""
    learners = _measured().get(plan.task.id, {}) if plan.task.official else {}
    name = canonical_name(plan.brain_name)
    if learners.get(name, 0.0) > 0.0:
        return learners[name], f"measured of {name} with its defaults"
    anchored = _anchored(anchors)
    middle = statistics.median(learners.values()) if learners and class_of(plan.brain) not in NEVER_LEARN else 0.0
    if middle > anchored[0]:
        return middle, f"the middle of {len(learners)} learners that were measured"
    if anchored[0] == 0.0:
        return _WIDEST, "the widest a score from 0 to 1 can have, nothing was measured"
    return anchored


def _anchored(anchors: TaskAnchors | None) -> tuple[float, str]:
    """The widest spread of what a task is calibrated with; 0 where nothing was."""
    known = {} if anchors is None else {
        "the floor": anchors.floor, "the null policy": anchors.null, "the blind policy": anchors.blind,
        "the reference": anchors.reference,
    }  # fmt: skip
    spreads = {name: one.se * math.sqrt(one.n) for name, one in known.items() if one is not None and one.n}
    if not spreads:
        return 0.0, ""
    name = max(spreads, key=spreads.__getitem__)
    return spreads[name], f"measured of {name}, the widest of the task's anchors"


@lru_cache(maxsize=1)
def _measured() -> dict[str, dict[str, float]]:
    """By task and learner: the standard deviation of its runs."""
    path = resources.files("nematodebench.tasks").joinpath(SPREADS)
    found: dict[str, dict[str, float]] = json.loads(path.read_text(encoding="utf-8"))
    return found
