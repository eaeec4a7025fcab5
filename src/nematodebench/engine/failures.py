"""What is said of a run that failed: the place in the brain's code, episode and step, and what is legal."""

import traceback
from dataclasses import fields
from pathlib import Path
from types import TracebackType

import numpy as np
from numpy.typing import NDArray

from nematodebench.engine.transition import Transition
from nematodebench.errors import said
from nematodebench.imports import written_by_user
from nematodebench.records.runs import RunFailure

__all__ = ["crash", "illegal_action"]

_ENGINE = Path(__file__).parent
_CALLS = _ENGINE / "python_brain.py"
"""Where brains are called, and where their answers are looked at."""


def crash(error: BaseException, phase: str, episode: int | None, step: int | None) -> RunFailure:
    """The failure of a run whose brain raised an error; episode and step are None where it was not built yet."""
    own = _brains_part(error.__traceback__)
    frames = [frame for frame in traceback.extract_tb(own) if not _is_from_library(frame.filename)]
    last = written_by_user(own) or (frames[-1] if frames else None)
    place = "" if last is None else f" ({Path(last.filename).name}, line {last.lineno}, in {last.name})"
    when = "while the brain was built" if episode is None else f"at episode {episode}, step {step} of phase {phase!r}"
    if own is None and _is_raised_by_call(error.__traceback__):
        text = ""
    else:
        text = "".join(traceback.format_exception(type(error), error, own or error.__traceback__))
    told = f"{type(error).__name__}: {said(error)}{_known_names(error)}"
    return RunFailure(f"{told}{place} {when}", phase, episode, step, text)


def _known_names(error: BaseException) -> str:
    """What a transition has, for a brain that asked it for something else."""
    asked = isinstance(error, AttributeError) and isinstance(error.obj, Transition)
    return f" (it has {', '.join(field.name for field in fields(Transition))})" if asked else ""


def _is_raised_by_call(trace: TracebackType | None) -> bool:
    """Whether an error is raised by the call of a brain, or by a look at its answer: our frames explain nothing."""
    frames = traceback.extract_tb(trace)
    return bool(frames) and Path(frames[-1].filename) == _CALLS


def _brains_part(trace: TracebackType | None) -> TracebackType | None:
    """The frames below the last one of the engine: those of the brain and of what it calls."""
    own = trace
    while trace is not None:
        if Path(trace.tb_frame.f_code.co_filename).is_relative_to(_ENGINE):
            own = trace.tb_next
        trace = trace.tb_next
    return own


def _is_from_library(file: str) -> bool:
    """Whether a frame is a library's; where all are, the place is left out."""
    return "site-packages" in file or file.startswith("<") or Path(file).is_relative_to(_ENGINE.parent)


def illegal_action(action: NDArray[np.float32], choices: int) -> str:
    """Says what the brain returned and what is legal."""
    what = "NaN" if np.isnan(action).any() else "an illegal action"
    rows = [row[:1] if choices else row for row in action]
    given = next((row for row in rows if not _legal(row, choices)), rows[0])
    shown = ", ".join(f"{value:g}" for value in given[:8]) + (", ..." if given.size > 8 else "")
    legal = f"a whole number from 0 to {choices - 1}" if choices else "every effector in [0, 1]"
    return f"the brain returned {what} ({shown}; legal is {legal})"


def _legal(row: NDArray[np.float32], choices: int) -> bool:
    return bool(row[0] in range(choices)) if choices else bool(((row >= 0) & (row <= 1)).all())
