"""Executes sessions: every run is stored as it ends, and a session that was stopped goes on where it was."""

import contextlib
import datetime
import hashlib
import time
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from pydantic import ValidationError

from nematodebench.brains.registry import name_of
from nematodebench.callbacks.base import Callback
from nematodebench.edits import changed_data, one_state, refuse_edits
from nematodebench.engine.compiling import fill_cache
from nematodebench.engine.executors import execute_all
from nematodebench.engine.interpreted import refuse_wrong_index
from nematodebench.engine.isolation.host import Foreign
from nematodebench.engine.run import compile_for
from nematodebench.engine.seeds import session_seed
from nematodebench.engine.spec import Keeping
from nematodebench.engine.trained import TrainedBrain
from nematodebench.errors import CallbackError, EditedError, Interrupted, StorageError, UsageError
from nematodebench.imports import refuse_while_importing
from nematodebench.notices import tell
from nematodebench.records.checkpoint import Checkpoint, read_checkpoint
from nematodebench.records.run_files import RunFiles
from nematodebench.records.runs import RunResult
from nematodebench.records.store import EXPERIMENTS, ExperimentStore, clean_root, resume_line
from nematodebench.sessions.audience import LAST_EPISODES, Audience, wants_steps
from nematodebench.sessions.begun import refuse_changes, remember_sources
from nematodebench.sessions.config import session_config
from nematodebench.sessions.kept import kept_runs, plan_of_record, plan_record
from nematodebench.sessions.plan import Plan, make_plan, resized
from nematodebench.sessions.progress import Progress
from nematodebench.sessions.session import Session
from nematodebench.sessions.twins import twin_plan

__all__ = ["LAST_EPISODES", "Progress", "extend", "new_experiment_id", "resume", "run", "run_plan"]


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def new_experiment_id(plan: Plan) -> str:
    """Makes an id of time, seed and content. Ids sort by time and differ between sessions of the same second."""
    what = hashlib.sha256(f"{plan.task.spec_hash}{plan.brain_name}{plan.config_text}".encode()).hexdigest()
    return f"{datetime.datetime.now(datetime.UTC):%Y%m%d_%H%M%S}_{plan.seed:08x}_{what[:6]}"


@one_state()
def run_plan(
    plan: Plan,
    *,
    root: Path | None = None,
    progress: Progress | None = None,
    experiment_id: str | None = None,
    callbacks: Sequence[Callback] = (),
    runs: RunFiles | None = None,
) -> Session:
    """Executes a plan.

    Args:
        plan: What is executed.
        root: Where the session is stored, every run as it ends; None for nowhere.
        progress: Is kept up to date.
        experiment_id: Its name; a new one if not given.
        callbacks: Who is told.
        runs: Where runs are kept as they end, for a session that is part of something else; those that are there
            already are not executed again.
    """
    refuse_while_importing("runs a session")
    remember_sources(plan)
    refuse_edits()
    shown = progress or Progress()
    audience = Audience(plan, callbacks, shown.current)
    if root is None:
        return _execute(plan, _Place(experiment_id or new_experiment_id(plan), _now(), runs), shown, audience)
    with _begun(plan, root, experiment_id) as store:
        return _execute(_keeping_in(store, plan), _Place.of(store, _now()), shown, audience)


@contextlib.contextmanager
def _begun(plan: Plan, root: Path, experiment_id: str | None) -> Iterator[ExperimentStore]:
    """Begins a session that is stored, under a name that no other session has."""
    with contextlib.ExitStack() as begun:
        while True:
            store = ExperimentStore(root, experiment_id or new_experiment_id(plan))
            what = _plan_record(plan, store.id), plan.config_name, plan.config_text, plan.start
            begun.enter_context(_storage(store))
            try:
                begun.enter_context(store.begun(*what))
            except FileExistsError as error:
                if experiment_id is not None:
                    raise UsageError(f"There is a session {experiment_id} already in {root}.") from error
                time.sleep(0.1)  # another session of the same second has this name
                continue
            break
        yield store


