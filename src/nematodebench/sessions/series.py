"""Several sessions of one command, which go on under one id: those that have ended are read, the others executed."""

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from nematodebench.errors import UsageError
from nematodebench.records.checkpoint import Checkpoint, read_checkpoint
from nematodebench.records.store import ExperimentStore, load_experiment
from nematodebench.sessions.begun import refuse_changes
from nematodebench.sessions.execution import new_experiment_id
from nematodebench.sessions.kept import plan_of_record, plan_record
from nematodebench.sessions.loading import load_session
from nematodebench.sessions.plan import Plan
from nematodebench.sessions.session import Session
from nematodebench.sessions.unfinished import FOLDER, Unfinished, begin, find, go_on

__all__ = ["Part", "is_series", "resume_series", "run_series"]

Part = Callable[[Plan, str, bool], Session]
"""Executes the session of a plan under a name, or (True) goes on with it."""

_COMMAND = "run"
_START = "start.safetensors"


def run_series(plans: Sequence[Plan], root: Path, part: Part) -> list[Session]:
    """Executes and stores several sessions of one command."""
    names: list[str] = []
    for plan in plans:
        names.append(_free_name(plan, root, names))
    asked = {"sessions": names, "plans": [{**plan_record(plan), "text": plan.config_text} for plan in plans]}
    start = plans[0].start
    files = {} if start is None else {_START: start.content}
    with begin(root, _COMMAND, asked, plans[0], files):
        return _execute(plans, names, root, part)


def _free_name(plan: Plan, root: Path, taken: Sequence[str]) -> str:
    """A name that no session has: where one of the same second has it, the next one is counted."""
    name, count = new_experiment_id(plan), 1
    found = name
    while found in taken or (root / found).exists():
        count += 1
        found = f"{name}_{count}"
    return found


def is_series(root: Path, name: str) -> bool:
    """Whether an id is that of a command with several sessions."""
    return (root / FOLDER / name).is_dir()


def resume_series(name: str, root: Path, workers: int | None, part: Part) -> list[Session]:
    """Goes on with a command of several sessions."""
    work = find(root, name, _COMMAND)
    with go_on(work):
        try:
            names, records = [str(one) for one in work.asked["sessions"]], work.asked["plans"]
            start = _start(work, records[0].get("continued_from"))
            plans = [plan_of_record(record, record["text"], start, workers) for record in records]
        except (KeyError, TypeError, IndexError, AttributeError, ValidationError) as error:
            raise UsageError(f"{work.folder} is damaged: the command cannot go on. Start it anew.") from error
        for plan, record in zip(plans, records, strict=True):
            refuse_changes(name, record.get("begun_with"), plan)
        return _execute(plans, names, root, part)


def _start(work: Unfinished, wanted: Any) -> Checkpoint | None:
    if wanted is None:
        return None
    saved = read_checkpoint(work.folder / _START)
    if saved.sha256 != wanted:
        raise UsageError(f"{work.folder / _START} is another brain than the one that {work.name} was begun with.")
    return saved


def _execute(plans: Sequence[Plan], names: Sequence[str], root: Path, part: Part) -> list[Session]:
    return [_session(plan, ExperimentStore(root, name), part) for plan, name in zip(plans, names, strict=True)]


def _session(plan: Plan, store: ExperimentStore, part: Part) -> Session:
    if not store.complete:
        return part(plan, store.id, store.plan_path.is_file())
    with contextlib.suppress(OSError):
        store.clean()  # a kill may have come between the last write and the cleaning
    record = load_experiment(store.folder)
    return replace(load_session(store.folder, trust_code=True), stored=record)
