"""Reads a session from disk for checking: its record, its config, its episodes, plain or packed."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from nematodebench.errors import UsageError
from nematodebench.records.packed import PACKED
from nematodebench.records.runs_table import MOST_RUNS, RUNS_FILE, RUNS_IN_RECORD, whole
from nematodebench.records.schemas import ExperimentMetadata
from nematodebench.records.submission_schema import SessionReference
from nematodebench.submissions.contents import MAX_TABLE
from nematodebench.submissions.untrusted import (
    MAX_CONFIG,
    MAX_JSON,
    parse_record,
    problems,
    read_file,
    uncompressed,
)

__all__ = ["ARTIFACTS", "EPISODES", "StoredSession", "artifact_path", "open_session"]

EPISODES = "episodes.parquet"
ARTIFACTS = "artifacts/experiments"


@dataclass(frozen=True)
class StoredSession:
    """The files of one session as they were read, and what its record says.

    Attributes:
        folder: Where it lies.
        metadata: Its record.
        files: Contents by name. The record is uncompressed; of ``episodes.parquet`` and ``episodes.xz`` there is one,
            and ``runs.parquet`` where the record does not list its runs.
    """

    folder: Path
    metadata: ExperimentMetadata
    files: dict[str, bytes]

    def sha256(self, name: str) -> str:
        """Hash of one of the files."""
        return hashlib.sha256(self.files[name]).hexdigest()

    @property
    def record_name(self) -> str:
        """Name of the file with the record."""
        return f"{self.metadata.experiment_id}.json"

    @property
    def packed(self) -> bytes | None:
        """The packed table of episodes; None where it is a Parquet file."""
        return self.files.get(PACKED)

    def reference(self) -> SessionReference:
        """How a submission refers to the session."""
        data = self.metadata
        hashes = "\n".join(run.record_hash for run in data.runs)
        return SessionReference(
            experiment_id=data.experiment_id,
            file_path=artifact_path(data.experiment_id),
            session_seed=data.session_seed,
            num_runs=data.num_runs,
            run_seeds=[run.seed for run in data.runs] if len(data.runs) <= RUNS_IN_RECORD else [],
            metadata_sha256=self.sha256(self.record_name),
            records_sha256=hashlib.sha256(hashes.encode()).hexdigest(),
            config_sha256=self.sha256(data.config_file),
        )


def artifact_path(experiment_id: str) -> str:
    """What a submission calls the record of a session; where the file is compressed, it has ``.xz`` behind its name."""
    return f"{ARTIFACTS}/{experiment_id}/{experiment_id}.json"


def open_session(root: Path, place: str, beside: tuple[str, ...] = ()) -> StoredSession:
    """Reads a session's folder: its record, its config, its episodes, and nothing beside them.

    Args:
        root: A folder that is trusted: no link is followed below it.
        place: Path of the session's folder below it.
        beside: What else may lie in the folder; it is not read.
    """
    folder, name = root / place, place.rsplit("/", maxsplit=1)[-1]
    found = {file.name for file in folder.iterdir()} if folder.is_dir() else set()
    record = _read_record(root, place, compressed=f"{name}.json" not in found and f"{name}.json.xz" in found)
    try:
        metadata = parse_record(ExperimentMetadata, record, f"{name}.json")
    except ValidationError as error:
        raise UsageError(f"{name}.json is not a session's record: {'; '.join(problems(error))}.") from error
    if metadata.experiment_id != name:
        raise UsageError(f"{name}.json is the record of {metadata.experiment_id!r}, not of {name}.")
    _check_names(metadata)
    table = EPISODES if EPISODES in found or PACKED not in found else PACKED
    runs = {RUNS_FILE} if metadata.runs_table is not None else set()
    stray = sorted(found - {metadata.config_file, table, *runs, *beside})
    if stray not in ([f"{name}.json"], [f"{name}.json.xz"]):
        strange = ", ".join(repr(file) for file in stray if file != f"{name}.json")
        raise UsageError(f"{name} holds files that are not part of a session: {strange}.")
    config = read_file(root, f"{place}/{metadata.config_file}", MAX_CONFIG)
    episodes = read_file(root, f"{place}/{table}", MAX_TABLE)
    files = {f"{name}.json": record, metadata.config_file: config, table: episodes}
    files |= {file: read_file(root, f"{place}/{file}", MAX_TABLE) for file in runs}
    return StoredSession(folder, whole(metadata, lambda: files[RUNS_FILE]), files)


def _read_record(root: Path, place: str, *, compressed: bool) -> bytes:
    file = f"{place}/{place.rsplit('/', maxsplit=1)[-1]}.json"
    if not compressed:
        return read_file(root, file, MAX_JSON)
    return uncompressed(read_file(root, f"{file}.xz", MAX_JSON), MAX_JSON, f"{file}.xz")


def _check_names(metadata: ExperimentMetadata) -> None:
    config = metadata.config_file
    if "/" in config or "\\" in config or config.startswith(".") or not config.endswith((".yml", ".yaml")):
        raise UsageError(f"{metadata.experiment_id}: config_file {config!r} is not the name of a YAML file.")
    if metadata.num_runs > MOST_RUNS:
        name = metadata.experiment_id
        raise UsageError(f"{name} says that it has {metadata.num_runs} runs: at most {MOST_RUNS:,} are judged.")
    if metadata.episodes_file != EPISODES:
        raise UsageError(f"{metadata.experiment_id}: episodes_file must be {EPISODES!r}.")
