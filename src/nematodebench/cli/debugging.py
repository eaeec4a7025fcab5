"""``run --debug``: one run in the foreground, with the debugger where the brain fails."""

import pdb
import sys
import traceback
from collections.abc import Sequence

from nematodebench.cli.show import printable
from nematodebench.engine.run import compile_for, execute
from nematodebench.sessions.plan import Plan

__all__ = ["debug"]


def debug(plans: Sequence[Plan]) -> bool:
    """Executes the first run of every plan in this process; returns whether none failed.

    ``breakpoint()`` in a brain works, because nothing else runs. An error opens the debugger at the brain's last line.
    """
    outcomes = [_debug_one(plan) for plan in plans]
    return all(outcomes)


def _debug_one(plan: Plan) -> bool:
    spec = plan.specs()[0]
    print(printable(f"{plan.task.id} {plan.brain_name}: run 0, seed {spec.seed}, nothing is stored"), file=sys.stderr)
    compile_for(spec.task, spec.brain)
    try:
        result = execute(spec, raising=True)
    except Exception as error:
        print(_lines(error), file=sys.stderr)
        pdb.post_mortem(error.__traceback__)
        return False
    if result.failure is not None:
        print(printable(f"run 0 FAILED: {result.failure.message}"), file=sys.stderr)
        return False
    print(f"run 0 ended after {result.steps:,} steps")
    return True


def _lines(error: BaseException) -> str:
    """The traceback, every line of which a terminal may show."""
    return "\n".join(map(printable, "".join(traceback.format_exception(error)).splitlines()))
