"""Entries of a board, made from a published submission: many of them, and some with names that try to be markup."""

import math
from dataclasses import replace
from pathlib import Path

from nematodebench.board.collect import listing_of
from nematodebench.submissions.store import load_submission

ROOT = Path(__file__).resolve().parents[2]
HOSTILE = "<img src=x onerror=alert(1)>\"'</script><script>alert(2)</script>"
TASKS = ("foraging_small-v2", "predator_small-v2", "wall-v2", "association-v2", "navigation-v2", "gridworld-v2")


def entries(count):
    """So many listings over several tasks, with hostile contributors, brains and configs among them."""
    made = load_submission(ROOT / "benchmarks/foraging_small/classical/20261116_152628.json")
    base = listing_of(made, "benchmarks/foraging_small/classical/20261116_152628.json")
    return [_entry(base, k) for k in range(count)]


def _entry(base, k):
    made, task = base.submission, TASKS[k % len(TASKS)]
    score, brain = 0.1 + 0.8 * math.sin(k * 12.9898) ** 2, f"brain_{k:04d}"
    hostile = k % 7 == 3
    found = replace(made.metrics.composite_score, mean=score, ci95=(score - 0.01, score + 0.01))
    environment = made.environment.model_copy(update={"task": task})
    submission = made.model_copy(
        update={
            "submission_id": f"entry_{k:04d}", "brain_type": HOSTILE if hostile else brain, "environment": environment,
            "contributor": HOSTILE if hostile else f"Person {k % 9}", "notes": HOSTILE if hostile else "",
            "metrics": made.metrics.model_copy(update={"composite_score": found}),
            "brain_config": {HOSTILE: HOSTILE} if hostile else made.brain_config,
        }
    )  # fmt: skip
    entry = replace(
        base.entry, id=f"entry_{k:04d}", brain=brain, task=task, mean=score, ci95=(score - 0.01, score + 0.01),
        brain_class=("classical", "spiking", "reservoir")[k % 3], date=f"202611{1 + k % 20:02d}_120000", place=k,
    )  # fmt: skip
    return replace(base, entry=entry, submission=submission)
