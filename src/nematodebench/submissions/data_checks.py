"""Checks whether the records of sessions follow from their episodes, their seeds and what is registered here."""

import datetime
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from nematodebench.brains.registry import canonical_name, class_of, is_built_in
from nematodebench.engine.run import record_hash
from nematodebench.engine.seeds import run_seed
from nematodebench.errors import UsageError
from nematodebench.records.bundle_schema import entry_of
from nematodebench.records.provenance import source_hash
from nematodebench.records.schemas import ExperimentMetadata
from nematodebench.records.submission_schema import MIN_RUNS_PER_SESSION, MIN_SESSIONS
from nematodebench.sessions.recording import brain_source_hash, measurement_records
from nematodebench.submissions.bundles import bundle_problems
from nematodebench.submissions.case import Case, config_disagreement, full_config, repeated_seeds
from nematodebench.submissions.checks import Caution, check
from nematodebench.submissions.compare import differences
from nematodebench.submissions.plausible import implausible
from nematodebench.submissions.tables import Records
from nematodebench.submissions.untrusted import parse_config
from nematodebench.tasks.base import Task
from nematodebench.tasks.specification import specification_hash

__all__ = ["DATA_CHECKS"]

_CLOCK = 5.0
"""Seconds by which two clocks of a machine may differ: stored times are whole seconds."""
_RERUN = "Results are never edited: run the session again with `nematodebench run --track` and submit what it stores."


@check(
    "sessions",
    f"at least {MIN_SESSIONS} sessions",
    f"Run sessions with other seeds until there are {MIN_SESSIONS}.",
)
def _minimum_sessions(case: Case) -> Iterator[str]:
    if len(case.sessions) < MIN_SESSIONS:
        yield f"{len(case.sessions)} sessions: at least {MIN_SESSIONS} are required"


@check(
    "runs",
    f"at least {MIN_RUNS_PER_SESSION} runs in every session, as many in one as in another",
    f"Run the session again with --runs {MIN_RUNS_PER_SESSION} or more, the same number for all sessions.",
)
def _minimum_runs(case: Case) -> Iterator[str]:
    for record in case.records:
        if record.num_runs < MIN_RUNS_PER_SESSION:
            yield f"{record.experiment_id} has {record.num_runs} runs: at least {MIN_RUNS_PER_SESSION} are required"
        elif record.num_runs != case.first.num_runs:
            first = case.first
            yield (
                f"{record.experiment_id} has {record.num_runs} runs and {first.experiment_id} has {first.num_runs}: "
                "every session must have the same number"
            )


@check(
    "complete",
    "every run of every session has a result",
    "Remove the cause of the failures, or resume the session, and submit again.",
)
def _complete(case: Case) -> Iterator[str]:
    for record in case.records:
        name = record.experiment_id
        if len(record.runs) != record.num_runs or [run.run for run in record.runs] != list(range(len(record.runs))):
            yield f"{name} says {record.num_runs} runs but lists {len(record.runs)}, or not in order"
        for run in record.runs:
            if run.status != "finished" or run.failure is not None:
                yield f"{name} run {run.run} is {run.status}: a session with missing results does not count"


@check(
    "fresh",
    "every run began with a fresh brain",
    "Only what a brain learns in its runs counts: submit sessions that were not begun with --from.",
)
def _fresh(case: Case) -> Iterator[str]:
    for record in case.records:
        if record.continued_from is not None:
            yield f"the brain of {record.experiment_id} was trained before its runs began"


@check(
    "consistency",
    "one brain, config, task and grid size in all sessions",
    "Submit only sessions of one brain, one config and one task.",
)
def _agree(case: Case) -> Iterator[str]:
    first = case.first
    for record in case.records[1:]:
        both = f"{record.experiment_id} and {first.experiment_id}"
        for field in ("task", "brain_class", "brain_source_hash"):
            if getattr(record, field) != getattr(first, field):
                yield f"{both} differ in {field}: {getattr(record, field)} and {getattr(first, field)}"
        if canonical_name(record.brain) != canonical_name(first.brain):
            yield f"{both} differ in brain: {record.brain} and {first.brain}"
        elif _parameters(case, record) != _parameters(case, first):
            yield f"{both} differ in brain_config"
        if _sizes(record.task_spec) != _sizes(first.task_spec):
            yield f"{both} differ in grid size"


def _parameters(case: Case, record: ExperimentMetadata) -> dict[str, Any]:
    """A session's parameters with the defaults of those that came later; as they are where the brain is unknown."""
    try:
        return full_config(record.brain, case.imported, record.brain_config)
    except UsageError:
        return record.brain_config


