"""Decides who is on the board and in what order (EVALUATION.md, ranking). Pure functions on small records."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from nematodebench.scoring import BIOLOGICAL_LEVELS

__all__ = ["Entry", "Standing", "TaskBoard", "is_significant", "order", "rank", "replaces"]

# Best first, as in scoring; a brain that never was on the plate is treated as one that showed nothing there.
_BIOLOGICAL = {name: place for place, (_, name) in enumerate(BIOLOGICAL_LEVELS)}


@dataclass(frozen=True)
class Entry:
    """What the order on the board depends on, and nothing else.

    Attributes:
        id: The submission's id: no two entries share it.
        brain: Name of the brain today, whatever it was called when it was submitted.
        task: Id of the task.
        scripted: Whether the brain is a hand-written policy.
        mean: Mean score.
        ci95: Its 95 % interval over all runs.
        variance: Of the score over all runs.
        biological: Level of the chemotaxis assay.
        date: When it was submitted, as text that sorts like time.
    """

    id: str
    brain: str
    task: str
    scripted: bool
    mean: float
    ci95: tuple[float, float]
    variance: float
    biological: str
    date: str


@dataclass(frozen=True)
class Standing:
    """A current entry: its rank (None for a scripted policy) and the entry it took the place of."""

    entry: Entry
    rank: int | None
    replaced: Entry | None = None

    @property
    def significant(self) -> bool:
        """Whether it is clearly better than the entry it replaced."""
        return self.replaced is not None and is_significant(self.entry, self.replaced)


@dataclass(frozen=True)
class TaskBoard:
    """The board of one task."""

    task: str
    learners: list[Standing] = field(default_factory=list)
    scripted: list[Standing] = field(default_factory=list)
    history: list[Entry] = field(default_factory=list)


def replaces(new: Entry, old: Entry) -> bool:
    """Whether a later entry of the same brain on the same task takes the place of the current one."""
    return new.mean > old.mean


def is_significant(new: Entry, old: Entry) -> bool:
    """Whether the intervals tell the two apart: the new one's lower bound exceeds the old one's upper bound."""
    return new.ci95[0] > old.ci95[1]


def order(entries: Iterable[Entry]) -> list[Entry]:
    """Puts the best first: by mean at 3 decimals, lower variance, better biological level, earlier date, and id."""
    return sorted(entries, key=_key)


def _key(entry: Entry) -> tuple[float, float, int, str, str]:
    # A variance at 9 decimals: rounding errors of its computation decide nothing.
    biological = _BIOLOGICAL.get(entry.biological, len(_BIOLOGICAL))
    return -round(entry.mean, 3), round(entry.variance, 9), biological, entry.date, entry.id


def rank(entries: Iterable[Entry]) -> list[TaskBoard]:
    """One board for each task, by task id; the order of the input does not matter."""
    by_task: dict[str, list[Entry]] = {}
    for entry in entries:
        by_task.setdefault(entry.task, []).append(entry)
    return [_board(task, by_task[task]) for task in sorted(by_task)]


def _board(task: str, entries: list[Entry]) -> TaskBoard:
    current: dict[str, tuple[Entry, Entry | None]] = {}
    history = []
    for entry in sorted(entries, key=lambda one: (one.date, one.id)):
        standing = current.get(entry.brain)
        if standing is None:
            current[entry.brain] = entry, None
        elif replaces(entry, standing[0]):
            history.append(standing[0])
            current[entry.brain] = entry, standing[0]
        else:
            history.append(entry)
    best = order(entry for entry, _ in current.values())
    learners = [entry for entry in best if not entry.scripted]
    return TaskBoard(
        task,
        [Standing(entry, place, current[entry.brain][1]) for place, entry in enumerate(learners, 1)],
        [Standing(entry, None, current[entry.brain][1]) for entry in best if entry.scripted],
        sorted(history, key=lambda one: (one.date, one.id)),
    )
