"""Writes the board as Markdown: LEADERBOARD.md and the leaders in the README. Same submissions give same bytes."""

from collections.abc import Sequence

from nematodebench import scoring
from nematodebench.board.collect import Collection, Listing
from nematodebench.board.ranking import Entry, Standing, TaskBoard
from nematodebench.board.text import code, escape, link, table
from nematodebench.errors import UsageError
from nematodebench.records.schemas import NormalisedRecord
from nematodebench.stats import Z95, StatValue, plus_minus, with_interval
from nematodebench.tasks.anchoring import TaskAnchors, load_anchors
from nematodebench.tasks.base import Task
from nematodebench.tasks.ranked import blind_line, why_unranked
from nematodebench.tasks.registry import get_task

__all__ = ["BEGIN", "END", "LEADERBOARD", "README", "leaderboard", "leaders", "rank_text", "with_leaders"]

LEADERBOARD = "docs/nematodebench/LEADERBOARD.md"
README = "README.md"
BEGIN, END = "<!-- leaders:begin -->", "<!-- leaders:end -->"

_NONE = "–"
_INTRO = """\
# Leaderboard

Written by `nematodebench board regenerate` from `benchmarks/` and `artifacts/`. Every number was recomputed from raw
episode records; what does not pass its checks is not here.

Scores are mean ± half the 95 % interval over all runs; where a small group of runs lies far from the others, or they
have a long tail, the mark (!) says that the interval may cover less than 93 %. *Rank* is the set of ranks that the data
leave open, for all brains of a table at once; brains that share a letter of *group* are not told apart. *Normalised* is
the share of the gap from chance (0) to the ceiling (1) that was closed. *Score* was measured by the verifier on seeds
drawn after the submission was fixed; *claimed* is what was submitted, marked where fresh runs do not support it.
*Verified* says how many of the claimed runs came out the same bit for bit, how many fresh runs were made, and when;
and of how many verified entries it is one, because the best of many is lucky: entries of the brain, or of all brains
that the contributor brought, on this task, those that were replaced or withdrawn too.
*Date* is that of the merge or of the verification, whichever came first, not one that somebody wrote. *Replaced* is the
brain's former entry. *Class* says what a brain computes with: `classical` are tables, models of beliefs and networks of
rates, recurrent ones and those on the wiring of the worm too; the others are `spiking`, `reservoir` and `quantum`.
Lines without a rank are for reference: policies that were trained elsewhere or written by hand, and the task's anchors.
A learner has skill where it is above the best input-blind policy; a high rank alone does not show that. What every
column means: [EVALUATION.md](EVALUATION.md). How to get here: [SUBMISSION_GUIDE.md](SUBMISSION_GUIDE.md)."""
_EMPTY = "There is no entry yet."
_WAITING = """\
# Waiting for verification

These passed the checks of their data. They have no score and no rank before they are verified."""
_NONE_RANKED = "No task is ranked yet."


_UNRANKED = """\
# Tasks that are not ranked

Scores on these tasks can be compared with each other, but a high one need not be skill; each says why. They stay
runnable, and their entries stay published."""


def leaderboard(found: Collection) -> str:
    """The content of LEADERBOARD.md: ranked tasks, then those that are not, with the reason."""
    boards = [(board, why_unranked(get_task(board.task), board.resolution)) for board in found.boards()]
    ranked = [_section(board, found.listings, []) for board, reasons in boards if not reasons]
    others = [_section(board, found.listings, reasons) for board, reasons in boards if reasons]
    waiting = _waiting(found)
    if not boards:
        return "\n\n".join([_INTRO, _EMPTY, *waiting]) + "\n"
    parts = [_INTRO, *(ranked or [_NONE_RANKED]), *waiting, *([_UNRANKED, *others] if others else [])]
    return "\n\n".join(parts) + "\n"


def _waiting(found: Collection) -> list[str]:
    """Entries without a verification: listed, not ranked."""
    if not found.waiting:
        return []
    rows = [
        [one.entry.task, code(one.submission.brain_type), _contributor(one), _data(one)]
        for one in found.waiting.values()
    ]
    return ["\n".join([_WAITING, "", *table(("task", "brain", "contributor", "data"), rows)])]


def _section(board: TaskBoard, listings: dict[str, Listing], reasons: list[str]) -> str:
    task = get_task(board.task)
    anchors = load_anchors(task)
    standings = board.standings
    columns = task.scoring.columns(listings[standings[0].entry.id].submission.metrics.by_name(), task.gate)
    rows = [*(_row(standing, listings, columns) for standing in standings), *_anchor_rows(anchors)]
    if reasons:
        rows = [{**row, "rank": _NONE} for row in rows]
    header = _header(task, columns)
    about = [_about(task, anchors), *([f"Not ranked: {'; '.join(reasons)}."] if reasons else []), *_resolution(board)]
    about += _skill(board, listings, anchors)
    lines = [f"## {task.id}", "", " ".join(about), ""]
    lines += table(header, [[row.get(name, _NONE) for name in header] for row in rows])
    if not board.learners:
        lines += ["", "No learner has an entry yet."]
    if board.history:
        lines += ["", f"### History of {task.id}", "", "Entries that were replaced, or were no better.", ""]
        lines += table(("date", "brain", "score", "runs", "contributor", "data"), _past(board.history, listings))
    return "\n".join(lines)