def _sizes(spec: dict[str, object]) -> list[object]:
    phases = spec.get("phases")
    return [phase.get("side") for phase in phases if isinstance(phase, dict)] if isinstance(phases, list) else []


@check(
    "task",
    "the task is registered here with the same specification",
    "Run the sessions with this version of the task, without --episodes.",
)
def _task(case: Case) -> Iterator[str]:
    task = case.task
    if not task.scoring.has_score:
        yield f"{task.id} has descriptors but no score, so nothing on it can be ranked"
    for record in case.records:
        name = record.experiment_id
        if not record.official:
            yield f"{name} is not official: the number of episodes was changed to {record.episodes_per_run}"
        if record.task_spec_hash != specification_hash(record.task_spec):
            yield f"{name}: task_spec_hash is not that of its task_spec"
        for change in task.changes_since(record.task_spec):
            yield f"{name}: the task is not the registered {task.id}: {change}"
        if record.episodes_per_run != (task.phases[0].episodes or None):
            yield f"{name}: episodes_per_run is {record.episodes_per_run}, but {task.id} has {task.phases[0].episodes}"
        if record.score_key != task.score_key:
            yield f"{name}: score_key is {record.score_key!r}, but {task.id} is scored by {task.score_key!r}"


@check(
    "bundle",
    "the source of a brain from outside this repository is with the submission, whole and unchanged",
    "A bundle is never edited: make the submission again with `nematodebench submit --bundle FILE`.",
)
def _bundle(case: Case) -> Iterator[str]:
    bundle, first = case.bundle, case.first
    if bundle is None:
        return
    if is_built_in(first.brain):
        yield f"brain {first.brain!r} is part of this repository: a bundle has no place here"
    if entry_of(first.brain) != bundle.entry:
        yield f"the sessions were made with brain {first.brain!r}, but the entry of the bundle is {bundle.entry!r}"
    yield from bundle_problems(case.root, bundle)
    own = bundle.entry_file
    if own is not None and own.sha256 != first.brain_source_hash:
        yield f"the sessions were made with another {own.name} than the bundle has"


@check(
    "brain",
    "the brain is registered here or in a bundle, its class and config are its own",
    "Submit a brain of your own with --bundle. Here: install its package, or read its code and use --trust-code.",
    needs=("bundle",),
)
def _brain(case: Case) -> Iterator[str]:
    first = case.first
    if case.bundle is not None:
        return  # its source is what the check of the bundle says, and a maintainer assigns its class
    brain = case.brain
    kind = class_of(brain)
    if first.brain_class != kind:
        yield f"brain {first.brain!r} is {kind}, not {first.brain_class}"
    yield from differences(first.brain_config, full_config(first.brain, brain, first.brain_config), "brain_config")
    if first.brain_source_hash != brain_source_hash(brain):
        yield f"the code of brain {first.brain!r} is not the code the sessions were made with"


@check(
    "session configs",
    "every session's own config is unchanged and describes it",
    _RERUN,
    needs=("brain",),
)
def _configs(case: Case) -> Iterator[str]:
    for session in case.sessions:
        record = session.metadata
        name = f"{record.experiment_id}/{record.config_file}"
        if session.sha256(record.config_file) != record.config_hash:
            yield f"{name} was changed after the session: its hash is not the recorded config_hash"
            continue
        config = parse_config(session.files[record.config_file], name)
        disagreement = config_disagreement(config, record, case.imported)
        if disagreement:
            yield f"{name} does not describe the session: {disagreement}"
        if config.seed not in {None, record.session_seed}:
            yield f"{name} has seed {config.seed}, but the session has {record.session_seed}"
        if config.runs != record.num_runs:
            yield f"{name} has {config.runs} runs, but the session has {record.num_runs}"


@check(
    "seeds",
    "all run seeds are derived from their session seeds, and unique",
    "Run the sessions with different seeds; leave --seed out for fresh ones.",
)
def _seeds(case: Case) -> Iterator[str]:
    seen: dict[int, str] = {}
    for record in case.records:
        name = record.experiment_id
        if record.session_seed in seen:
            yield f"{name} and {seen[record.session_seed]} have the same session seed {record.session_seed}"
        seen.setdefault(record.session_seed, name)
        for run in record.runs:
            if run.seed != run_seed(record.session_seed, run.run):
                yield f"{name} run {run.run}: seed {run.seed} is not derived from session seed {record.session_seed}"
    yield from repeated_seeds(case.records)


