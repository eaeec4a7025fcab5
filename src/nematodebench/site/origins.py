"""Where results come from, and how each of their runs is executed again; best and worst run first."""

import json
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from nematodebench.brains.configs import dump_config, resolve_config
from nematodebench.brains.registry import get_brain, is_built_in
from nematodebench.figures.samples import Sample
from nematodebench.records.made_with import made_with

__all__ = ["continual_origin", "origin_of", "search_origin"]

_HEADER = ("run", "seed", "status")


def origin_of(sample: Sample) -> dict[str, Any]:
    """Of a stored session, or of the runs of one brain in a sweep."""
    return _session(sample) if sample.record is not None else _cell(sample)


def _session(sample: Sample) -> dict[str, Any]:
    record, place = sample.record, sample.place
    assert record is not None and place is not None
    key, where = record.score_key, shlex.quote(str(place))
    lines = [
        ("session", record.experiment_id), ("session seed", record.session_seed), ("brain", record.brain),
        ("config", _listed(record.brain_config)),
        ("task", f"{record.task}, specification {record.task_spec_hash[:12]}"),
        *made_with(record.provenance, record.brain_source_hash is not None),
    ]  # fmt: skip
    runs = [
        (run.run, run.seed, run.status, run.metrics.get(key), f"nematodebench rerun {where} --run {run.run}",
         run.record_hash)
        for run in record.runs
    ]  # fmt: skip
    return _facts(sample.label, f"runs-{record.experiment_id}", lines, runs, key)


def _cell(sample: Sample) -> dict[str, Any]:
    cell = sample.cell
    assert cell is not None
    words = shlex.join(["nematodebench", "watch", cell.task, "--brain", cell.brain, "--seed", str(cell.session_seed),
                        *_settings(cell.brain, cell.config)])  # fmt: skip
    lines = [("sweep", cell.place), ("session seed", cell.session_seed), ("brain", cell.brain),
             ("config", _listed(cell.config)), ("task", cell.task)]  # fmt: skip
    runs = [(run.number, run.seed, run.status, run.score, f"{words} --run {run.number}", "") for run in cell.runs]
    return _facts(sample.label, cell.key, lines, runs, sample.task.score_key)


def continual_origin(report: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Of continual runs; none for a file of an older version, which does not name its runs."""
    if not {"config", "executed", "test_episodes"} <= report.keys():
        return []
    brain, seed, profile = str(report["brain"]), report["seed"], report["profile"]
    lengths = {name: one["episodes"] for name, one in report["environments"].items()}
    words = shlex.join([
        "nematodebench", "continual", brain, "--order", ",".join(lengths),
        "--episodes", ",".join(f"{name}={count}" for name, count in lengths.items()),
        "--test-episodes", str(report["test_episodes"]), "--seed", str(seed), *_settings(brain, report["config"]),
    ])  # fmt: skip
    lines = [("session seed", seed), ("brain", brain), ("config", _listed(report["config"])),
             ("environments", ", ".join(f"{name} ({count} episodes)" for name, count in lengths.items()))]  # fmt: skip
    runs = [
        (one["run"], one["seed"], "finished", one["primary"][profile], f"{words} --runs {one['run'] + 1}",
         one["record_hash"])
        for one in report["executed"]
    ]  # fmt: skip
    return [_facts(brain, f"runs-continual-{brain}-{seed}", lines, runs, f"{profile} primary")]


def search_origin(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Of a search: its study, and the command that runs its champion."""
    lines = [("study", result.get("study", "")), ("sampler", result["sampler"]), ("seed", result["seed"]),
             ("task", result["task"]), ("brain", result["brain"]),
             ("trials", _listed(result.get("trials", {}))), ("runs of a trial", result["runs"]),
             ("held-out seeds", result["held_out"]),
             ("champion", f"trial {result.get('champion_number', '–')}")]  # fmt: skip
    champion = f"{result['brain']}, champion"
    facts = _facts(champion, f"search-{result['brain']}-{result['seed']}", lines, [], str(result.get("score", "score")))
    place = result.get("place")
    commands = [f"nematodebench run --config {shlex.quote(f'{place}/best.yml')}"] if place else []
    return [{**facts, "title": f"{champion}: provenance and the command that runs it", "commands": commands}]


def _facts(
    label: str, key: str, lines: Sequence[tuple[str, Any]], runs: Sequence[tuple[Any, ...]], score: str
) -> dict[str, Any]:
    """What a template shows; a run is its number, seed, status, score, command and hash."""
    scored = sorted((run for run in runs if run[3] is not None), key=lambda run: float(run[3]))
    ends = [("best run", scored[-1]), ("worst run", scored[0])] if scored else []
    told = [(name, f"run {run[0]}, seed {run[1]}, {score} {run[3]:.4f}") for name, run in ends]
    hashed = any(run[5] for run in runs)
    rows = [[*run[:3], "missing" if run[3] is None else f"{run[3]:.4f}", *run[4 : 6 if hashed else 5]] for run in runs]
    return {
        "title": f"{label}: provenance and the command of every run", "lines": [*lines, *told], "runs": rows,
        "header": [*_HEADER, score, "command", *(["hash of its records"] if hashed else [])],
        "commands": [run[4] for _, run in ends], "key": key,
    }  # fmt: skip


def _listed(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in values.items())


def _settings(brain: str, config: Mapping[str, Any]) -> list[str]:
    """Options for the parameters that are not the defaults; all of them for a brain whose defaults nobody knows."""
    usual = dump_config(resolve_config(brain, get_brain(brain), {})) if is_built_in(brain) else {}
    return [
        word
        for name, value in config.items()
        if name not in usual or usual[name] != value
        for word in ("--set", f"{name}={value if isinstance(value, str) else json.dumps(value)}")
    ]
