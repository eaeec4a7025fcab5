"""Judges submissions, each once: a verdict stands as long as nothing changes that it rests on.

It rests on the bytes of the submission and its place, on every file in the folders of its sessions and of its bundle,
on its config and whether git has that, and on the code that judges (:mod:`nematodebench.submissions.known`). What
depends on other submissions is not part of it and is asked of all of them each time.
"""

import hashlib
import os
import stat
from functools import cached_property
from pathlib import Path

from nematodebench.brains.registry import is_built_in
from nematodebench.errors import UsageError
from nematodebench.records.submission_schema import NematodeBenchSubmission
from nematodebench.submissions.bundles import BUNDLES
from nematodebench.submissions.guarded import Judge, Verdict
from nematodebench.submissions.known import Known
from nematodebench.submissions.repository import tracked_configs
from nematodebench.submissions.sessions import ARTIFACTS, artifact_path
from nematodebench.submissions.untrusted import MAX_CONFIG, MAX_SUBMISSION, MAX_TABLE, PLAIN, read_file
from nematodebench.tasks.registry import all_tasks, get_task

__all__ = ["PatientJudge"]

_MOST_FILES = 100
"""A folder of a session holds three files, and that of a bundle a few more."""
_PART = 1 << 20


class PatientJudge:
    """A judge who remembers what passed.

    Args:
        root: Top of the repository.
        known: What was found out before.
    """

    def __init__(self, root: Path, known: Known) -> None:
        self._root, self._known, self._judge = root, known, Judge(root)
        self._configs: dict[str, str] = {}

    def __enter__(self) -> "PatientJudge":
        return self

    def __exit__(self, *error: object) -> None:
        self._judge.__exit__(*error)

    def judge(self, path: Path, submission: NematodeBenchSubmission | None, digest: str) -> Verdict:
        """What the checks of a submission say of it alone.

        Args:
            path: Its file.
            submission: What is in it; None where it cannot be read, and only the checks can say why.
            digest: Hash of the bytes that it was read from.
        """
        basis = None if submission is None else self._basis(path, submission, digest)
        if basis is not None and self._known.find("passed", *basis) is not None:
            return Verdict(True, [])
        verdict = self._judge.judge(path)
        self._configs.clear()
        # Whoever changes a file while it is judged shall not have a verdict on other bytes.
        if verdict.passed and basis is not None and submission is not None and basis == self._basis(path, submission):
            self._known.keep("", "passed", *basis)
        return verdict

    def _basis(self, path: Path, submission: NematodeBenchSubmission, digest: str | None = None) -> list[str] | None:
        """Everything that the verdict on a submission rests on; None where that is not known, or not plain files."""
        if not _is_ours(submission):
            return None
        name, config = path.relative_to(self._root).as_posix(), submission.config_file
        try:
            digest = digest or _sha256(read_file(self._root, name, MAX_SUBMISSION))
            found = [name, digest, config, str(config in self._tracked), self._config(config)]
            for folder in _folders(submission):
                found.extend((folder, self._content(folder)))
        except (OSError, UsageError):
            return None
        return found

    def _config(self, name: str) -> str:
        """The hash of a config, which many submissions share."""
        if name not in self._configs:
            self._configs[name] = _sha256(read_file(self._root, name, MAX_CONFIG))
        return self._configs[name]

    @cached_property
    def _tracked(self) -> set[str]:
        return set(tracked_configs(self._root))

    def _content(self, folder: str) -> str:
        """One hash of all names and files in a folder. No link is followed, on the way there or inside."""
        if folder.rpartition("/")[0] not in self._plain_folders:
            raise UsageError(f"A link leads to {folder}.")
        place = os.open(f"{self._root}/{folder}", PLAIN | os.O_DIRECTORY)
        try:
            with os.scandir(place) as entries:
                names = sorted(entry.name for entry in entries)
            if len(names) > _MOST_FILES:
                raise UsageError(f"{folder} holds too many files.")
            digest = hashlib.sha256()
            for name in names:
                _add_file(digest, name, place)
            return digest.hexdigest()
        finally:
            os.close(place)

    @cached_property
    def _plain_folders(self) -> set[str]:
        """Of the folders that hold sessions and bundles, those that no link leads to."""
        found = set()
        for folder in (ARTIFACTS, BUNDLES):
            parts = [self._root / folder, *(self._root / folder).parents]
            below = parts[: parts.index(self._root)]
            if all(part.is_dir() and not part.is_symlink() for part in below):
                found.add(folder)
        return found


def _is_ours(submission: NematodeBenchSubmission) -> bool:
    """Whether this package decides about brain and task: code of another package may change without its knowledge."""
    task = submission.environment.task
    known = task in all_tasks() and type(get_task(task).world).__module__.startswith("nematodebench.")
    return known and (submission.bundle is not None or is_built_in(submission.brain_type))


def _folders(submission: NematodeBenchSubmission) -> list[str]:
    """The folders of its sessions and of its bundle."""
    for reference in submission.sessions:
        if reference.file_path != artifact_path(reference.experiment_id):
            raise UsageError(f"{reference.file_path} is not the place of a session.")
    folders = [f"{ARTIFACTS}/{reference.experiment_id}" for reference in submission.sessions]
    return folders + ([] if submission.bundle is None else [f"{BUNDLES}/{submission.bundle.sha256}"])


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _add_file(digest: "hashlib._Hash", name: str, folder: int) -> None:
    """Adds a plain file in an open folder to a hash, with its name and size; it is one file of one place."""
    handle = os.open(name, PLAIN, dir_fd=folder)
    try:
        state = os.fstat(handle)
        if not stat.S_ISREG(state.st_mode) or state.st_nlink > 1 or state.st_size > MAX_TABLE:
            raise UsageError(f"{name} is not a plain file of a session.")
        digest.update(os.fsencode(name) + b"\0%d\0" % state.st_size)
        left, part = state.st_size, b"-"
        while part and left >= 0:
            wanted = min(left + 1, _PART)
            part = os.read(handle, wanted)
            digest.update(part)
            left -= len(part)
            if not left and len(part) < wanted:  # that was the end of the file
                return
        raise UsageError(f"{name} changes while it is read.")
    finally:
        os.close(handle)
