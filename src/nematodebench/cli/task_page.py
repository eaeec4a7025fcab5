"""Everything about one task on one page: what it measures, what its scores are read against, its body, its worlds."""

import inspect
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from nematodebench.board.collect import signed
from nematodebench.board.ranking import TaskBoard
from nematodebench.board.text import table
from nematodebench.calibration.blind import shortened
from nematodebench.engine.run import interface
from nematodebench.scoring import ScoreAnchor
from nematodebench.stats import Z95, plus_minus
from nematodebench.tasks.anchoring import BlindPolicy, TaskAnchors, load_anchors
from nematodebench.tasks.base import Phase, Task
from nematodebench.tasks.meaning import meaning
from nematodebench.tasks.ranked import lines_of, why_unranked

__all__ = ["published_boards", "summary_table", "task_page"]

_FEW_SENSORS = 16
_REFERENCE = re.compile(r":\w+:`~?([^`]+)`")
_UNKNOWN = (
    "**Ranked or not** depends on the published entries, and there are none in this folder: "
    "run it in a clone of the repository, or give --root CLONE."
)


def published_boards(root: Path) -> dict[str, TaskBoard]:
    """The boards of what was verified in a repository, by task. Whether data are still whole is the board's matter."""
    return {board.task: board for board in signed(root).boards()}


def task_page(task: Task, board: TaskBoard | None, *, published: bool = True) -> list[str]:
    """The page as Markdown; without ``published`` entries at hand it does not say whether the task is ranked."""
    anchors = load_anchors(task)
    lines = [f"# {task.id}", "", f"{task.summary[:1].upper()}{task.summary[1:]}.", ""]
    lines += [f"**Measures.** {meaning(task)}", ""] if meaning(task) else []
    lines += [_status(task, board) if published else _UNKNOWN, ""]
    if anchors is not None:
        lines += [*table(("line", "score", "normalised", "runs", "what it is"), _anchor_lines(anchors)), ""]
        resolution = _resolution(board) if published else ""
        lines += [f"The score is `{task.score_key}` ({task.scoring.name}). {resolution}".rstrip(), ""]
        lines += [_how_to_read(task, anchors), ""]
    lines += ["## Body", "", *_body(task), "", "## Phases", ""]
    lines += table(("phase", "world", "length", "longest episode"), [_phase(phase) for phase in task.phases])
    for name, phase in {phase.world.name: phase for phase in task.phases}.items():
        lines += ["", f"## World `{name}`", "", *_told(phase), ""]
        values = {key: value for key, value in phase.world.spec().items() if key != "world"}
        lines += table(("parameter", "value"), [[key, str(value)] for key, value in values.items()])
    return [*lines, "", f"Specification `{task.spec_hash[:12]}`."]


def _told(phase: Phase) -> list[str]:
    """What the docstring of a phase's world says; a reference of Sphinx is a name here."""
    return _REFERENCE.sub(r"`\1`", inspect.getdoc(type(phase.world)) or "").splitlines()


def _status(task: Task, board: TaskBoard | None) -> str:
    if not task.scoring.has_score:
        return "**Not scored.**"
    reasons = why_unranked(task, None if board is None else board.resolution)
    return f"**Not ranked:** {'; '.join(reasons)}." if reasons else "**Ranked.**"


def _resolution(board: TaskBoard | None) -> str:
    share = None if board is None else board.resolution
    if board is None or share is None:
        return "Its resolution is not known: fewer than two learners are published."
    count = len(board.learners)
    pairs = count * (count - 1) // 2
    return f"Resolution {share:.2f}: it tells {round(share * pairs)} of {pairs} pairs of published learners apart."


def _how_to_read(task: Task, anchors: TaskAnchors) -> str:
    """What the lines are, for somebody who sees them for the first time."""
    said = "*Normalised* is 0 at the floor and 1 at the ceiling."
    if anchors.blind is None:
        return said
    said += " The *best blind policy* plays the same actions whatever it senses: skill begins above it."
    whole = f" Its whole cycle is `blind.segments` of `src/nematodebench/tasks/anchors/{task.id}.json`."
    return said + (whole if shortened(anchors.blind.segments) else "")


def _anchor_lines(anchors: TaskAnchors) -> list[list[str]]:
    """Every line, the best first: ceiling, reference, best blind policy, motionless, null, floor."""
    floor, ceiling = anchors.floor, anchors.ceiling
    null = floor if floor.kind == "null_measured" else anchors.null
    named: list[tuple[str, ScoreAnchor | BlindPolicy | None]] = [
        ("ceiling", ceiling), ("reference", anchors.reference), ("best blind policy", anchors.blind),
        ("motionless", anchors.motionless), ("null policy", null), ("floor", floor),
    ]  # fmt: skip

    def line(name: str, found: ScoreAnchor | BlindPolicy | None) -> list[str]:
        if found is None:
            return [name, "–", "–", "–", "not measured"]
        share = (found.value - floor.value) / (ceiling.value - floor.value)
        score = plus_minus(found.value, Z95 * found.se) if found.n else f"{found.value:z.3f}"
        what = found.provenance
        if isinstance(found, BlindPolicy):
            policy = "" if found.provenance.startswith(found.policy) else found.policy
            what = "; ".join(part for part in (policy, found.budget, found.provenance) if part)
        return [name, score, f"{share:z.3f}", str(found.n or "–"), what.replace("|", "/")]

    return [line(name, found) for name, found in named]


def _body(task: Task) -> list[str]:
    body = interface(task)
    inputs = ", ".join(body.sensors) if body.inputs <= _FEW_SENSORS else f"{body.sensors[0]} to {body.sensors[-1]}"
    names = ", ".join(task.world.actions.names)
    outputs = f"{body.choices} actions" if body.choices else f"{body.effectors} effectors in [0, 1]"
    wide = " The body is wider than the world: it is shared with other worlds." if task.body else ""
    return [f"{body.inputs} inputs ({inputs}); {outputs} ({names}).{wide}"]


def _phase(phase: Phase) -> list[str]:
    episodes = "1 episode" if phase.episodes == 1 else f"{phase.episodes} episodes"
    length = episodes if phase.episodes else f"{phase.ticks} ticks of experience"
    return [phase.name, phase.world.name, length, f"{phase.world.horizon} ticks"]


def summary_table(tasks: Sequence[Task], boards: Mapping[str, TaskBoard]) -> list[str]:
    """All tasks with the four conditions of ranking: normalised scores, and pairs told apart."""
    header = ("task", "null", "motionless", "best blind", "reference", "resolution", "ranked")
    return table(header, [_summary(task, boards.get(task.id)) for task in tasks])


def _summary(task: Task, board: TaskBoard | None) -> list[str]:
    anchors = load_anchors(task)
    share = None if board is None else board.resolution
    reasons = why_unranked(task, share) if task.scoring.has_score else ["it has no score"]
    values = [None] * 4 if anchors is None else list(vars(lines_of(anchors)).values())
    cells = ["–" if value is None else f"{value:z.3f}" for value in values]
    return [f"[{task.id}]({task.id}.md)", *cells, "–" if share is None else f"{share:.2f}",
            "no: " + "; ".join(reasons) if reasons else "yes"]  # fmt: skip
