"""Executes sessions: every run is stored as it ends, and a session that was stopped goes on where it was."""

import datetime
import hashlib
import time
from collections.abc import Collection, Container, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from nematodebench.brains.registry import name_of
from nematodebench.callbacks.base import Callback
from nematodebench.engine.compiling import fill_cache
from nematodebench.engine.executors import execute_all
from nematodebench.engine.isolation.host import Foreign
from nematodebench.engine.run import compile_for, record_hash
from nematodebench.engine.seeds import session_seed
from nematodebench.engine.spec import Keeping
from nematodebench.engine.trained import TrainedBrain
from nematodebench.engine.watching import Watch
from nematodebench.errors import CallbackError, Interrupted, StorageError, UsageError
from nematodebench.records.checkpoint import Checkpoint, read_checkpoint
from nematodebench.records.runs import RunResult
from nematodebench.records.store import ExperimentStore
from nematodebench.sessions.audience import LAST_EPISODES, Audience, Recent, wants_steps
from nematodebench.sessions.begun import begun_with, changed_since
from nematodebench.sessions.config import SessionConfig
from nematodebench.sessions.plan import Plan, make_plan, resized, session_config
from nematodebench.sessions.session import EXPERIMENTS, Session
from nematodebench.sessions.twins import twin_plan

__all__ = ["LAST_EPISODES", "Progress", "extend", "resume", "run", "run_plan"]


@dataclass
class Progress:
    """How far a session has come. The engine writes it, and whoever shows the session reads it."""

    total: int = 0
    done: int = 0
    failed: int = 0
    damaged: list[str] = field(default_factory=list)
    started: float = field(default_factory=time.perf_counter)
    watch: Watch = field(default_factory=Watch)
    shown: bool = False
    """Whether anybody shows it: otherwise nobody looks at runs that go on."""
    kept: int = 0
    """Runs that were finished before it began."""
    current: dict[int, Recent] = field(default_factory=dict)
    """The last episodes of every run that goes on."""

    def begin(self, total: int, results: Collection[RunResult]) -> None:
        """The runs begin; some of them may be finished already."""
        self.watch = Watch()
        self.current.clear()
        self.total, self.done = total, len(results)
        self.failed, self.kept = sum(result.failure is not None for result in results), len(results)
        self.started = time.perf_counter()

    def ended(self, result: RunResult) -> None:
        """A run has ended."""
        self.done += 1
        self.failed += result.failure is not None

    def steps_per_second(self) -> float:
        """Steps a second since the start; on a cluster, those of runs that have ended."""
        return self.watch.steps() / max(1e-9, time.perf_counter() - self.started)

    def under_way(self) -> float:
        """What the runs that go on have done, in runs."""
        return sum(run.share for run in list(self.current.values()))

    def seconds_left(self) -> float | None:
        """How long it will still take at the pace so far; None as long as nothing is done."""
        made = self.done - self.kept + self.under_way()
        left = self.total - self.kept - made
        return (time.perf_counter() - self.started) / made * left if made else None


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def new_experiment_id(plan: Plan) -> str:
    """Makes an id of time, seed and content. Ids sort by time and differ between sessions of the same second."""
    what = hashlib.sha256(f"{plan.task.spec_hash}{plan.brain_name}{plan.config_text}".encode()).hexdigest()
    return f"{datetime.datetime.now(datetime.UTC):%Y%m%d_%H%M%S}_{plan.seed:08x}_{what[:6]}"


def run_plan(
    plan: Plan,
    *,
    root: Path | None = None,
    progress: Progress | None = None,
    experiment_id: str | None = None,
    callbacks: Sequence[Callback] = (),
) -> Session:
    """Executes a plan; with ``root`` every run is stored as it ends, under an id of its own if none is given."""
    named = experiment_id is not None
    experiment_id = experiment_id or new_experiment_id(plan)
    shown = progress or Progress()
    audience = Audience(plan, callbacks, shown.current)
    if root is None:
        return _execute(plan, experiment_id, _now(), None, shown, audience)
    store = ExperimentStore(root, experiment_id)
    with _storage(store):
        while not store.claim() and not named:  # another session of the same second has this name
            time.sleep(0.1)
            store = ExperimentStore(root, new_experiment_id(plan))
    plan = _keeping_in(store, plan)
    with _storage(store), store.held():
        store.create(_plan_record(plan, store.id), plan.config_name, plan.config_text, plan.start)
        return _execute(plan, store.id, _now(), store, shown, audience)


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
    if store.complete:
        store.clean()  # a kill may have come between the last write and the cleaning
        raise UsageError(f"Session {experiment_id} is complete. `nematodebench report {store.folder}` shows it.")
    record = store.plan()
    with _storage(store), store.held():
        text = (store.folder / record["config_name"]).read_text()
        given = SessionConfig(**record["session"])
        plan = make_plan(
            given, workers=workers or record["workers"], executor=record["executor"],
            config_name=record["config_name"], text=text, foreign=foreign, checkpoint=record.get("checkpoint", 0),
            start=_kept_start(store, record), limit=record.get("limit"),
        )  # fmt: skip
        changed = changed_since(record["begun_with"], plan)
        if changed:
            raise UsageError(
                f"Session {experiment_id} was begun with something else: {', '.join(changed)} changed since. Runs of "
                "two states must not be mixed: put it back as it was, or start anew."
            )
        plan = _keeping_in(store, plan)
        shown = progress or Progress()
        audience = Audience(plan, callbacks, shown.current)
        return _execute(plan, experiment_id, record["created"], store, shown, audience)


