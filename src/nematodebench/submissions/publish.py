"""Publishes a submission completely or not at all, one at a time, also when the machine stops in the middle.

The order is: journal, copies of the sessions under hidden names, renamed to their places, the submission's JSON, then
the originals go, then the journal. The JSON is the instant it happens: before it, the sessions are whole where they
were; after it, the submission is whole where it belongs. What a dead process left beside that is taken away by the
next one, which finds the journal.
"""

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nematodebench.errors import StorageError, UsageError
from nematodebench.files import atomic_write
from nematodebench.records.store import CHECKPOINTS, find_record
from nematodebench.submissions.build import Attribution, Draft, OwnSource, prepare
from nematodebench.submissions.bundles import BUNDLES
from nematodebench.submissions.repository import state_folder
from nematodebench.submissions.sessions import ARTIFACTS
from nematodebench.submissions.store import submission_path

__all__ = ["RefusedError", "recover", "submit"]

_PATIENCE = 120.0
_INCOMING = ".incoming"


class RefusedError(UsageError):
    """The sessions do not make an official submission; ``problems`` says why, line by line."""

    def __init__(self, problems: list[str]) -> None:
        self.problems = problems
        super().__init__(f"The submission is refused: {' '.join(problems)}")


def submit(
    root: Path, folders: list[Path], who: Attribution, category: str | None = None, own: OwnSource | None = None
) -> tuple[Path, Draft]:
    """Makes an official submission: moves the sessions to artifacts/ and writes it to benchmarks/.

    Raises:
        RefusedError: Something speaks against it; nothing was changed.
    """
    with _exclusive_lock(root):
        recover(root)
        draft = prepare(root, folders, who, category=category, own=own)
        while draft.submission is not None and (root / _target(draft)).exists():
            time.sleep(0.2)  # two in one second: the later one waits for a name of its own
            draft = prepare(root, folders, who, category=category, own=own)
        if draft.problems or draft.submission is None:
            raise RefusedError(draft.problems)
        try:
            return keep(root, draft), draft
        except OSError as error:
            raise StorageError(
                f"Cannot keep the submission: {error.strerror or error}. Nothing was changed."
            ) from error


def _target(draft: Draft) -> str:
    assert draft.submission is not None
    return submission_path(draft.submission.category, draft.submission.timestamp)


@contextlib.contextmanager
def _exclusive_lock(root: Path) -> Iterator[None]:
    """Holds a lock, so that there is one submission at a time. The lock goes with its process, however that ends."""
    with (state_folder(root) / "submit.lock").open("w") as handle:
        deadline = time.monotonic() + _PATIENCE
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError as error:
                if time.monotonic() > deadline:
                    raise UsageError("Another submission is being made in this repository. Try again later.") from error
                time.sleep(0.05)
        yield


def _journal(root: Path) -> Path:
    return state_folder(root) / "submit.json"


def keep(root: Path, draft: Draft) -> Path:
    """Writes a draft to its places."""
    assert draft.submission is not None
    target, contents = root / _target(draft), draft.files
    moves = {session.metadata.experiment_id: str(session.folder) for session in draft.sessions}
    bundle = _new_bundle(root, draft)
    journal = {"target": _target(draft), "moves": moves, "bundle": bundle}
    atomic_write(_journal(root), json.dumps({**journal, "check": _check(journal)}).encode())
    for name, files in contents.items():
        _place(root, f"{ARTIFACTS}/{name}", files)
    if bundle is not None:
        _place(root, f"{BUNDLES}/{bundle}", draft.sources)
    _sync(root / ARTIFACTS)
    target.parent.mkdir(parents=True, exist_ok=True)
    atomic_write(target, (draft.submission.model_dump_json(indent=1) + "\n").encode())
    _sync(target.parent)
    _finish(root, moves)
    return target


def _new_bundle(root: Path, draft: Draft) -> str | None:
    """The name of the bundle's folder, unless another submission of the same brain has put it there already."""
    assert draft.submission is not None
    bundle = draft.submission.bundle
    if bundle is None or (root / BUNDLES / bundle.sha256).is_dir():
        return None
    return bundle.sha256


def _place(root: Path, place: str, files: dict[str, bytes]) -> None:
    """Writes a folder from what was checked, and gives it its name when it is complete."""
    incoming = root / ARTIFACTS / _INCOMING / Path(place).name
    incoming.mkdir(parents=True)
    (root / place).parent.mkdir(parents=True, exist_ok=True)
    for file, content in files.items():
        with (incoming / file).open("wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
    _sync(incoming)
    incoming.rename(root / place)


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _finish(root: Path, moves: dict[str, str]) -> None:
    """Removes the originals of a published submission, each with one rename, and then the journal.

    Checkpoints are not published: they stay where they are.
    """
    left = False
    for name, place in moves.items():
        original = Path(place)
        gone = original.with_name(f".{name}.submitted")
        if find_record(original) is not None and original.resolve() != (root / ARTIFACTS / name).resolve():
            original.rename(gone)
        if (gone / CHECKPOINTS).is_dir():
            original.mkdir(exist_ok=True)
            (gone / CHECKPOINTS).rename(original / CHECKPOINTS)
        shutil.rmtree(gone, ignore_errors=True)
        left = left or gone.exists()
    if not left:  # otherwise the next submission tries again
        _forget(root)


def _forget(root: Path) -> None:
    shutil.rmtree(root / ARTIFACTS / _INCOMING, ignore_errors=True)
    _journal(root).unlink(missing_ok=True)


def _check(journal: dict[str, Any]) -> str:
    """A hash of a journal: what it names is removed."""
    return hashlib.sha256(json.dumps(journal, sort_keys=True).encode()).hexdigest()[:16]


def _read(journal: Path) -> dict[str, Any]:
    """What a stopped process was at."""
    try:
        content: dict[str, Any] = json.loads(journal.read_text(encoding="utf-8"))
        check = content.pop("check")
        bundle = content.get("bundle")
        names = [
            content["target"],
            *content["moves"],
            *content["moves"].values(),
            *([] if bundle is None else [bundle]),
        ]
        if check == _check(content) and all(isinstance(name, str) and name and "\0" not in name for name in names):
            return content
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        pass
    raise UsageError(
        f"{journal} is damaged: it says what a submission that was stopped has written. Look with `git status` for "
        "what is half done, put it right, remove that file, and submit again."
    )


def recover(root: Path) -> None:
    """Ends what a stopped process began: a submission that was written is finished, one that was not is undone."""
    journal = _journal(root)
    _clear(journal)
    if not journal.is_file():
        return
    content = _read(journal)
    target, moves = root / content["target"], content["moves"]
    _clear(target)
    if target.is_file():
        _finish(root, moves)
        return
    for name, original in moves.items():
        if Path(original).is_dir():  # the original is whole: nothing is removed before the submission stands
            shutil.rmtree(root / ARTIFACTS / name, ignore_errors=True)
    if content.get("bundle") is not None:
        shutil.rmtree(root / BUNDLES / content["bundle"], ignore_errors=True)
    for folder in (target.parent, target.parent.parent):
        with contextlib.suppress(OSError):
            folder.rmdir()
    _forget(root)


def _clear(path: Path) -> None:
    """Removes half-written files that were to become ``path``."""
    for leftover in path.parent.glob(f".{path.name}.*"):
        leftover.unlink()
