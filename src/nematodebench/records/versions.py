"""Stored records carry the version of their schema. Older versions are read: each is brought to the next, step by step.

To change a schema: raise the number in the model, add a function here that makes a record of the last version one of
the new version, and keep the last version's JSON Schema under ``schemas/``.
"""

import json
from collections.abc import Callable
from typing import Any

from nematodebench.errors import UsageError
from nematodebench.records.evaluation_schema import EvaluationReport
from nematodebench.records.schemas import ExperimentMetadata, Record
from nematodebench.records.submission_schema import NematodeBenchSubmission

__all__ = ["NewerVersionError", "current_version", "up_to_date"]

Upgrade = Callable[[dict[str, Any]], dict[str, Any]]


class NewerVersionError(UsageError):
    """A record is of a version that is not known here."""


def _session_2(record: dict[str, Any]) -> dict[str, Any]:
    """Version 1 did not name the columns of its episodes: those of its table count."""
    return {**record, "schema_version": 2, "columns": {}}


def _submission_2(record: dict[str, Any]) -> dict[str, Any]:
    """Version 1 has the hash of a Parquet file where version 2 has one of the episodes, however they are stored."""
    return {**record, "schema_version": 2}


def _plain_intervals(record: dict[str, Any]) -> dict[str, Any]:
    """Version 2 did not say how its intervals were computed: all were 1.96 std/sqrt(n)."""
    return {**record, "schema_version": 3, "interval_rules": 1}


def _session_4(record: dict[str, Any]) -> dict[str, Any]:
    """Version 3 gave every brain a memory hash, also one whose memory nobody knew, and had no pretrained policies."""
    return {**record, "schema_version": 4}


def _session_5(record: dict[str, Any]) -> dict[str, Any]:
    """Version 4 had one commit, of the folder the command was started in, and did not know the lock file."""
    return {**record, "schema_version": 5}


def _session_6(record: dict[str, Any]) -> dict[str, Any]:
    """Version 5 listed all runs in the record, however many there were."""
    return {**record, "schema_version": 6}


def _session_7(record: dict[str, Any]) -> dict[str, Any]:
    """Version 6 had no marks for long tails, runs all alike and shares that few runs tell."""
    return {**record, "schema_version": 7}


def _submission_4(record: dict[str, Any]) -> dict[str, Any]:
    """Version 3 knew no brains from outside the repository: it has no bundle."""
    return {**record, "schema_version": 4}


def _submission_5(record: dict[str, Any]) -> dict[str, Any]:
    """Version 4 did not know the class of policies that were trained elsewhere."""
    return {**record, "schema_version": 5}


def _submission_6(record: dict[str, Any]) -> dict[str, Any]:
    """Version 5 had one commit, of the folder the command was started in, and did not know the lock file."""
    return {**record, "schema_version": 6}


def _submission_7(record: dict[str, Any]) -> dict[str, Any]:
    """Version 6 listed the seeds of all runs, also of sessions whose session seed says enough."""
    return {**record, "schema_version": 7}


def _submission_8(record: dict[str, Any]) -> dict[str, Any]:
    """Version 7 had no marks for long tails, runs all alike and shares that few runs tell."""
    return {**record, "schema_version": 8}


def _report_2(record: dict[str, Any]) -> dict[str, Any]:
    """Version 1 did not say how its intervals were computed; a report is made anew, never compared."""
    return {**record, "schema_version": 2}


def _report_3(record: dict[str, Any]) -> dict[str, Any]:
    """Version 2 had no marks for long tails, runs all alike and shares that few runs tell."""
    return {**record, "schema_version": 3}


_UPGRADES: dict[type[Record], tuple[Upgrade, ...]] = {
    ExperimentMetadata: (_session_2, _plain_intervals, _session_4, _session_5, _session_6, _session_7),
    NematodeBenchSubmission: (
        _submission_2,
        _plain_intervals,
        _submission_4,
        _submission_5,
        _submission_6,
        _submission_7,
        _submission_8,
    ),
    EvaluationReport: (_report_2, _report_3),
}


def current_version(model: type[Record]) -> int:
    """The version that is written today."""
    return 1 + len(_UPGRADES.get(model, ()))


def up_to_date(model: type[Record], content: bytes, parsed: Any, name: str) -> bytes:
    """The JSON text of a record in today's version; a record without a version is of the first."""
    version = parsed.get("schema_version", 1) if isinstance(parsed, dict) else None
    current = current_version(model)
    if not isinstance(version, int) or isinstance(version, bool) or not 1 <= version < current:
        if isinstance(version, int) and version > current:
            raise NewerVersionError(
                f"{name} is of schema version {version}: versions up to {current} are read here. Install a newer "
                "nematodebench."
            )
        return content
    for upgrade in _UPGRADES[model][version - 1 :]:
        parsed = upgrade(parsed)
    return json.dumps(parsed).encode()
