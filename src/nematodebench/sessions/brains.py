"""Brains of sessions: those that runs have left, executed again or read from a checkpoint, and saved ones."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from nematodebench.brains.registry import canonical_name, get_brain, is_here, name_of
from nematodebench.engine.isolation.host import Foreign
from nematodebench.engine.run import compile_for
from nematodebench.engine.spec import RunSpec
from nematodebench.engine.trained import TrainedBrain, from_checkpoint, trained
from nematodebench.errors import UsageError
from nematodebench.records.checkpoint import Checkpoint, read_checkpoint
from nematodebench.records.runs import RunResult

__all__ = ["brain_of_run", "load_brain", "open_checkpoint"]


def load_brain(path: Path | str, brain: str | type[Any] | None = None) -> TrainedBrain:
    """A brain that was saved.

    Args:
        path: The file.
        brain: Name or class of the brain, if it is code from outside this package: a file names its brain, but no
            code is imported only because a file says so.
    """
    saved = open_checkpoint(path, brain)
    return from_checkpoint(saved, get_brain(saved.header.brain), str(path))


def open_checkpoint(path: Path | str, brain: str | type[Any] | None = None) -> Checkpoint:
    """A saved brain whose class can be had here under the name it says; one from outside has to be given."""
    saved = read_checkpoint(Path(path))
    if brain is not None:
        name, there = canonical_name(name_of(brain)), canonical_name(saved.header.brain)
        if name == there:
            return saved
        if _class_in(name) != _class_in(there):
            raise UsageError(f"{path} holds the brain {saved.header.brain!r}, not {name!r}.")
        return replace(saved, header=saved.header.model_copy(update={"brain": name}))
    name = saved.header.brain
    if not is_here(name):
        raise UsageError(
            f"{path} holds a brain from outside this package, {name!r}. Say that you trust it: "
            f"nb.load_brain({str(path)!r}, brain={name!r}), or give the class itself."
        )
    return saved


def _class_in(name: str) -> str:
    """The class that a name of a brain from outside ends with; other names are one word."""
    return re.split("[:.]", name)[-1]


def brain_of_run(spec: RunSpec, recorded: RunResult) -> TrainedBrain:
    """The brain that a run has left: from its last checkpoint if there is one, otherwise executed again."""
    if recorded.failure is not None:
        raise UsageError(f"Run {recorded.index} failed and has no brain: {recorded.failure.message}")
    if isinstance(spec.brain, Foreign):
        raise UsageError(f"Brain {spec.brain_name!r} runs in a sandbox, from which it cannot be had.")
    place = None if spec.keeping is None else spec.keeping.place(spec.index, None)
    if place is not None and place.is_file():
        saved = read_checkpoint(place)
        if saved.header.seed != spec.seed or not saved.header.final:
            raise UsageError(f"{place} is not the brain of run {spec.index}: it was put there by something else.")
        return from_checkpoint(saved, spec.brain, str(place))
    compile_for(spec.task, spec.brain)
    result, brain = trained(spec)
    if brain is None or result.record_hash != recorded.record_hash:
        raise UsageError(f"Run {spec.index} came out otherwise when it was executed again: its brain cannot be had.")
    return brain
