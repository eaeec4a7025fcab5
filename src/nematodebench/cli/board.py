"""The work behind ``nematodebench board``."""

import sys
from pathlib import Path
from typing import Any

from nematodebench.board.collect import Collection, Listing, collect
from nematodebench.board.files import current_files, stale_files, write_files
from nematodebench.board.markdown import rank_text
from nematodebench.board.ranking import Standing, TaskBoard
from nematodebench.cli.show import print_json, print_table, printable, stat
from nematodebench.errors import UsageError
from nematodebench.tasks.ranked import why_unranked
from nematodebench.tasks.registry import get_task
from nematodebench.verification.statement import Summary

__all__ = ["regenerate_board", "repository", "show_board", "tell_rejected"]


def show_board(root: Path, task: str | None, json: bool) -> bool:
    """Prints the board; returns whether every submission passed."""
    wanted = None if task is None else get_task(task).id
    found = collect(repository(root))
    boards = [board for board in found.boards() if wanted in {None, board.task}]
    if json:
        print_json({"tasks": [_plain(board, found) for board in boards], "rejected": list(map(vars, found.rejected))})
    else:
        for board in boards:
            _print_board(board, found)
        if not boards:
            print("There is no entry yet.")
        for one in found.waiting.values():
            if wanted in {None, one.entry.task}:
                print(printable(f"waiting for verification: {one.path} ({one.submission.brain_type})"))
    return tell_rejected(found)


def regenerate_board(root: Path, check: bool, json: bool) -> bool:
    """Writes or compares the files; returns whether all is well."""
    found = collect(repository(root))
    files = current_files(root, found)
    stale = stale_files(root, files)
    if not check:
        write_files(root, {name: files[name] for name in stale})
    if json:
        print_json({"entries": len(found.listings), "waiting": sorted(found.waiting),
                    "checked" if check else "written": stale, "rejected": list(map(vars, found.rejected))})  # fmt: skip
    else:
        print(
            f"submissions: {len(found.listings)} verified, {len(found.waiting)} waiting, {len(found.withdrawn)} "
            f"withdrawn, {len(found.rejected)} rejected"
        )
        for name in files:
            state = "up to date" if name not in stale else "NOT up to date" if check else "written"
            print(f"{name}: {state}")
        if check and stale:
            print("Run `nematodebench board regenerate` and commit what it writes.")
    return tell_rejected(found) and not (check and stale)


def repository(root: Path) -> Path:
    """The place of the board's data; a folder without any is named, because it is hardly what was meant."""
    if not (root / "benchmarks").is_dir():
        raise UsageError(
            f"{root.absolute()} has no folder benchmarks, which holds the board's data: go to a clone of the "
            "repository, or give its place with --root."
        )
    return root


def tell_rejected(found: Collection) -> bool:
    """Names what was rejected and why; returns whether nothing was."""
    if found.history.doubt:
        print(f"nematodebench: {found.history.doubt}", file=sys.stderr)
    for one in found.rejected:
        for reason in one.reasons:
            print(f"nematodebench: rejected {printable(one.path)}: {printable(reason)}", file=sys.stderr)
    return not found.rejected


def _print_board(board: TaskBoard, found: Collection) -> None:
    task = get_task(board.task)
    reasons = why_unranked(task, board.resolution)
    print(f"{board.task}{', not ranked: ' + '; '.join(reasons) if reasons else ''}\n")
    levels, plate = ["level"] * task.scoring.has_levels, ["chemotaxis"] * bool(task.assay)
    header = ["rank", "group", "brain", "class", "score", "normalised", *levels, "claimed", *plate, "verified", "runs",
              "contributor", "date"]  # fmt: skip
    rows = [_row(standing, found.listings) for standing in board.standings]
    if reasons:
        rows = [{**row, "rank": "-"} for row in rows]
    print_table(header, [[row[name] for name in header] for row in rows])
    norm = found.listings[board.standings[0].entry.id].submission.normalised
    if norm is not None:
        print(f"floor {norm.floor.value:z.3f}, ceiling {norm.ceiling.value:z.3f} ({norm.ceiling.kind})")
    if board.history:
        print(f"former entries: {len(board.history)}")
    print()


def _row(standing: Standing, listings: dict[str, Listing]) -> dict[str, str]:
    listing = listings[standing.entry.id]
    made, again = listing.submission, listing.verified
    norm, plate = listing.normalised, listing.chemotaxis
    return {
        "rank": rank_text(standing.ranks).replace("–", "-"),
        "group": standing.group or "-",
        "brain": made.brain_type,
        "class": listing.brain_class,
        "score": f"{stat(listing.score)}{' significant' if standing.significant else ''}",
        "claimed": f"{made.score.mean:z.3f}{' too good' if listing.too_good else ''}" if made.score else "-",
        "level": listing.level or "-",
        "normalised": "-" if norm is None else f"{norm.score:z.3f}",
        "chemotaxis": "-" if plate is None else f"{plate.level} {plate.index:.2f}",
        "runs": str(listing.runs),
        "contributor": printable(made.contributor),
        "date": standing.entry.date[:8],
        "verified": "no"
        if again is None
        else f"{again.reexecution.identical} of {again.reexecution.claimed} identical",
    }


def _again(result: Summary) -> dict[str, Any]:
    return result.model_dump(mode="json", exclude={"session_seeds", "fresh_runs", "provenance"})


def _plain(board: TaskBoard, found: Collection) -> dict[str, Any]:
    def describe(listing: Listing) -> dict[str, Any]:
        made = listing.submission
        content = made.model_dump(mode="json", exclude={"sessions", "provenance", "brain_config"})
        again = listing.verified
        return {
            **content,
            "brain_class": listing.brain_class,
            "path": listing.path,
            "verified": None if again is None else _again(again),
        }

    def describe_standing(standing: Standing) -> dict[str, Any]:
        replaced = None if standing.replaced is None else standing.replaced.id
        place = {"rank": standing.rank, "ranks": standing.ranks, "group": standing.group, "replaced": replaced,
                 "significant": standing.significant}  # fmt: skip
        return {**place, **describe(found.listings[standing.entry.id])}

    return {
        "task": board.task,
        "not_ranked_because": why_unranked(get_task(board.task), board.resolution),
        "resolution": board.resolution,
        "learners": [describe_standing(standing) for standing in board.learners],
        "pretrained": [describe_standing(standing) for standing in board.pretrained],
        "scripted": [describe_standing(standing) for standing in board.scripted],
        "history": [describe(found.listings[entry.id]) for entry in board.history],
    }
