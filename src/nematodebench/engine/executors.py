"""Executors map runs over threads, processes or a Ray cluster. No result depends on which.

Compiled brains release the GIL for a whole run, so threads scale and cost nothing. Python brains get processes of
their own, because their libraries keep global random state.
"""

import contextlib
import multiprocessing
import os
import queue
import sys
import threading
import time
import types
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection, wait
from typing import Any, Literal, TypeAlias

from nematodebench.brains.registry import importable_elsewhere, is_compiled
from nematodebench.edits import refuse_edits
from nematodebench.engine.batch import Group, execute_batch, in_groups
from nematodebench.engine.isolation.confine import die_with_parent
from nematodebench.engine.isolation.host import Foreign
from nematodebench.engine.isolation.spares import announced
from nematodebench.engine.limits import late
from nematodebench.engine.parcels import Parcel, Parcels, execute_parcel, runs_of
from nematodebench.engine.python_brain import global_generators_kept
from nematodebench.engine.run import RunFailure, RunResult, RunSpec
from nematodebench.engine.telling import tell
from nematodebench.engine.watching import Told, Watch
from nematodebench.errors import UsageError
from nematodebench.imports import warned
from nematodebench.kernels.processor import usable_cores

__all__ = ["ExecutorName", "Watch", "choose_executor", "default_workers", "execute_all"]

ExecutorName: TypeAlias = Literal["threads", "processes", "ray"]

_ATTEMPTS = 2
_PATIENCE = 1.0
"""Seconds for runs and workers that were asked to stop."""


def default_workers(brain: type[Any] | Foreign | None = None) -> int:
    """Cores this process may use; 1 for a Python brain that no other process can import."""
    if brain is not None and _bound_here(brain):
        return 1
    return usable_cores()


def choose_executor(brain: type[Any] | Foreign, given: str | None, workers: int) -> ExecutorName:
    """Threads for compiled brains, processes for Python ones, unless told otherwise."""
    if isinstance(brain, Foreign):
        return "threads"  # each run has a process of its own already
    if _bound_here(brain) and (workers > 1 or given in {"processes", "ray"}):
        raise UsageError(
            f"No other process can import {brain.__qualname__}, so its runs go one at a time in this one. Put the "
            "class in a file of its own to use several workers."
        )
    if given is None:
        return "threads" if is_compiled(brain) or _bound_here(brain) else "processes"
    if given not in {"threads", "processes", "ray"}:
        raise UsageError(f"Executor {given!r} does not exist. Choose threads, processes or ray.")
    if given == "threads" and not is_compiled(brain) and workers > 1:
        raise UsageError("A Python brain cannot run in several threads: use --executor processes or --workers 1.")
    return given  # type: ignore[return-value]


def _bound_here(brain: type[Any] | Foreign) -> bool:
    """Whether runs have to be in this process: a class in a notebook, or in a script without a guard."""
    return not isinstance(brain, Foreign) and not is_compiled(brain) and not importable_elsewhere(brain)


def execute_all(specs: Sequence[RunSpec], executor: ExecutorName, workers: int, watch: Watch) -> Iterator[RunResult]:
    """Executes runs and yields their results as they end, in any order."""
    if not specs:
        return
    refuse_edits()
    groups = in_groups(specs)
    workers = min(workers, len(groups))
    brain = specs[0].brain
    with announced(brain, len(specs)) if isinstance(brain, Foreign) else contextlib.nullcontext():
        yield from _execute(groups, executor, workers, watch)


def _execute(groups: Sequence[Group], executor: ExecutorName, workers: int, watch: Watch) -> Iterator[RunResult]:
    if executor == "ray":
        from nematodebench.engine.ray import execute_on_ray

        for result in execute_on_ray(groups):
            watch.hear(result.index, Told([], result.steps))
            yield result
    elif executor == "processes":
        yield from _in_processes(groups, workers, watch)
    elif watch.here:
        with global_generators_kept():
            for group in groups:
                yield from _looked_at(execute_batch(group, watch), watch)
    else:
        with global_generators_kept():  # a Python brain in this process seeds those of the user
            yield from _in_threads(groups, workers, watch)


def _looked_at(results: Iterator[RunResult], watch: Watch) -> Iterator[RunResult]:
    """Results, each after everything that was to be seen of its run."""
    for result in results:
        watch.look()
        yield result


def _in_threads(groups: Sequence[Group], workers: int, watch: Watch) -> Iterator[RunResult]:
    waiting: queue.SimpleQueue[Group] = queue.SimpleQueue()
    ended: queue.SimpleQueue[RunResult | BaseException] = queue.SimpleQueue()
    for group in groups:
        waiting.put(group)
    halt = threading.Event()

    def work() -> None:
        while not halt.is_set():
            try:
                group = waiting.get_nowait()
            except queue.Empty:
                return
            try:
                for result in execute_batch(group, watch):
                    ended.put(result)
            except BaseException as error:
                ended.put(error)

    threads = [threading.Thread(target=work, daemon=True) for _ in range(workers)]
    for thread in threads:
        thread.start()
    try:
        left = sum(map(len, groups))
        while left:
            try:
                result = ended.get(timeout=watch.look_seconds)
            except queue.Empty:
                watch.look()
                continue
            if isinstance(result, BaseException):
                raise result
            watch.look()
            yield result
            left -= 1
    finally:
        halt.set()
        watch.stop()
        _leave(threads)


