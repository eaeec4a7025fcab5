"""Builds the board as a static site: the same repository gives the same bytes."""

import inspect
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from nematodebench.board.collect import Collection, Listing
from nematodebench.board.markdown import rank_text
from nematodebench.board.ranking import Standing, TaskBoard, rank
from nematodebench.brains.registry import get_brain, is_built_in
from nematodebench.figures.curves import curve_figure
from nematodebench.figures.curves_of_runs import Curves
from nematodebench.figures.figure import Figure
from nematodebench.figures.render import FORMATS
from nematodebench.site.badges import badge
from nematodebench.site.board_data import board_csv, board_json
from nematodebench.site.brain_page import ablation_tables, efficiency_row, measured_costs
from nematodebench.site.cells import axis_lines, stat
from nematodebench.site.entries import (
    Signers,
    curves_of_entry,
    day,
    episodes_of_entry,
    file_name,
    row,
    sessions_of_entry,
)
from nematodebench.site.marks import EVERY, marks
from nematodebench.site.overview import MOST_SHOWN, board_figure
from nematodebench.site.pages import beside, page_figure, render, script_json, site_script, style_sheet
from nematodebench.site.replay import (
    claimed_offers,
    fresh_offers,
    play_script,
    replay_of,
    replay_scripts,
    runs_script,
)  # fmt: skip
from nematodebench.site.stills import Stills
from nematodebench.site.submission_page import submission_facts
from nematodebench.site.task_facts import CEILINGS, anchor_table, resolution_text
from nematodebench.site.words import html_line, html_of
from nematodebench.tasks.anchoring import load_anchors
from nematodebench.tasks.base import Task
from nematodebench.tasks.meaning import meaning
from nematodebench.tasks.ranked import why_unranked
from nematodebench.tasks.registry import get_task

__all__ = ["BoardSite", "build_site"]

_REST = ("id", "file", "brain", "class", "rank", "group", "order", "band", "status", "dot", "score", "value", "claimed",
         "claimed_value", "too_good", "runs", "contributor", "verified", "date", "replay")  # fmt: skip


_MOST_ON_FIRST = 500
"""Entries of a task that the first page holds: its size and the time of sorting grow with them."""
_MOST_ON_PAGE = 2000
"""Entries that a table of any other page has at most; the files with the board's data have all of them."""
_MOST_DAYS = 30
"""Days whose board is shown: each is ranked anew, and has a table for every task."""


def build_site(root: Path, found: Collection, name: str = "NematodeBench") -> dict[str, bytes]:
    """Every file of the site, by its path."""
    return BoardSite(root, found, name).files()


@dataclass(frozen=True)
class _Told:
    """What the pages tell of an entry's runs: how to execute them again, what they cost, and how they learned.

    Attributes:
        replay: What templates need to offer runs; None where no page can execute them.
        runs: The script with the hashes of all runs.
        efficiency: What a current entry costs.
        curves: How a current entry learned.
    """

    replay: dict[str, Any] | None
    runs: str
    efficiency: list[str]
    curves: Curves | None


