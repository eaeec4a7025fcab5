"""Judges submissions, each once: a verdict stands as long as nothing changes that it rests on.

It rests on the bytes of the submission and its place, on every file in the folders of its sessions and of its bundle,
on its config and whether git has that, and on the code that judges (:mod:`nematodebench.submissions.known`). What
depends on other submissions is not part of it and is asked of all of them each time.
"""

import contextlib
import hashlib
from functools import cached_property
from pathlib import Path

from nematodebench.brains.registry import is_built_in
from nematodebench.errors import UsageError
from nematodebench.records.submission_schema import NematodeBenchSubmission
from nematodebench.submissions.bundles import BUNDLES
from nematodebench.submissions.contents import Ahead, folder_hash
from nematodebench.submissions.guarded import Judge, Verdict
from nematodebench.submissions.known import Known
from nematodebench.submissions.repository import tracked_configs
from nematodebench.submissions.sessions import ARTIFACTS, artifact_path
from nematodebench.submissions.untrusted import MAX_CONFIG, MAX_SUBMISSION, read_file
from nematodebench.tasks.registry import all_tasks, get_task

__all__ = ["PatientJudge"]


class PatientJudge:
    """A judge who remembers what passed.

    Args:
        root: Top of the repository.
        known: What was found out before.
    """

    def __init__(self, root: Path, known: Known) -> None:
        self._root, self._known, self._judge = root, known, Judge(root)
        self._configs: dict[str, str] = {}
        self._ahead = Ahead()

    def __enter__(self) -> "PatientJudge":
        return self

    def __exit__(self, *error: object) -> None:
        self._judge.__exit__(*error)
        self._ahead.close()

    def expect(self, submission: NematodeBenchSubmission) -> None:
        """Says that a submission will be judged: its folders are read meanwhile."""
        with contextlib.suppress(UsageError):
            if _is_ours(submission):
                self._ahead.announce([self._place(folder) for folder in _folders(submission)])

    def all_expected(self) -> None:
        """Says that no other will be."""
        self._ahead.all_announced()

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
        """Everything that the verdict on a submission rests on; None where that is not known, or not plain files.

        With ``digest`` it is what was read first: the hash of the submission and what was found ahead of time.
        """
        if not _is_ours(submission):
            return None
        early = digest is not None
        name, config = path.relative_to(self._root).as_posix(), submission.config_file
        try:
            digest = digest or _sha256(read_file(self._root, name, MAX_SUBMISSION))
            found = [name, digest, config, str(config in self._tracked), self._config(config)]
            for folder in _folders(submission):
                found.extend((folder, self._content(folder, early)))
        except (OSError, ValueError, UsageError):
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

    def _content(self, folder: str, early: bool = False) -> str:
        """One hash of all names and files in a folder. No link is followed, on the way there or inside."""
        place = self._place(folder)
        return (self._ahead.find(place) if early else None) or folder_hash(place)

    def _place(self, folder: str) -> str:
        if folder.rpartition("/")[0] not in self._plain_folders:
            raise UsageError(f"A link leads to {folder}.")
        return f"{self._root}/{folder}"

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