def _kept_start(store: ExperimentStore, record: dict[str, Any]) -> Checkpoint | None:
    if record.get("continued_from") is None:
        return None
    saved = read_checkpoint(store.start_path)
    if saved.sha256 != record["continued_from"]:
        raise UsageError(f"{store.start_path} is another brain than the one that {store.id} was begun with.")
    return saved


def _plan_record(plan: Plan, experiment_id: str) -> dict[str, Any]:
    return {
        "experiment_id": experiment_id,
        "created": _now(),
        "session": session_config(plan).model_dump(mode="json"),
        "workers": plan.workers,
        "executor": plan.executor,
        "config_name": plan.config_name,
        "begun_with": begun_with(plan),
        "checkpoint": plan.checkpoint,
        "limit": plan.limit,
        "continued_from": None if plan.start is None else plan.start.sha256,
    }


def _keeping_in(store: ExperimentStore, plan: Plan) -> Plan:
    """The plan of a session that is stored: now it is known where brains are kept."""
    if not plan.checkpoint:
        return plan
    return replace(plan, keeping=Keeping(store.checkpoints.absolute(), plan.checkpoint))


class _storage:  # noqa: N801  (a context manager)
    """Turns a failed write into an error of one line that says how to go on."""

    def __init__(self, store: ExperimentStore) -> None:
        self._store = store

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if isinstance(error, OSError):
            hint = f" Make room, then resume {self._store.id}." if self._store.plan_path.is_file() else ""
            raise StorageError(f"Cannot write to {self._store.folder}: {error.strerror or error}.{hint}") from error


def _execute(
    plan: Plan, experiment_id: str, created: str, store: ExperimentStore | None, progress: Progress, audience: Audience
) -> Session:
    if plan.executor == "threads":
        compile_for(plan.task, plan.brain)
    elif plan.executor == "processes":
        fill_cache(plan.task, plan.brain)  # here, not in every worker at once
    kept = {} if store is None else _kept_runs(plan, store, progress)
    results = list(kept.values())

    def session() -> Session:
        ordered = sorted(results, key=lambda result: result.index)
        return Session(plan, ordered, created, _now(), time.perf_counter() - progress.started, experiment_id)

    progress.begin(plan.runs, results)
    try:
        with audience.until_the_end():
            audience.start(experiment_id)
            for result in results:
                audience.ended(result)
            for result in _further_runs(plan, kept, progress, audience):
                results.append(result)
                if store is not None:
                    with _storage(store):
                        store.write_run(result)
                audience.ended(result)
    except KeyboardInterrupt as stop:
        raise Interrupted(experiment_id if store else None) from stop
    except CallbackError as error:
        error.session = session()
        if store is not None:
            error.args = (f"{error} Nothing is lost: nematodebench run --resume {experiment_id}",)
        raise
    complete = session()
    if store is not None:
        with _storage(store):
            complete.store(store)
    return complete


def _further_runs(plan: Plan, kept: Container[int], progress: Progress, audience: Audience) -> Iterator[RunResult]:
    """Executes the runs of a plan that are not there yet."""
    todo = [spec for spec in plan.specs() if spec.index not in kept]
    audience.watch(progress.watch, progress.shown)
    for result in execute_all(todo, plan.executor, plan.workers, progress.watch):
        progress.ended(result)
        yield result


def _kept_runs(plan: Plan, store: ExperimentStore, progress: Progress) -> dict[int, RunResult]:
    """The runs that are finished. A file that is damaged, or not of this session, is executed again and named."""
    specs = {spec.index: spec for spec in plan.specs()}
    kept = {}
    for name, run in store.read_runs():
        spec = None if run is None else specs.get(run.index)
        if run is None or spec is None or run.seed != spec.seed or not _sound(plan, run):
            progress.damaged.append(name)
        else:
            kept[run.index] = run
    return kept


def _sound(plan: Plan, run: RunResult) -> bool:
    """Whether a run's episodes are those its hash was computed from."""
    if run.failure is not None:
        return not run.records
    columns = {phase.name: len(phase.columns) for phase in plan.task.phases}
    shapes = {name: rows.shape[1] if rows.ndim == 2 else -1 for name, rows in run.records.items()}
    return shapes == columns and record_hash(plan.task, run.records) == run.record_hash


def extend(session: Session, runs: int, progress: Progress | None = None) -> Session:
    """The same session with more runs: it keeps those it has, and the further ones are executed."""
    shown, plan = progress or Progress(), resized(session.plan, runs, session.plan.seed)
    results = list(session.results)
    shown.begin(runs, results)
    audience = Audience(plan, (), shown.current)
    try:
        for result in _further_runs(plan, {result.index for result in results}, shown, audience):
            results.append(result)
            audience.ended(result)
    except KeyboardInterrupt as stop:
        raise Interrupted(None) from stop
    results.sort(key=lambda result: result.index)
    seconds = session.wall_seconds + time.perf_counter() - shown.started
    return Session(plan, results, session.created, _now(), seconds, session.experiment_id)


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
    if runs < 1:
        raise UsageError(f"runs is {runs}: give at least 1")
    if seed is not None:
        session_seed(seed)
    start = brain.checkpoint() if isinstance(brain, TrainedBrain) else None
    name = start.header.brain if start is not None else name_of(cast("Any", brain))
    parameters = {**({} if start is None else start.header.config), **(config or {})}
    given = SessionConfig(task=task, brain=name, config=parameters, runs=runs, episodes=episodes, seed=seed)
    if wants_steps(callbacks):  # they are told in this process
        workers, executor = workers or 1, "threads"
    else:
        executor = None
    plan = make_plan(given, workers=workers, executor=executor, start=start, checkpoint=checkpoint, limit=timeout)
    root = EXPERIMENTS if checkpoint else None
    return run_plan(plan if learning else twin_plan(plan), root=root, callbacks=callbacks)
