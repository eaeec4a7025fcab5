"""Executes a few fresh runs a second time: a brain that keeps something for its next run, or asks the clock, is found.

Nothing but its seed and what its body senses may decide what a brain does. In the sandbox it has no place to keep
anything, but runs share a machine, and a brain could signal by what it makes slow. One run of every fresh session is
executed again when all others are over: whatever they left behind is there by then. Which one follows from the
challenge. A brain that counts its runs could behave in one that is known to be repeated.
"""

from collections.abc import Callable, Sequence

from nematodebench.engine.executors import Watch, choose_executor, default_workers, execute_all
from nematodebench.engine.isolation.host import Foreign
from nematodebench.engine.run import RunSpec, compile_for
from nematodebench.errors import UsageError
from nematodebench.records.memory_hash import same_memory
from nematodebench.records.plain_text import plain
from nematodebench.records.schemas import ExperimentMetadata
from nematodebench.sessions.config import SessionConfig
from nematodebench.sessions.plan import make_plan

__all__ = ["repeat_runs"]


def repeat_runs(
    records: Sequence[ExperimentMetadata],
    which: Sequence[int],
    foreign: Foreign | None,
    executor: str | None,
    workers: int | None,
    tell: Callable[[int, int], None],
) -> None:
    """Executes one run of every fresh session again.

    Args:
        records: The fresh sessions.
        which: The number of the run, for each.
        foreign: The brain of a bundle; None for one of this installation.
        executor: How runs are executed.
        workers: Runs at a time; all cores if None.
        tell: Told how many runs are done, and of how many.

    Raises:
        UsageError: A run came out otherwise than the first time.
    """
    specs = [_spec(record, which[k], k, foreign) for k, record in enumerate(records)]
    compile_for(specs[0].task, specs[0].brain)
    many = workers or default_workers()
    tell(0, len(specs))
    results = execute_all(specs, choose_executor(specs[0].brain, executor, many), many, Watch())
    for count, result in enumerate(results, 1):
        before = records[result.index].runs[which[result.index]]
        same = result.failure is None and result.record_hash == before.record_hash
        if not same or same_memory(before.memory_hash, result.memory_hash) is False:
            why = "" if result.failure is None else f" ({plain(result.failure.message)})"
            raise UsageError(
                f"It cannot be verified: a fresh run, seed {before.seed}, came out otherwise when it was executed "
                f"again{why}. What a brain does may depend on nothing but its seed and what it senses."
            )
        tell(count, len(specs))


def _spec(record: ExperimentMetadata, run: int, k: int, foreign: Foreign | None) -> RunSpec:
    given = SessionConfig(
        task=record.task, brain=record.brain, config=record.brain_config, runs=record.num_runs, seed=record.session_seed
    )
    one = make_plan(given, workers=1, foreign=foreign).specs()[run]
    return RunSpec(one.task, one.brain_name, one.brain, one.config, one.seed, k)
