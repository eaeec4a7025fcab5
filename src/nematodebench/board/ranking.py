"""Decides who is on the board and in what order (EVALUATION.md, ranking). Pure functions on small records."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from nematodebench.scoring import BIOLOGICAL_LEVELS
from nematodebench.stats import Z95, RankSets, rank_sets
from nematodebench.vocabulary import NEVER_LEARN

__all__ = ["Entry", "Standing", "TaskBoard", "is_significant", "order", "rank", "rank_sets_of", "replaces"]

# Best first, as in scoring; a brain that never was on the plate is treated as one that showed nothing there.
_BIOLOGICAL = {name: place for place, (_, name) in enumerate(BIOLOGICAL_LEVELS)}


@dataclass(frozen=True)
class Entry:
    """What the order on the board depends on, and nothing else.

    Attributes:
        id: The submission's id: no two entries share it.
        brain: Name of the brain today, whatever it was called when it was submitted.
        task: Id of the task.
        brain_class: The class of the brain; it says whether the brain learns.
        mean: Mean score.
        ci95: Its 95 % interval over all runs.
        variance: Of the score over all runs.
        biological: Level of the chemotaxis assay.
        date: When it was published, as text that sorts like time.
        place: Place of its merge in the order of all merges; 0 for all where only the dates are known.
    """

    id: str
    brain: str
    task: str
    brain_class: str
    mean: float
    ci95: tuple[float, float]
    variance: float
    biological: str
    date: str
    place: int = 0

    @property
    def learns(self) -> bool:
        """Whether it ranks among learners."""
        return self.brain_class not in NEVER_LEARN

    @property
    def published(self) -> tuple[int, str, str]:
        """What the order in time goes by: the merge, and between entries of one merge their dates and ids."""
        return self.place, self.date, self.id


@dataclass(frozen=True)
class Standing:
    """A current entry and the entry it took the place of.

    Attributes:
        entry: The entry.
        rank: Its place in the order; None for a policy that does not learn.
        replaced: The former entry of the same brain.
        ranks: First and last rank that the comparisons with all others leave open.
        group: Letters; entries that share one are not told apart.
    """

    entry: Entry
    rank: int | None
    replaced: Entry | None = None
    ranks: tuple[int, int] | None = None
    group: str = ""

    @property
    def significant(self) -> bool:
        """Whether it is clearly better than the entry it replaced."""
        return self.replaced is not None and is_significant(self.entry, self.replaced)


@dataclass(frozen=True)
class TaskBoard:
    """The board of one task.

    Attributes:
        task: Its id.
        learners: Current entries of brains that learn, by rank.
        pretrained: Policies that were trained elsewhere.
        scripted: Policies that nobody trained.
        history: Former entries.
        resolution: The share of pairs of learners that the task tells apart; None for fewer than two learners.
    """

    task: str
    learners: list[Standing] = field(default_factory=list)
    pretrained: list[Standing] = field(default_factory=list)
    scripted: list[Standing] = field(default_factory=list)
    history: list[Entry] = field(default_factory=list)
    resolution: float | None = None

    @property
    def standings(self) -> list[Standing]:
        """Every current entry: learners by rank, then the policies that do not learn."""
        return [*self.learners, *self.pretrained, *self.scripted]


def replaces(new: Entry, old: Entry) -> bool:
    """Whether a later entry of the same brain on the same task takes the place of the current one."""
    return new.mean > old.mean


def is_significant(new: Entry, old: Entry) -> bool:
    """Whether the intervals tell the two apart: the new one's lower bound exceeds the old one's upper bound."""
    return new.ci95[0] > old.ci95[1]


def order(entries: Iterable[Entry]) -> list[Entry]:
    """Puts the best first: by mean at 3 decimals, lower variance, better biological level, earlier merge, date, id."""
    return sorted(entries, key=_key)


def _key(entry: Entry) -> tuple[float, float, int, int, str, str]:
    # A variance at 9 decimals: rounding errors of its computation decide nothing.
    biological = _BIOLOGICAL.get(entry.biological, len(_BIOLOGICAL))
    return -round(entry.mean, 3), round(entry.variance, 9), biological, *entry.published


def rank_sets_of(entries: Sequence[Entry]) -> RankSets:
    """The ranks that may be true of entries of one task, all at once."""
    errors = [(entry.ci95[1] - entry.ci95[0]) / 2 / Z95 for entry in entries]
    return rank_sets([entry.mean for entry in entries], errors)


def rank(entries: Iterable[Entry]) -> list[TaskBoard]:
    """One board for each task, by task id; the order of the input does not matter."""
    by_task: dict[str, list[Entry]] = {}
    for entry in entries:
        by_task.setdefault(entry.task, []).append(entry)
    return [_board(task, by_task[task]) for task in sorted(by_task)]


def _standings(learners: Sequence[Entry], replaced: Mapping[str, Entry | None]) -> tuple[list[Standing], float | None]:
    """The learners with their ranks, and the resolution of the task."""
    if not learners:
        return [], None
    sets = rank_sets_of(learners)
    standings = [
        Standing(entry, place, replaced[entry.brain], ranks, group)
        for place, (entry, ranks, group) in enumerate(zip(learners, sets.ranges, sets.groups, strict=True), 1)
    ]
    return standings, sets.resolution


def _board(task: str, entries: list[Entry]) -> TaskBoard:
    current: dict[str, tuple[Entry, Entry | None]] = {}
    history = []
    for entry in sorted(entries, key=lambda one: one.published):
        standing = current.get(entry.brain)
        if standing is None:
            current[entry.brain] = entry, None
        elif replaces(entry, standing[0]):
            history.append(standing[0])
            current[entry.brain] = entry, standing[0]
        else:
            history.append(entry)
    best = order(entry for entry, _ in current.values())
    learners = [entry for entry in best if entry.learns]
    pretrained, scripted = (
        [Standing(entry, None, current[entry.brain][1]) for entry in best if entry.brain_class == kind]
        for kind in NEVER_LEARN
    )
    ranked, resolution = _standings(learners, {name: replaced for name, (_, replaced) in current.items()})
    former = sorted(history, key=lambda one: one.published)
    return TaskBoard(task, ranked, pretrained, scripted, former, resolution)