@check(
    "episodes",
    "every table of episodes is whole and plausible",
    _RERUN,
    needs=("complete", "consistency", "task"),
)
def _episodes(case: Case) -> Iterator[str]:
    sessions = list(zip(case.records, case.recorded, case.episodes, strict=True))  # reads and checks all tables
    strange = [f"{record.experiment_id} {found}" for record, task, runs in sessions for found in _strange(task, runs)]
    if strange:
        yield from strange  # what cannot have happened is not measured
        return
    assert case.measurements is not None
    for record, task, runs in sessions:
        for run, tables in runs.items():
            contradiction = task.scoring.contradiction(task.scored_episodes(tables), task.world)
            if contradiction is not None:
                yield f"{record.experiment_id} run {run} {contradiction}"


def _strange(task: Task, runs: Records) -> Iterator[str]:
    for phase in task.phases:
        found = implausible(phase, [runs[run][phase.name] for run in sorted(runs)])
        if found is not None:
            yield found


@check(
    "record hashes",
    "the episodes of every run have the recorded hash",
    _RERUN,
    needs=("episodes",),
)
def _hashes(case: Case) -> Iterator[str]:
    for record, task, runs in zip(case.records, case.recorded, case.episodes, strict=True):
        for run in record.runs:
            if record_hash(task, runs[run.run]) != run.record_hash:
                yield f"{record.experiment_id} run {run.run}: its episodes do not have the recorded hash"


@check(
    "session metrics",
    "every metric of every run and session follows from the episodes",
    _RERUN,
    needs=("episodes",),
)
def _session_metrics(case: Case) -> Iterator[str]:
    sessions = zip(case.records, case.recorded, case.episodes, case.measurements, strict=True)
    for record, task, runs, measurement in sessions:
        name = record.experiment_id
        for run, row in zip(record.runs, measurement.runs, strict=True):
            yield from differences(run.metrics, row, f"{name} run {run.run}: metrics")
            if case.task.score_key not in run.metrics:
                yield f"{name} run {run.run}: its metrics lack the score, {case.task.score_key}"
            steps = _steps(task, runs[run.run])
            if run.steps != steps:
                yield f"{name} run {run.run}: steps is {run.steps}, but the episodes add up to {steps}"
        computed = measurement_records(case.task, measurement, older=record.interval_rules == 1)
        for note in set(record.notes) - set(computed.pop("notes")):
            yield f"{name}: the episodes do not say {note!r}"
        if case.task.score_key not in record.metrics:
            yield f"{name}: metrics lack the score, {case.task.score_key}"
        for key, value in computed.items():
            yield from differences(getattr(record, key), value, f"{name}: {key}")


def _steps(task: Task, tables: dict[str, np.ndarray]) -> int:
    return int(sum(tables[phase.name][:, phase.columns.index("steps")].sum() for phase in task.phases))


@check(
    "timing",
    "times and speeds agree with each other; nothing is computed from them",
    _RERUN,
)
def _timing(case: Case) -> Iterator[str]:
    for record in case.records:
        name, timing = record.experiment_id, record.timing
        steps = sum(run.steps for run in record.runs)
        rate = steps / max(timing.wall_seconds, 1e-9)
        if not math.isclose(timing.steps_per_second, rate, rel_tol=1e-9):
            claimed = f"{timing.steps_per_second:g}"
            yield f"{name}: steps_per_second is {claimed}, but its steps and seconds give {rate:g}"
        try:
            lasted = datetime.datetime.fromisoformat(timing.finished) - datetime.datetime.fromisoformat(timing.created)
        except (ValueError, TypeError, OverflowError):
            yield f"{name}: timestamp, or a session's time, is not a date"
            continue
        if lasted < datetime.timedelta():
            yield f"{name} ended before it began"
        elif timing.wall_seconds > lasted.total_seconds() + _CLOCK:
            yield f"{name} took {timing.wall_seconds:g} s, which is longer than it lasted"


@check(
    "code",
    "made with the code that is installed here",
    "",
)
def _code(case: Case) -> Iterator[str]:
    others = [record for record in case.records if record.provenance.source_hash != source_hash()]
    if others:
        versions = sorted({record.provenance.package_version for record in others})
        yield Caution(
            f"{len(others)} sessions were made with other code (version {', '.join(versions)}) than is installed here: "
            "--reproduce tells whether it still gives the same"
        )


DATA_CHECKS = (
    _minimum_sessions,
    _minimum_runs,
    _complete,
    _fresh,
    _agree,
    _task,
    _bundle,
    _brain,
    _configs,
    _seeds,
    _episodes,
    _hashes,
    _session_metrics,
    _timing,
    _code,
)