@one_state()
def resume(
    experiment_id: str,
    root: Path = EXPERIMENTS,
    progress: Progress | None = None,
    workers: int | None = None,
    foreign: Foreign | None = None,
    callbacks: Sequence[Callback] = (),
) -> Session:
    """Continues a killed or interrupted session from its finished runs, which callbacks are told of first."""
    store = ExperimentStore(root, experiment_id)
    clean_root(root)
    _refuse_complete(store)
    record = store.plan()
    with _storage(store), store.held():
        _refuse_complete(store)  # another process may have ended it meanwhile
        plan = _keeping_in(store, _plan_again(store, record, workers, foreign))
        refuse_changes(f"Session {experiment_id}", record["begun_with"], plan)
        shown = progress or Progress()
        audience = Audience(plan, callbacks, shown.current)
        return _execute(plan, _Place.of(store, record["created"]), shown, audience)


def _refuse_complete(store: ExperimentStore) -> None:
    if store.complete:
        store.clean()  # a kill may have come between the last write and the cleaning
        raise UsageError(f"Session {store.id} is complete. `nematodebench report {store.folder}` shows it.")


def _plan_again(store: ExperimentStore, record: dict[str, Any], workers: int | None, foreign: Foreign | None) -> Plan:
    try:
        text = (store.folder / record["config_name"]).read_text()
        return plan_of_record(record, text, _kept_start(store, record), workers, foreign)
    except (OSError, KeyError, TypeError, ValidationError, UnicodeDecodeError) as error:
        raise UsageError(f"{store.plan_path} is damaged: the session cannot go on. Start it anew.") from error


def _kept_start(store: ExperimentStore, record: dict[str, Any]) -> Checkpoint | None:
    if record.get("continued_from") is None:
        return None
    saved = read_checkpoint(store.start_path)
    if saved.sha256 != record["continued_from"]:
        raise UsageError(f"{store.start_path} is another brain than the one that {store.id} was begun with.")
    return saved


def _plan_record(plan: Plan, experiment_id: str) -> dict[str, Any]:
    return {"experiment_id": experiment_id, "created": _now(), **plan_record(plan)}


def _keeping_in(store: ExperimentStore, plan: Plan) -> Plan:
    """The plan of a session that is stored: now it is known where brains are kept."""
    if not plan.checkpoint:
        return plan
    return replace(plan, keeping=Keeping(store.checkpoints.absolute(), plan.checkpoint))


@contextlib.contextmanager
def _storage(store: ExperimentStore) -> Iterator[None]:
    """Turns a failed write into an error of one line that says how to go on."""
    try:
        yield
    except OSError as error:
        way_on = resume_line(store.id, store.folder.parent)
        hint = f" Make room, then: {way_on}" if store.plan_path.is_file() else ""
        raise StorageError(f"Cannot write to {store.folder}: {error.strerror or error}.{hint}") from error


@dataclass(frozen=True)
class _Place:
    """Under which name a session goes on, since when, and where its runs are kept; without a store it is not stored."""

    experiment_id: str
    created: str
    runs: RunFiles | None = None
    store: ExperimentStore | None = None

    @classmethod
    def of(cls, store: ExperimentStore, created: str) -> "_Place":
        return cls(store.id, created, store.runs, store)

    @property
    def way_on(self) -> str:
        return "" if self.store is None else resume_line(self.store.id, self.store.folder.parent)


def _execute(plan: Plan, place: _Place, progress: Progress, audience: Audience) -> Session:
    results: list[RunResult] = []

    def session() -> Session:
        ordered = sorted(results, key=lambda result: result.index)
        seconds = max(0.0, time.perf_counter() - progress.started)  # clocks of moved machines have run backwards
        return Session(plan, ordered, place.created, _now(), seconds, place.experiment_id)

    try:
        _compile(plan)
        kept = {} if place.runs is None else kept_runs(plan.specs(), place.runs, progress.damaged)
        results += kept.values()
        progress.begin(plan.runs, results)
        with audience.until_the_end():
            audience.start(place.experiment_id)
            for result in list(results):
                audience.ended(result)
            for result in _further_runs(plan, kept, progress, audience):
                refuse_edits(loaded=False)  # the run may have imported what was edited while it went on
                results.append(result)
                if place.runs is not None:
                    place.runs.write(result)
                audience.ended(result)
        for name in changed_data():
            tell(f"{name} was written while runs that may read it were executed: they may differ from one another.")
        complete = session()
        if place.store is not None:
            complete.store(place.store)
    except KeyboardInterrupt as stop:
        raise Interrupted(place.way_on) from stop
    except EditedError as error:
        if place.way_on:
            error.args = (f"{error} To go on then: {place.way_on}",)
        raise
    except CallbackError as error:
        error.session = session()
        if place.store is not None:
            error.args = (f"{error} Nothing is lost: {place.way_on}",)
        raise
    return complete


