"""The work behind ``nematodebench score``."""

from dataclasses import dataclass, replace
from pathlib import Path

from nematodebench.cli.sessions import execute_plan, print_plans, print_sessions
from nematodebench.engine.seeds import session_seed
from nematodebench.policies.score import ScoreOptions, score_plan

__all__ = ["ScoreRequest", "score_command"]


@dataclass(frozen=True, kw_only=True)
class ScoreRequest:
    """The options of ``score`` as they were given."""

    policies: list[str]
    task: str
    options: ScoreOptions
    track: bool
    output: Path
    dry_run: bool


def score_command(request: ScoreRequest, *, json: bool) -> bool:
    """Scores policies and prints them; returns whether no run failed."""
    # Policies that are scored together meet the same worlds.
    options = replace(request.options, seed=session_seed(request.options.seed))
    plans = [score_plan(policy, request.task, options) for policy in request.policies]
    if request.dry_run:
        print_plans(plans, json=json)
        return True
    root = request.output if request.track else None
    done = [execute_plan(plan, root, quiet=json) for plan in plans]
    print_sessions(done, json=json, root=root)
    return not any(session.failed_runs for session in done)