class BoardSite:
    """The site of one collection of entries."""

    def __init__(self, root: Path, found: Collection, name: str) -> None:
        self.root, self.found, self.name = root, found, name
        self.boards = found.boards()
        self.signers = Signers.of(root, found)
        self.everything = {**found.listings, **found.waiting}
        self._costs = measured_costs(root)
        self._stills = Stills.of(root, [get_task(board.task) for board in self.boards])
        self._told = {id_: self._tell(one) for id_, one in self.everything.items()}

    def files(self) -> dict[str, bytes]:
        """Every file, by its path."""
        made = {"assets/site.css": style_sheet(), "assets/site.js": site_script(), "index.html": self._index()}
        made |= {"tasks.html": self._task_list(), "brains.html": self._brain_list(), "history.html": self._history()}
        for board in self.boards:
            made[f"tasks/{file_name(board.task)}"] = self._task(board)
        for brain in self._brains:
            made[f"brains/{file_name(brain)}"] = self._brain(brain)
        for listing in self.everything.values():
            id_ = listing.submission.submission_id
            made[f"submissions/{file_name(id_)}"] = self._submission(listing)
            made[f"badges/{file_name(id_, '.svg')}"] = badge(self._badge_words(listing))
        made |= {f"assets/{name}": text for name, text in replay_scripts().items()}
        made |= {"play.html": self._page("play.html"), "cases/play.js": play_script()}
        for id_, told in self._told.items():
            if told.replay is not None:
                made[f"cases/{file_name(id_, '.js')}"] = told.replay["scripts"] + told.runs
        content = {path: text.encode() for path, text in made.items()} | self._stills.files | beside(self._downloads())
        return {path: content[path] for path in sorted(content)}

    def _downloads(self) -> dict[str, bytes]:
        """The data of the board, and every figure in all forms."""
        lines = [line for task in sorted(self.rows) for line in self.rows[task]]
        made = {"data/board.csv": board_csv(lines), "data/board.json": board_json(lines)}
        for key, figure in self._figures.items():
            made |= {f"figures/{key}.{form}": FORMATS[form](figure) for form in ("svg", "csv", "json")}
        return made

    def _tell(self, listing: Listing) -> "_Told":
        """Opens the sessions of an entry, which are large, and keeps what pages show of them."""
        id_, made, current = listing.entry.id, listing.submission, listing.entry.id in self._places
        sessions = sessions_of_entry(self.root, listing)
        metadata = [session.metadata for session in sessions]
        episodes = episodes_of_entry(listing, sessions)
        told = [{run: marks(task, one[run], EVERY) for run in one} for task, one in episodes]
        # The runs of the verifier, which the score rests on, then those that were claimed.
        offers = fresh_offers(self.signers.results.get(id_)) + claimed_offers(zip(metadata, told, strict=True))
        replay = replay_of(id_, made.environment.task, made.brain_type, made.brain_config, offers)
        return _Told(
            replay=replay,
            runs="" if replay is None else runs_script(id_, offers, replay),
            efficiency=efficiency_row(self._costs.get(id_, {}), metadata) if current else [],
            curves=curves_of_entry(episodes) if id_ in self._drawn else None,
        )

    def _page(self, template: str, up: str = "", **content: Any) -> str:
        return render(template, up=up, site_name=self.name, **content)

    @cached_property
    def reasons(self) -> dict[str, list[str]]:
        """Why tasks are not ranked."""
        return {board.task: why_unranked(get_task(board.task), board.resolution) for board in self.boards}

    @cached_property
    def rows(self) -> dict[str, list[dict[str, Any]]]:
        """The lines of every task's table: current entries, former ones, those that wait."""
        return {board.task: self._rows(board) for board in self.boards}

    def _rows(self, board: TaskBoard) -> list[dict[str, Any]]:
        ranked, shared = not self.reasons[board.task], _shared(board)
        known: list[tuple[Listing, Standing | None]] = [
            (self.found.listings[standing.entry.id], standing) for standing in board.standings
        ]
        known += [(self.found.listings[entry.id], None) for entry in board.history]
        made = [
            row(listing, standing, ranked, place, standing is not None and standing.group in shared)
            for place, (listing, standing) in enumerate(known)
        ]
        return [{**line, "replay": self._told[line["id"]].replay is not None} for line in made]

    def _index(self) -> str:
        groups: list[dict[str, Any]] = [
            {"task": board.task, "file": file_name(board.task), "rows": self.rows[board.task],
             "lines": axis_lines(load_anchors(get_task(board.task))), "note": self._note(board),
             "shown": _shown(self.rows[board.task]),
             "rest": _rest(self.rows[board.task][_shown(self.rows[board.task]) : _MOST_ON_FIRST])}
            for board in sorted(self.boards, key=self._place)
        ]  # fmt: skip
        lines = [line for group in groups for line in group["rows"]]
        brains, tasks = {line["brain"] for line in lines}, len(groups)
        lead = (
            f"{len(lines)} verified entries of {len(brains)} brains on {tasks} tasks. Each score was measured by "
            "a verifier on seeds drawn after the submission was fixed; every run can be executed again bit for bit."
            f"{self._verifiers()}"
        )
        waiting = [row(one, None, False, 0, False) for one in self.found.waiting.values()]
        return self._page(
            "board.html", lead=lead, groups=groups, waiting=waiting, limit=MOST_SHOWN,
            count=sum(min(len(group["rows"]), _MOST_ON_FIRST) for group in groups),
            classes=sorted({line["class"] for line in lines}), statuses=sorted({line["status"] for line in lines}),
        )  # fmt: skip

    def _place(self, board: TaskBoard) -> tuple[bool, int, str]:
        """Where a task stands on the board: ranked ones first, and among them those with most entries."""
        return bool(self.reasons[board.task]), -len(self.rows[board.task]), board.task

    def _verifiers(self) -> str:
        """Who measured the scores, in words."""
        names = sorted({owner.partition(",")[0] for owner, _ in self.signers.names.values()})
        return f" Verified by {'; '.join(names)}." if names else ""

    def _note(self, board: TaskBoard) -> str:
        task, reasons = get_task(board.task), self.reasons[board.task]
        anchors = load_anchors(task)
        kind = "" if anchors is None else f"; the ceiling is {CEILINGS[anchors.ceiling.kind]}"
        text = f"{task.score_key.replace('_', ' ')}{kind}.".capitalize()
        count = len(self.rows[board.task])
        if count > _MOST_ON_FIRST:
            text += f" {_MOST_ON_FIRST} of {count:,} entries are here; the page of the task has more."
        return f"{text} Not ranked: {'; '.join(reasons)}." if reasons else f"{text} {resolution_text(board)}"

    @cached_property
    def _curves(self) -> dict[str, Figure]:
        """The learning curves of the best entries of every task, medians and bands only."""
        made = {}
        for board in self.boards:
            best = board.standings[:MOST_SHOWN]
            names = _short_names([one.entry.brain for one in best])
            found = {names[one.entry.brain]: self._told[one.entry.id].curves for one in best}
            shown = {brain: curves for brain, curves in found.items() if curves is not None}
            if shown:
                made[board.task] = curve_figure(board.task, shown, lines=False)
        return made

    @cached_property
    def _figures(self) -> dict[str, Figure]:
        """Every figure of the site, by the name of its files."""
        made = {file_name(f"{task}-curves", ""): figure for task, figure in self._curves.items()}
        return {**made, "board": board_figure(self.found, self.boards)}

    def _task(self, board: TaskBoard) -> str:
        task, reasons = get_task(board.task), self.reasons[board.task]
        columns = task.scoring.columns(self.found.listings[board.standings[0].entry.id].metrics, task.gate)
        rows = [
            {**line, "cells": [stat(self.found.listings[line["id"]].metrics.get(name)) for name in columns]}
            for line in self.rows[board.task][:_MOST_ON_PAGE]
        ]
        figure = self._curves.get(board.task)
        status = f"Not ranked: {'; '.join(reasons)}." if reasons else "Ranked."
        anchors = load_anchors(task)
        return self._page(
            "task.html", "../", task=task.id, summary=_sentence(task.summary),
            meaning=meaning(task), status=status, resolution=resolution_text(board), rows=rows,
            count=len(self.rows[board.task]),
            replay=self._leader(board), rival=self._rival(board), leader=board.standings[0].entry.brain,
            columns=[f"{name[:1].upper()}{name[1:]}" for name in columns.values()], lines=axis_lines(anchors),
            anchors=anchor_table(anchors),
            figures=[] if figure is None else [page_figure(figure, file_name(f"{task.id}-curves", ""), data=False)],
            worlds=_worlds(task), still=self._stills.of_task(task),
        )  # fmt: skip

    def _leader(self, board: TaskBoard) -> dict[str, Any] | None:
        """What shows the task in motion: the runs of its first entry, if a page can execute them."""
        return self._told[board.standings[0].entry.id].replay

    def _rival(self, board: TaskBoard) -> dict[str, Any] | None:
        """The runs of the next entry that a page can execute: it can be watched beside the first one."""
        found = [self._told[one.entry.id].replay for one in board.standings[1:]]
        return next(filter(None, found), None)

    @cached_property
    def _brains(self) -> dict[str, list[dict[str, Any]]]:
        """The entries of every brain."""
        found: dict[str, list[dict[str, Any]]] = {}
        for lines in self.rows.values():
            for line in lines:
                if line["status"] == "current":
                    found.setdefault(line["brain"], []).append(line)
        return {brain: found[brain] for brain in sorted(found)}

    def _brain(self, brain: str) -> str:
        kinds: dict[str, list[dict[str, Any]]] = {}
        for line in self._brains[brain]:
            anchors = load_anchors(get_task(line["task"]))
            kind = "not known" if anchors is None else CEILINGS[anchors.ceiling.kind]
            kinds.setdefault(kind, []).append({**line, "lines": axis_lines(anchors)})
        count = len(self._brains[brain])
        summary, words = _about(brain)
        return self._page(
            "brain.html", "../", brain=brain, summary=summary, words=html_of(words) if words else "",
            lead=f"{count} current {'entry' if count == 1 else 'entries'}, measured on fresh seeds.",
            groups=[{"kind": kind, "rows": kinds[kind]} for kind in sorted(kinds)],
            efficiency=[{**line, "cells": self._told[line["id"]].efficiency} for line in self._brains[brain]],
            ablations=ablation_tables(self.root, brain),
        )  # fmt: skip

    def _submission(self, listing: Listing) -> str:
        id_ = listing.submission.submission_id
        content = submission_facts(listing, self.signers.names.get(id_))
        return self._page("submission.html", "../", badge=self._badge_words(listing)[1], figures=[],
                          replay=self._told[id_].replay, **content)  # fmt: skip

    @cached_property
    def _places(self) -> dict[str, Standing]:
        """Where every current entry stands."""
        return {one.entry.id: one for board in self.boards for one in board.standings}

    @cached_property
    def _drawn(self) -> set[str]:
        """The entries whose learning curves are drawn: more of them nobody could tell apart."""
        return {one.entry.id for board in self.boards for one in board.standings[:MOST_SHOWN]}

    def _badge_words(self, listing: Listing) -> tuple[str, str]:
        standing = self._places.get(listing.entry.id)
        ranked = standing is not None and standing.ranks is not None and not self.reasons[listing.entry.task]
        place = f", rank {rank_text(standing.ranks)}" if ranked and standing is not None else ""
        score = "waiting for verification" if listing.verified is None else f"{listing.entry.mean:z.3f}{place}"
        return listing.entry.task, f"{listing.submission.brain_type} {score}"

    def _list(self, title: str, lead: str, columns: list[str], rows: list[dict[str, Any]]) -> str:
        return self._page("list.html", title=title, lead=lead, columns=columns, rows=rows)

    def _task_list(self) -> str:
        rows = [
            {"name": board.task, "file": f"tasks/{file_name(board.task)}",
             "cells": [html_line(_sentence(get_task(board.task).summary)), self._first(board),
                       len(self.rows[board.task])]}
            for board in self.boards
        ]  # fmt: skip
        return self._list(
            "Tasks", "Every task with a verified entry, and which brain leads it.",
            ["Task", "What it asks", "Leader", "Entries"], rows,
        )  # fmt: skip

    def _first(self, board: TaskBoard) -> str:
        """The first entry of a task, if it is ranked."""
        return "not ranked" if self.reasons[board.task] else board.standings[0].entry.brain

    def _brain_list(self) -> str:
        rows = [
            {
                "name": brain,
                "file": f"brains/{file_name(brain)}",
                "cells": [_about(brain)[0], lines[0]["class"], len(lines)],
            }
            for brain, lines in self._brains.items()
        ]
        return self._list(
            "Brains", "Every brain with a current entry.", ["Brain", "What it is", "Class", "Tasks"], rows
        )

    def _history(self) -> str:
        entries = sorted(self.found.listings.values(), key=lambda one: one.entry.published)
        days = sorted({day(one.entry.date) for one in entries})[-_MOST_DAYS:]
        boards = {date: self._as_of(date) for date in days}
        known = {line["id"]: line for lines in self.rows.values() for line in lines}
        shown = [known[one.entry.id] for one in entries[-_MOST_ON_PAGE:]]
        return self._page("history.html", days=days, most=_MOST_DAYS, boards=boards, entries=shown, count=len(entries))

    def _as_of(self, date: str) -> list[dict[str, Any]]:
        """The board at the end of a day, task by task: what was published until then, ranked among itself."""
        boards = rank(one.entry for one in self.found.listings.values() if day(one.entry.date) <= date)
        ranked = {board.task: not why_unranked(get_task(board.task), board.resolution) for board in boards}
        shared = {board.task: _shared(board) for board in boards}
        return [
            {"task": board.task, "file": file_name(board.task), "lines": axis_lines(load_anchors(get_task(board.task))),
             "rows": [row(self.found.listings[one.entry.id], one, ranked[board.task], k,
                          one.group in shared[board.task])
                      for k, one in enumerate(board.standings[:MOST_SHOWN])],
             "more": len(board.standings) - MOST_SHOWN}
            for board in boards
        ]  # fmt: skip


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _about(brain: str) -> tuple[Any, str]:
    """What the docstring of a built-in brain says: its first line as HTML, and the rest as it is."""
    words = inspect.getdoc(get_brain(brain)) if is_built_in(brain) else ""
    summary, _, rest = (words or "").partition("\n\n")
    return html_line(summary), rest


def _shared(board: TaskBoard) -> set[str]:
    """The letters of groups that are not told apart: those that more than one entry has."""
    letters = Counter(one.group for one in board.standings)
    return {letter for letter, count in letters.items() if letter and count > 1}


def _short_names(brains: Sequence[str]) -> dict[str, str]:
    """Names for figures: without whose brain it is, unless two people gave theirs the same name."""
    short = [brain.partition(" of ")[0] for brain in brains]
    return {brain: name if short.count(name) == 1 else brain for brain, name in zip(brains, short, strict=True)}


def _shown(rows: Sequence[Any]) -> int:
    """How many rows of a task a page begins with. Those of a very long board are laid out anew at every key."""
    return MOST_SHOWN if len(rows) <= 5 * MOST_SHOWN else MOST_SHOWN // 2


def _rest(rows: list[dict[str, Any]]) -> Any:
    """Entries that the page makes rows of when somebody sees them; nothing where all are rows already."""
    return script_json([{name: line[name] for name in _REST} for line in rows]) if rows else ""


def _worlds(task: Task) -> list[tuple[str, Any]]:
    found = {phase.world.name: html_of(inspect.getdoc(type(phase.world)) or "") for phase in task.phases}
    return list(found.items())