def _about(task: Task, anchors: TaskAnchors | None) -> str:
    text = f"{task.summary[:1].upper()}{task.summary[1:]}. Score: `{task.score_key}`."
    if anchors is None:
        return f"{text} Not calibrated yet."
    kind = anchors.ceiling.kind.name.lower().replace("_", " ")
    return f"{text} Ceiling {anchors.ceiling.value:.3f} ({kind}), floor {anchors.floor.value:z.3f}."


def _resolution(board: TaskBoard) -> list[str]:
    share = board.resolution
    if share is None:
        return []
    count = len(board.learners)
    pairs = count * (count - 1) // 2
    return [f"It tells {round(share * pairs)} of {pairs} pairs of learners apart."]


def _skill(board: TaskBoard, listings: dict[str, Listing], anchors: TaskAnchors | None) -> list[str]:
    """How many learners are above what can be had without looking."""
    if anchors is None or not board.learners:
        return []
    count = sum(_sees(listings[standing.entry.id], anchors) for standing in board.learners)
    return [f"Shown to be above the best input-blind policy: {count} of {len(board.learners)} learners."]


def _sees(listing: Listing, anchors: TaskAnchors) -> bool:
    """Whether the interval of an entry lies above the best that is to be had without looking."""
    found = listing.normalised
    return found is not None and found.ci95 is not None and found.ci95[0] > blind_line(anchors)


def _header(task: Task, columns: dict[str, str]) -> list[str]:
    """The columns of a task's table: those of every board, with those of the task's kind of score among them."""
    levels, plate = ["level"] * task.scoring.has_levels, ["chemotaxis"] * bool(task.assay)
    return [
        "rank", "group", "brain", "class", "score", "claimed", *levels, "normalised", *columns.values(), *plate, "runs",
        "contributor", "date", "verified", "replaced", "data",
    ]  # fmt: skip


def _row(standing: Standing, listings: dict[str, Listing], columns: dict[str, str]) -> dict[str, str]:
    """The cells of an entry, by the heading of their column."""
    listing = listings[standing.entry.id]
    submission, metrics = listing.submission, listing.metrics
    return {
        "rank": rank_text(standing.ranks),
        "group": standing.group or _NONE,
        "brain": code(submission.brain_type),
        "class": listing.brain_class,
        "score": _stat(listing.score),
        "claimed": _claimed(listing),
        "level": listing.level or _NONE,
        "normalised": _normalised(listing.normalised),
        **{heading: _stat(metrics.get(name)) for name, heading in columns.items()},
        "chemotaxis": _chemotaxis(listing),
        "runs": str(listing.runs),
        "contributor": _contributor(listing),
        "date": _date(standing.entry),
        "verified": _verification(listing),
        "replaced": _replacement(standing, listings),
        "data": _data(listing),
    }


def rank_text(ranks: tuple[int, int] | None) -> str:
    """``2``, or ``2-4`` where the data leave several ranks open; a dash for what has none."""
    if ranks is None:
        return _NONE
    first, last = ranks
    return str(first) if first == last else f"{first}-{last}"


def _stat(value: StatValue | None) -> str:
    return _NONE if value is None else str(value)


def _normalised(record: NormalisedRecord | None) -> str:
    return _NONE if record is None else with_interval(record.score, record.ci95, record.doubt)


def _chemotaxis(listing: Listing) -> str:
    assay = listing.chemotaxis
    return _NONE if assay is None else f"{assay.level} ({assay.index:.2f} [{assay.ci95[0]:.2f}, {assay.ci95[1]:.2f}])"


def _contributor(listing: Listing) -> str:
    name, handle = escape(listing.submission.contributor), listing.submission.github
    return link(name, f"https://github.com/{handle}") if handle else name


def _date(entry: Entry) -> str:
    return f"{entry.date[:4]}-{entry.date[4:6]}-{entry.date[6:8]}"


def _claimed(listing: Listing) -> str:
    claim = listing.submission.score
    text = _NONE if claim is None else f"{claim.mean:z.3f}"
    return f"{text} **too good**" if listing.too_good else text


def _verification(listing: Listing) -> str:
    again = listing.verified
    if again is None:
        return "no"
    done = again.reexecution
    more = f", {listing.records} records" if listing.records > 1 else ""
    more += f", one of {listing.tries} entries" if listing.tries > 1 else ""
    return f"{done.identical} of {done.claimed} identical, {listing.runs} fresh, {again.finished[:10]}{more}"


def _replacement(standing: Standing, listings: dict[str, Listing]) -> str:
    if standing.replaced is None:
        return _NONE
    old = listings[standing.replaced.id]
    mark = ", *significant*" if standing.significant else ""
    return link(_stat(old.score), f"../../{old.path}") + mark


def _data(listing: Listing) -> str:
    return link("data", f"../../{listing.path}")