def _leave(threads: Sequence[threading.Thread]) -> None:
    """Waits for threads that were asked to stop. One that does not answer (its brain waits for something) is left."""
    deadline = time.monotonic() + _PATIENCE
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))


def _end_with_parent() -> None:
    """Has the system end this process when its parent is gone, which may be killed in the middle of a long run."""
    parent = multiprocessing.parent_process()
    if parent is None or not sys.platform.startswith("linux"):
        return
    die_with_parent()
    if os.getppid() != parent.pid:  # it went before the system was told
        os._exit(1)


def _serve(connection: Connection) -> None:
    """A worker process: executes what it is sent until nobody is there to send more."""
    _end_with_parent()
    with contextlib.suppress(OSError):  # one of them may be closed
        os.dup2(2, 1)  # what a brain prints is told beside the tables and the JSON of a command, not among them
    warnings.formatwarning = lambda message, _, file, line, *_more: f"nematodebench: {warned(message, file, line)}\n"
    with contextlib.suppress(EOFError, BrokenPipeError, KeyboardInterrupt):
        while True:
            parcel, watched = connection.recv()
            with tell(connection) if watched else contextlib.nullcontext() as watch:
                results = execute_parcel(parcel, watch)
            connection.send(results)


@contextlib.contextmanager
def _without_main(brain: Any) -> Iterator[None]:
    """Keeps a new process from importing the user's script, which need not be importable, unless the brain is in it."""
    main = sys.modules["__main__"]
    if brain.__module__ != "__main__":
        sys.modules["__main__"] = types.ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


class _Worker:
    """A worker process and the runs it is at."""

    def __init__(self, brain: Any) -> None:
        refuse_edits()  # it would import the brain as it is now
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs,), daemon=True)
        with _without_main(brain):
            self.process.start()
        theirs.close()
        self.parcel: Parcel = ()
        self.given = 0.0

    def give(self, parcel: Parcel, watch: Watch) -> None:
        self.parcel, self.given = parcel, time.monotonic()
        self.connection.send((parcel, watch.listener is not None))

    def receive(self, watch: Watch) -> tuple[list[RunResult], float] | None:
        """The results and their time, if they are there; what it tells before them is passed on."""
        message = self.connection.recv()
        if isinstance(message, Told):
            watch.hear(runs_of(self.parcel)[0].index, message)
            return None
        return message  # type: ignore[no-any-return]

    def end(self) -> None:
        self.connection.close()
        self.process.terminate()
        self.process.join(_PATIENCE)
        if self.process.is_alive():  # a library has taken the signal for itself
            self.process.kill()
            self.process.join()


def _in_processes(groups: Sequence[Group], workers: int, watch: Watch) -> Iterator[RunResult]:
    """Runs whose process dies are tried once more, each in a new one; then one has failed, and the others go on."""
    brain, waiting = groups[0][0].brain, Parcels(groups)
    attempts: Counter[int] = Counter()
    pool = [_Worker(brain) for _ in range(workers)]
    try:
        for worker in pool:
            worker.give(waiting.take(workers), watch)
        busy = list(pool)
        while busy:
            for ready in wait([worker.connection for worker in busy]):
                worker = next(w for w in busy if w.connection is ready)
                try:
                    message = worker.receive(watch)
                    if message is None:
                        continue
                    results, seconds = message
                    waiting.took(worker.parcel, seconds)
                except (EOFError, OSError):
                    busy.remove(worker)
                    worker.process.join()
                    again, results = _after_death(worker, attempts)
                    waiting.lost(again)
                    if waiting:
                        worker = _Worker(brain)
                        pool.append(worker)
                        busy.append(worker)
                yield from results
                if worker in busy:
                    if waiting:
                        worker.give(waiting.take(workers), watch)
                    else:
                        busy.remove(worker)
    finally:
        for worker in pool:
            worker.end()


def _after_death(worker: _Worker, attempts: Counter[int]) -> tuple[list[RunSpec], list[RunResult]]:
    """The runs that are tried once more, and those that have failed."""
    runs = runs_of(worker.parcel)
    if len(runs) == 1 and runs[0].limit is not None and time.monotonic() - worker.given > runs[0].limit:
        return [], [RunResult(runs[0].index, runs[0].seed, failure=RunFailure(late(runs[0].limit)))]
    attempts.update(spec.index for spec in runs)
    again = [spec for spec in runs if attempts[spec.index] < _ATTEMPTS]
    failed = [spec for spec in runs if attempts[spec.index] >= _ATTEMPTS]
    return again, [_died(spec, worker.process.exitcode) for spec in failed]


def _died(spec: RunSpec, exit_code: int | None) -> RunResult:
    return RunResult(
        spec.index, spec.seed, failure=RunFailure(f"the worker process died with exit code {exit_code}, twice")
    )
