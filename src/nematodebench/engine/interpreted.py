"""A compiled brain from outside is tried in the interpreter before its machine code is used.

Compiled code checks no bounds: a wrong index reads or writes what lies beside an array, and nothing tells. The same
source in the interpreter says which field it is, in which line. It is a thousand times as slow, so the trial is short.
"""

import json
import os
import pickle
import signal
import subprocess
import sys
from dataclasses import replace
from typing import Any

from nematodebench.brains.registry import BrainType, is_built_in, is_compiled
from nematodebench.engine.isolation.host import Foreign
from nematodebench.engine.run import RunSpec, execute
from nematodebench.engine.seeds import run_seed
from nematodebench.errors import UsageError
from nematodebench.kernels.abi import BRAIN
from nematodebench.kernels.jit import INTERPRETED, is_ready
from nematodebench.notices import tell
from nematodebench.tasks.base import Task

__all__ = ["answer", "refuse_wrong_index", "wrong_index"]

_TICKS = 400
"""Steps of the trial in every phase, if there is time for them."""
_SECONDS = 1.0
"""Processor time of the trial before a session; what is compiled afterwards takes several seconds."""


def refuse_wrong_index(task: Task, name: str, brain: BrainType | Foreign, config: Any) -> None:
    """Tries a compiled brain from outside of which some function has no machine code yet."""
    if INTERPRETED or isinstance(brain, Foreign) or not is_compiled(brain) or is_built_in(name):
        return
    if all(is_ready(part, BRAIN) for part in (brain.init, brain.begin_episode, brain.act, brain.learn)):
        return
    if wrong := wrong_index(task, name, brain, config, _SECONDS):
        raise UsageError(f"Brain {name!r} uses a wrong index, which compiled code would not notice. {wrong}.")


def wrong_index(task: Task, name: str, brain: BrainType, config: Any, seconds: float) -> str | None:
    """What the interpreter says of a wrong index in the first steps of a run.

    It is empty where every index is right, and None where the brain could not be tried.

    Args:
        task: The task of the run.
        name: The brain's name.
        brain: The brain.
        config: Its config.
        seconds: Processor time that the steps may take.
    """
    phases = tuple(replace(phase, episodes=0, ticks=_TICKS) for phase in task.phases)
    try:
        given = pickle.dumps((RunSpec(replace(task, phases=phases), name, brain, config, run_seed(0, 0)), seconds))
    except (pickle.PicklingError, AttributeError, TypeError):  # a class inside a function or a script
        return None
    tell(f"trying {name} in the interpreter, where a wrong index is found")
    command = [sys.executable, "-P", "-c", f"from {__name__} import answer; answer()"]
    environment = {
        **os.environ, "PYTHONPATH": os.pathsep.join(place for place in sys.path if place), "NUMBA_DISABLE_JIT": "1",
    }  # fmt: skip
    done = subprocess.run(command, input=given, capture_output=True, env=environment, check=False)
    told = done.stdout.decode(errors="replace").strip().splitlines()
    return str(json.loads(told[-1])) if done.returncode == 0 and told else None


def answer() -> None:
    """What the other process does: it is given a run, and writes what is wrong with an index in it."""
    spec, seconds = pickle.loads(sys.stdin.buffer.read())
    told, sys.stdout = sys.stdout, sys.stderr  # whatever the brain prints is not the answer
    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGPROF, _enough)
        signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        failure = execute(spec).failure
    except KeyboardInterrupt:
        failure = None
    wrong = "" if failure is None or not failure.message.startswith("IndexError") else failure.message
    told.write(json.dumps(wrong) + "\n")


def _enough(_number: int, _frame: object) -> None:
    raise KeyboardInterrupt
