"""What a page needs to execute runs again and to show them: the case of a brain on a task, and hashes of its runs."""

from collections.abc import Mapping, Sequence
from typing import Any

from nematodebench.browser.cases import can_execute, case, tables
from nematodebench.browser.modules import assignment, case_script, module_scripts, run_script
from nematodebench.browser.play import blind_case, play_data
from nematodebench.errors import UsageError
from nematodebench.records.schemas import ExperimentMetadata, RunRecord
from nematodebench.site.pages import script_json

__all__ = ["play_script", "replay_of", "replay_scripts", "runs_script"]


def replay_scripts() -> dict[str, str]:
    """The elements and the modules that execute runs, by the names of their files."""
    return {"run.js": run_script(), **module_scripts()}


def replay_of(key: str, sessions: Sequence[ExperimentMetadata]) -> dict[str, Any] | None:
    """What a template needs to offer runs of some sessions; None where no page can execute them.

    Args:
        key: Name of the case, unique in the page.
        sessions: Of one task, brain and config; the first one's best, median and worst runs are shown.
    """
    if not sessions or sessions[0].continued_from is not None or not sessions[0].official:
        return None
    first = sessions[0]
    try:
        if can_execute(first.task, first.brain):
            return None
        given, blind = case(first.task, first.brain, first.brain_config), blind_case(first.task)
    except UsageError:  # a task or a config that this version does not know any more
        return None
    scripts = case_script(key, given, tables(first.task))
    scripts += "" if blind is None else assignment("nbCases", f"{key}-blind", blind)
    shown = _ends(first)
    if not shown:
        return None
    return {
        "key": key, "scripts": scripts, "first": shown[0], "blind": "" if blind is None else f"{key}-blind",
        "runs": script_json(shown), "sessions": [one.session_seed for one in sessions],
        "count": len(first.runs),
    }  # fmt: skip


def _ends(record: ExperimentMetadata) -> list[dict[str, Any]]:
    """The best, the median and the worst run of a session."""
    scored = [run for run in record.runs if run.metrics.get(record.score_key) is not None and run.memory_hash]
    scored.sort(key=lambda run: -(run.metrics[record.score_key] or 0.0))
    if not scored:
        return []
    chosen = {"best": scored[0], "median": scored[len(scored) // 2], "worst": scored[-1]}
    return [_run(run, record, word) for word, run in chosen.items()]


def _run(run: RunRecord, record: ExperimentMetadata, word: str) -> dict[str, Any]:
    score = run.metrics[record.score_key] or 0.0
    return {
        "label": f"{word} run: number {run.run}, {record.score_key.replace('_', ' ')} {score:.3f}", "run": run.run,
        "session": record.session_seed, "seed": str(run.seed), "record_hash": run.record_hash,
        "memory_hash": run.memory_hash,
    }  # fmt: skip


def runs_script(key: str, sessions: Sequence[ExperimentMetadata]) -> str:
    """The hashes of every run of some sessions, by session seed: ``window.nbRuns[key]``."""
    found: Mapping[str, Any] = {
        str(one.session_seed): [[run.record_hash, run.memory_hash] for run in one.runs] for one in sessions
    }
    return assignment("nbRuns", key, found)


def play_script() -> str:
    """What the page for trying things out needs."""
    data, shared = play_data()
    return assignment("nbPlay", "play", data) + "".join(assignment("nbTables", *one) for one in shared.items())
