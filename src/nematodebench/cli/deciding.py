"""The work behind ``nematodebench run A B --until decided``: runs come in groups until one of two brains is ahead."""

from dataclasses import dataclass

from nematodebench.cli.comparison import comparison_row, smallest_effect
from nematodebench.cli.progress import show_progress
from nematodebench.cli.show import print_table
from nematodebench.errors import UsageError
from nematodebench.sessions.execution import Progress, extend, run_plan
from nematodebench.sessions.plan import Plan, resized
from nematodebench.sessions.scores import compare_scores, scores_of
from nematodebench.sessions.session import Session
from nematodebench.stats import SMALLEST_EFFECT, Comparison, Verdict
from nematodebench.stats.sequential import look_levels, look_sizes, sequential_verdict
from nematodebench.stats.verdicts import LEVEL

__all__ = ["MOST_RUNS", "Decision", "check_plans", "decide", "decision_data", "print_decision"]

MOST_RUNS = 500


@dataclass(frozen=True)
class Decision:
    """Two brains with as many runs as it took.

    Attributes:
        sessions: Both, with the same seeds.
        comparison: The first against the second.
        verdict: Undecided if the largest number of runs did not tell.
        looks: How often the data were looked at, and how often at most.
        level: The p-value that the last look needed.
    """

    sessions: list[Session]
    comparison: Comparison
    verdict: Verdict
    looks: tuple[int, int]
    level: float


def check_plans(plans: list[Plan], most: int) -> None:
    """Refuses what cannot be decided, before the first run."""
    if len(plans) != 2 or plans[0].task != plans[1].task:
        raise UsageError("--until decided compares two brains on one task: nematodebench run TASK A B --until decided.")
    if not plans[0].task.scoring.has_score:
        raise UsageError(f"{plans[0].task.id} has no score to decide by.")
    if most < 3:
        raise UsageError(f"--max-runs {most}: give at least 3, fewer decide nothing.")


def decide(plans: list[Plan], most: int, quiet: bool, smallest: float = SMALLEST_EFFECT) -> Decision:
    """Runs two brains on the same seeds, in groups, until the data decide or the runs are used up."""
    check_plans(plans, most)
    sizes = look_sizes(most)
    sessions: list[Session] = []
    for look, runs in enumerate(sizes):
        sessions = [
            _grown(resized(plan, runs, plans[0].seed), sessions[k] if sessions else None, quiet)
            for k, plan in enumerate(plans)
        ]
        sides = [
            scores_of(s.plan.task, {run.seed: dict(run.metrics) for run in s.runs if not run.failure}) for s in sessions
        ]
        if any(session.failed_runs for session in sessions) or not all(side.seeds for side in sides):
            raise UsageError(f"Runs of {plans[0].brain_name} or {plans[1].brain_name} failed: nothing can be decided.")
        found = compare_scores(*sides)
        effect = smallest_effect(sessions[0].metadata(), smallest)
        verdict = sequential_verdict(found, look, most, effect)
        if verdict.outcome != "undecided":
            break
    return Decision(sessions, found, verdict, (look + 1, len(sizes)), look_levels(most, LEVEL)[look])


def _grown(plan: Plan, session: Session | None, quiet: bool) -> Session:
    progress = Progress()
    with show_progress(progress, f"{plan.task.id} {plan.brain_name}", quiet):
        if session is None:
            return run_plan(plan, progress=progress)
        return extend(session, plan.runs, progress)


def decision_data(decision: Decision) -> dict[str, object]:
    """The verdict for machines, with the sessions that it rests on."""
    found, level, (looks, most) = decision.verdict, decision.level, decision.looks
    said = {"outcome": found.outcome, "reason": found.reason, "looks": looks, "looks_at_most": most, "level": level}
    records = [session.metadata().model_dump(mode="json") for session in decision.sessions]
    return {"verdict": said, "comparison": decision.comparison, "sessions": records}


def print_decision(decision: Decision) -> None:
    """Prints the verdict, and what it rests on."""
    first, second = (session.plan for session in decision.sessions)
    row, (looks, most) = comparison_row(decision.comparison, decision.verdict, None), decision.looks
    del row["p (Holm)"]
    print(f"A = {first.brain_name}, B = {second.brain_name}, look {looks} of at most {most}\n")
    print_table(list(row), [[str(value) for value in row.values()]])
    print(f"\nThis look needs p < {decision.level:.4f}: all looks together are wrong in at most 5 % of cases.")