def _past(history: Sequence[Entry], listings: dict[str, Listing]) -> list[list[str]]:
    past = [listings[entry.id] for entry in history]
    return [
        [_date(one.entry), code(one.submission.brain_type), _stat(one.score), str(one.runs),
         _contributor(one), _data(one)]
        for one in past
    ]  # fmt: skip


def _anchor_rows(anchors: TaskAnchors | None) -> list[dict[str, str]]:
    """What a score is read against, as lines of the table: measured reference, blind policy, null policy, floor."""
    if anchors is None:
        return []
    lines = [("floor", anchors.floor.value, anchors.floor.se, anchors.floor.n)]
    if anchors.null is not None:
        lines.insert(0, ("null policy", anchors.null.value, anchors.null.se, anchors.null.n))
    if anchors.motionless is not None:
        lines.insert(0, ("doing nothing", anchors.motionless.value, anchors.motionless.se, anchors.motionless.n))
    if anchors.blind is not None:
        lines.insert(0, ("best input-blind policy", anchors.blind.value, anchors.blind.se, anchors.blind.n))
    if anchors.reference is not None:
        lines.insert(0, ("measured reference", anchors.reference.value, anchors.reference.se, anchors.reference.n))
    return [_anchor_row(anchors, *line) for line in lines]


def _anchor_row(anchors: TaskAnchors, name: str, value: float, se: float, n: int | None) -> dict[str, str]:
    normalised = scoring.normalised(value, anchors.floor, anchors.ceiling)
    return {
        "brain": f"*{name}*",
        "score": plus_minus(value, Z95 * se) if n else f"{value:z.3f}",
        "normalised": f"{normalised:z.3f}",
        "runs": str(n) if n else _NONE,
    }


def leaders(found: Collection) -> str:
    """The README's tables: for each task the best learner, beside the hand-written policies and chance."""
    groups: dict[str, list[list[str]]] = {}
    unranked, unskilled = [], []
    for board in found.boards():
        task = get_task(board.task)
        anchors = load_anchors(task)
        reasons = why_unranked(task, board.resolution)
        if reasons:
            shown = _leader_row(board, found.listings, anchors)
            unranked.append([*shown[:3], shown[4], *shown[7:], "; ".join(reasons)])
            continue
        # Normalised scores are comparable within one kind of ceiling only: one table for each.
        kind = anchors.ceiling.kind.name.lower().replace("_", " ") if anchors else "uncalibrated"
        if anchors and board.learners and not _sees(found.listings[board.learners[0].entry.id], anchors):
            unskilled.append(code(board.task))
        groups.setdefault(kind, []).append(_leader_row(board, found.listings, anchors))
    if not groups and not unranked:
        return f"{_EMPTY} [Be the first.](docs/nematodebench/SUBMISSION_GUIDE.md)"
    header = ("task", "leader", "score", "level", "normalised", "chemotaxis", "verified", "scripted", "floor")
    parts = [[f"Ceiling: {kind}.", "", *table(header, groups[kind])] for kind in sorted(groups)]
    if unskilled:
        said = "Leaders that are not shown to be above the best policy that ignores its input"
        parts.append([f"{said}: those of {', '.join(unskilled)}."])
    if unranked:
        names = ("task", "highest mean", "score", "normalised", "scripted", "floor", "why it is not ranked")
        parts.append(["Published, but not ranked.", "", *table(names, unranked)])
    return "\n\n".join("\n".join(part) for part in parts)


def _leader_row(board: TaskBoard, listings: dict[str, Listing], anchors: TaskAnchors | None) -> list[str]:
    names = [listings[one.entry.id].submission.brain_type for one in board.scripted]
    scores = [f"{code(name)} {one.entry.mean:z.3f}" for name, one in zip(names, board.scripted, strict=True)]
    scripted = ", ".join(scores) or _NONE
    floor = _NONE if anchors is None else f"{anchors.floor.value:z.3f}"
    if not board.learners:
        return [f"`{board.task}`", *[_NONE] * 6, scripted, floor]
    best = listings[board.learners[0].entry.id]
    made = best.submission
    return [
        f"`{board.task}`", _leader(board, made.brain_type), _stat(best.score), best.level or _NONE,
        _normalised(best.normalised), best.chemotaxis.level if best.chemotaxis else _NONE, _verification(best),
        scripted, floor,
    ]  # fmt: skip


def _leader(board: TaskBoard, brain: str) -> str:
    """The best learner, and with how many others it shares that place."""
    first, last = board.learners[0].ranks or (1, 1)
    return code(brain) if last == first else f"{code(brain)} (rank {first}-{last})"


def with_leaders(readme: str, content: str) -> str:
    """The README with the part between its markers replaced."""
    if readme.count(BEGIN) != 1 or readme.count(END) != 1 or readme.index(BEGIN) > readme.index(END):
        raise UsageError(f"{README} needs the lines {BEGIN} and {END}, once each and in this order.")
    head, tail = readme[: readme.index(BEGIN)], readme[readme.index(END) :]
    return f"{head}{BEGIN}\n{content}\n{tail}"
