"""Executes a stored run again, compares its bits, and keeps its trajectories if that is wanted."""

from pathlib import Path
from typing import Any

from nematodebench.cli.show import print_json, print_table, printable
from nematodebench.cli.tables import available_width
from nematodebench.engine.tracing import Trace
from nematodebench.errors import StorageError
from nematodebench.records.made_with import made_with
from nematodebench.records.schemas import ExperimentMetadata
from nematodebench.records.store import load_experiment
from nematodebench.sessions.rerun import Rerun, rerun, run_of, task_of
from nematodebench.trajectories.files import Recorder, prepare

__all__ = ["rerun_command"]

_WHOLE, _BEGINNING = 100, 16
"""Columns in which a hash has room, and how much of it is shown where it has none."""


def rerun_command(
    experiment: Path, run: int, trust_code: bool, record: Path | None, minari: str | None, *, json: bool
) -> bool:
    """Whether every bit is the same. Trajectories of a run that came out otherwise are not kept."""
    metadata = load_experiment(experiment)
    run_of(metadata, run)
    if record is not None:
        prepare(record)
    if minari is not None:
        from nematodebench.trajectories.offline import check_name

        check_name(minari)
    recorder = Recorder()
    trace = Trace(recorder.keep) if record is not None or minari is not None else None
    outcome = rerun(metadata, run, trust_code, experiment, trace)
    made = dict(made_with(metadata.provenance, metadata.brain_source_hash is not None))
    facts = {**_facts(run, outcome), "made_with": made}
    kept = _keep(metadata, outcome, recorder, record, minari) if outcome.identical else {}
    if json:
        print_json({**facts, **kept})
    else:
        _print(metadata, facts, outcome)
        for what, where in kept.items():
            print(printable(f"{what}: {where}"))
    return outcome.identical


def _keep(
    metadata: ExperimentMetadata, outcome: Rerun, recorder: Recorder, record: Path | None, minari: str | None
) -> dict[str, Any]:
    """Writes the trajectories; tells where they are."""
    kept: dict[str, Any] = {}
    task, result = task_of(metadata), outcome.result
    if record is not None:
        about = {
            "task": task.id, "brain": metadata.brain, "config": metadata.brain_config, "run": result.index,
            "seed": result.seed, "record_hash": result.record_hash, "experiment": metadata.experiment_id,
        }  # fmt: skip
        try:
            recorder.write(record, task, about)
        except OSError as error:
            raise StorageError(f"Cannot write to {record}: {error.strerror or error}.") from error
        steps = sum(episode.steps for episode in recorder.episodes)
        kept["trajectories"] = f"{record} ({len(recorder.episodes)} episodes, {steps} steps)"
    if minari is not None:
        from nematodebench.trajectories.offline import export

        data = export(minari, task, recorder.episodes, metadata.brain, result.seed)
        kept["minari"] = f"{minari} ({data.total_episodes} episodes, {data.total_steps} steps)"
    return kept


def _facts(run: int, outcome: Rerun) -> dict[str, Any]:
    recorded, result = outcome.recorded, outcome.result
    return {
        "run": run, "seed": recorded.seed, "identical": outcome.identical, "difference": outcome.difference,
        "recorded": {"episodes": recorded.record_hash, "memory": recorded.memory_hash, "steps": recorded.steps},
        "again": {"episodes": result.record_hash, "memory": result.memory_hash, "steps": result.steps},
        "note": outcome.note,
        "failure": None if result.failure is None else result.failure.message,
        "recorded_failure": None if recorded.failure is None else recorded.failure.message,
    }  # fmt: skip


def _short(value: str) -> str:
    """A hash, of which a narrow terminal shows the beginning."""
    width = available_width()
    return value if width is None or width >= _WHOLE or len(value) <= _BEGINNING else f"{value[:_BEGINNING]}..."


def _print(metadata: ExperimentMetadata, facts: dict[str, Any], outcome: Rerun) -> None:
    print(printable(f"{metadata.task} {metadata.brain} run {facts['run']}, seed {facts['seed']}"), end="\n\n")
    sides = [{k: _short("none" if v is None else str(v)) for k, v in facts[s].items()} for s in ("recorded", "again")]
    rows = [[key, value, "the same" if value == sides[1][key] else sides[1][key]] for key, value in sides[0].items()]
    print_table(["what", "recorded", "again"], rows)
    same = "IDENTICAL episodes, bit for bit" if outcome.note else "IDENTICAL, bit for bit"
    print(f"\n{same if outcome.identical else 'DIFFERENT'} ({outcome.result.seconds:.2f} s)")
    if outcome.note:
        print(outcome.note)
    if outcome.difference:
        print(printable(outcome.difference))
    if not outcome.identical:
        for what, value in facts["made_with"].items():
            print(printable(f"recorded with {what} {value}"))
    if not outcome.identical and not outcome.same_platform:
        machine = printable(metadata.provenance.machine)
        print(f"the session was made on {machine}: bits are promised within x86-64 only")
