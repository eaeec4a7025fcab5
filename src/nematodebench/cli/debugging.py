"""``run --debug``: one run in the foreground, with the debugger where the brain fails."""

import os
import pdb
import subprocess
import sys
import traceback
from collections.abc import Sequence

from nematodebench.brains.registry import is_built_in, is_compiled
from nematodebench.cli.show import printable
from nematodebench.engine.isolation.host import Foreign
from nematodebench.engine.run import compile_for, execute
from nematodebench.kernels.jit import INTERPRETED
from nematodebench.sessions.plan import Plan

__all__ = ["debug"]


def debug(plans: Sequence[Plan]) -> bool:
    """Executes the first run of every plan in this process; returns whether none failed.

    ``breakpoint()`` in a brain works, because nothing else runs. An error opens the debugger at the brain's last line.
    A compiled brain from outside runs in the interpreter, where the debugger can stand in it.
    """
    if not INTERPRETED and any(_is_compiled_outside(plan) for plan in plans):
        print("a compiled brain is debugged in the interpreter, which is slow; Ctrl-C ends it", file=sys.stderr)
        command = [sys.executable, "-m", "nematodebench", *sys.argv[1:]]
        return subprocess.call(command, env={**os.environ, "NUMBA_DISABLE_JIT": "1"}) == 0
    outcomes = [_debug_one(plan) for plan in plans]
    return all(outcomes)


def _is_compiled_outside(plan: Plan) -> bool:
    return not isinstance(plan.brain, Foreign) and is_compiled(plan.brain) and not is_built_in(plan.brain_name)


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