def _compile(plan: Plan) -> None:
    refuse_wrong_index(plan.task, plan.brain_name, plan.brain, plan.config)
    if plan.executor == "threads":
        compile_for(plan.task, plan.brain)
    elif plan.executor == "processes":
        fill_cache(plan.task, plan.brain)  # here, not in every worker at once


def _further_runs(plan: Plan, kept: Container[int], progress: Progress, audience: Audience) -> Iterator[RunResult]:
    """Executes the runs of a plan that are not there yet."""
    todo = [spec for spec in plan.specs() if spec.index not in kept]
    audience.watch(progress.watch, progress.shown)
    for result in execute_all(todo, plan.executor, plan.workers, progress.watch):
        progress.ended(result)
        yield result


@one_state()
def extend(session: Session, runs: int, progress: Progress | None = None) -> Session:
    """The same session with more runs: it keeps those it has, and the further ones are executed."""
    shown, plan = progress or Progress(), resized(session.plan, runs, session.plan.seed)
    remember_sources(plan)
    results = list(session.results)
    shown.begin(runs, results)
    audience = Audience(plan, (), shown.current)
    try:
        for result in _further_runs(plan, {result.index for result in results}, shown, audience):
            results.append(result)
            audience.ended(result)
    except KeyboardInterrupt as stop:
        raise Interrupted from stop
    results.sort(key=lambda result: result.index)
    seconds = session.wall_seconds + max(0.0, time.perf_counter() - shown.started)
    return Session(plan, results, session.created, _now(), seconds, session.experiment_id)


@one_state()
def run(
    task: str,
    brain: str | type[Any] | TrainedBrain,
    runs: int = 50,
    episodes: int | None = None,
    seed: int | None = None,
    config: dict[str, Any] | None = None,
    workers: int | None = None,
    learning: bool = True,
    checkpoint: int = 0,
    callbacks: Sequence[Callback] = (),
    timeout: float | None = None,
) -> Session:
    """Trains ``runs`` fresh brains on a task and measures them.

    Args:
        task: Id of the task, like ``foraging_small-v1``.
        brain: Name of the brain, ``module:Class``, ``path/to/file.py:Class``, or the class itself; or a brain
            that was saved (:func:`nematodebench.load_brain`) or left by a run: then every run begins with it.
        runs: Independent training runs.
        episodes: Episodes a run, if not the task's own number.
        seed: Session seed; a fresh one if not given.
        config: Parameters of the brain; one that it does not declare is an error.
        workers: Runs at a time; all cores if not given.
        learning: False for the brain's twin: the same seeds, and ``learn`` is never called.
        checkpoint: Every so many episodes, and at the end, the brain of each run is kept under ``experiments/<id>/``,
            where the session is stored then too.
        callbacks: Who is told what happens while the session runs (:mod:`nematodebench.callbacks`).
        timeout: Seconds that a run may take; one that takes longer has failed, and the others go on.
    """
    if not isinstance(task, str):
        raise UsageError("The task comes first, by its id: nb.run('foraging_small-v2', MyBrain).")
    if isinstance(runs, int) and runs < 1:
        raise UsageError(f"runs is {runs}: give at least 1")
    if not isinstance(config, Mapping | None):
        raise UsageError(f"config is {config!r}: give the parameters as a dictionary, like {{'learning_rate': 0.01}}.")
    if seed is not None:
        session_seed(seed)
    start = brain.checkpoint() if isinstance(brain, TrainedBrain) else None
    name = start.header.brain if start is not None else name_of(cast("Any", brain))
    parameters = {**({} if start is None else start.header.config), **(config or {})}
    values = {"task": task, "brain": name, "config": parameters, "runs": runs, "episodes": episodes, "seed": seed}
    given = session_config(values)
    if wants_steps(callbacks):  # they are told in this process
        workers, executor = workers or 1, "threads"
    else:
        executor = None
    plan = make_plan(given, workers=workers, executor=executor, start=start, checkpoint=checkpoint, limit=timeout)
    root = EXPERIMENTS if checkpoint else None
    return run_plan(plan if learning else twin_plan(plan), root=root, callbacks=callbacks)
