"""What a page needs to execute runs again and to show them: the case of a brain on a task, and hashes of its runs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nematodebench.browser.cases import can_execute, case, tables
from nematodebench.browser.modules import assignment, case_script, module_scripts, run_script
from nematodebench.browser.play import blind_case, play_data
from nematodebench.errors import UsageError
from nematodebench.records.schemas import ExperimentMetadata
from nematodebench.site.pages import script_json
from nematodebench.tasks.base import Task
from nematodebench.verification.statement import Result

__all__ = [
    "KINDS", "Offer", "OfferedRun", "claimed_offers", "fresh_offers", "play_script", "replay_of", "replay_scripts",
    "runs_script",
]  # fmt: skip

KINDS = {
    "fresh": "fresh: the verifier drew the seeds",
    "claimed": "claimed: the contributor gave the seeds",
    "": "stored",
}
"""Where the seeds of runs come from, in the words of the page."""


@dataclass(frozen=True)
class OfferedRun:
    """One run with the hashes that its execution has to give; the score is None where it has none.

    Where its episodes are stored, its marks tell where another run parted from it.
    """

    number: int
    seed: int
    score: float | None
    record_hash: str
    memory_hash: str | None
    marks: str = ""


@dataclass(frozen=True)
class Offer:
    """The runs of one session that a reader may choose from; its kind is one of :data:`KINDS`."""

    kind: str
    session: int
    score_key: str
    runs: tuple[OfferedRun, ...]


def claimed_offers(
    sessions: Iterable[tuple[ExperimentMetadata, Mapping[int, str]]], kind: str = "claimed"
) -> list[Offer]:
    """The runs of stored sessions, each with the marks of its runs."""
    return [
        Offer(kind, one.session_seed, one.score_key, tuple(
            OfferedRun(run.run, run.seed, run.metrics.get(one.score_key), run.record_hash, run.memory_hash,
                       marks.get(run.run, ""))
            for run in one.runs
        ))
        for one, marks in sessions
    ]  # fmt: skip


def fresh_offers(result: Result | None) -> list[Offer]:
    """The runs that a verifier measured; none of an entry that waits."""
    if result is None:
        return []
    return [
        Offer("fresh", one.session_seed, result.score_key, tuple(
            OfferedRun(number, run.seed, run.metrics.get(result.score_key), run.record_hash, run.memory_hash)
            for number, run in enumerate(one.runs)
        ))
        for one in result.sessions
    ]  # fmt: skip


def replay_scripts() -> dict[str, str]:
    """The elements and the modules that execute runs, by the names of their files."""
    return {"run.js": run_script(), **module_scripts()}


def replay_of(
    key: str, task: Task | str, brain: str, config: Mapping[str, Any], offers: Sequence[Offer]
) -> dict[str, Any] | None:
    """What a template needs to offer runs; None where no page can execute them.

    Args:
        key: Name of the case, unique in the page.
        task: What the runs were executed on.
        brain: Name of the brain.
        config: Its parameters.
        offers: The runs; of the first session that has scores the best, the median and the worst are shown.
    """
    shown = next((ends for offer in offers if (ends := _ends(offer))), [])
    try:
        if not shown or can_execute(task, brain):
            return None
        given, blind = case(task, brain, dict(config)), blind_case(task)
    except UsageError:  # a task or a config that this version does not know any more
        return None
    scripts = case_script(key, given, tables(task))
    scripts += "" if blind is None else assignment("nbCases", f"{key}-blind", blind)
    groups = [
        {"kind": kind, "words": words, "sessions": [one.session for one in offers if one.kind == kind]}
        for kind, words in KINDS.items()
    ]
    return {
        "key": key, "scripts": scripts, "first": shown[0], "blind": "" if blind is None else f"{key}-blind",
        "shown": shown, "runs": script_json(shown), "groups": [group for group in groups if group["sessions"]],
        "count": len(offers[0].runs),
    }  # fmt: skip


def _ends(offer: Offer) -> list[dict[str, Any]]:
    """The best, the median and the worst run of a session."""
    scored = [(run.score, run) for run in offer.runs if run.score is not None and run.memory_hash is not None]
    if not scored:
        return []
    scored.sort(key=lambda one: -one[0])
    chosen = {"best": scored[0], "median": scored[len(scored) // 2], "worst": scored[-1]}
    return [
        {
            "label": f"{word} {offer.kind} run: number {run.number}, {offer.score_key.replace('_', ' ')} {score:z.3f}"
            .replace("  ", " "),
            "run": run.number, "session": offer.session, "seed": str(run.seed), "record_hash": run.record_hash,
            "memory_hash": run.memory_hash, "marks": run.marks, "kind": offer.kind,
        }
        for word, (score, run) in chosen.items()
    ]  # fmt: skip


def runs_script(key: str, offers: Sequence[Offer], replay: Mapping[str, Any]) -> str:
    """Hashes and marks of every run that is offered, by session seed (``window.nbRuns[key]``), and which are shown."""
    found = {str(one.session): [[run.record_hash, run.memory_hash, run.marks] for run in one.runs] for one in offers}
    shown = {"runs": replay["shown"], "blind": replay["blind"]}
    return assignment("nbRuns", key, found) + assignment("nbShown", key, shown)


def play_script() -> str:
    """What the page for trying things out needs."""
    data, shared = play_data()
    return assignment("nbPlay", "play", data) + "".join(assignment("nbTables", *one) for one in shared.items())
