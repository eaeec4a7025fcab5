"""Builds a submission from sessions. All of it is computed from their episodes and checked before it is kept."""

import datetime
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from pydantic import ValidationError

from nematodebench.brains.registry import is_built_in
from nematodebench.errors import UsageError
from nematodebench.kernels.target import code_generation
from nematodebench.records.bundle_schema import Bundle
from nematodebench.records.evaluation_schema import CheckResult
from nematodebench.records.provenance import collect_provenance
from nematodebench.records.store import CHECKPOINTS, ExperimentStore, find_record
from nematodebench.records.submission_schema import NematodeBenchSubmission
from nematodebench.sessions.rerun import task_of
from nematodebench.submissions.bundles import BUNDLES, bundle_problems, pack
from nematodebench.submissions.case import Case, config_disagreement, repeated_seeds
from nematodebench.submissions.checks import judge
from nematodebench.submissions.claim_checks import BUILD_CHECKS
from nematodebench.submissions.data_checks import DATA_CHECKS
from nematodebench.submissions.repository import RESULTS, changed_files, ignores, repository_root, tracked_configs
from nematodebench.submissions.sessions import ARTIFACTS, StoredSession, open_session
from nematodebench.submissions.store import submission_id
from nematodebench.submissions.tables import packed_files
from nematodebench.submissions.untrusted import MAX_CONFIG, parse_config, problems, read_file

__all__ = ["Attribution", "Draft", "OwnSource", "prepare"]


@dataclass(frozen=True)
class Attribution:
    """What only the contributor can say."""

    contributor: str
    github: str | None = None
    notes: str = ""


@dataclass(frozen=True)
class OwnSource:
    """The files of a brain of the contributor's own, and the libraries that they import."""

    files: tuple[Path, ...] = ()
    needs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Draft:
    """A submission that could be made: what it would say, and everything that speaks against it."""

    submission: NematodeBenchSubmission | None
    sessions: list[StoredSession]
    checks: list[CheckResult]
    refusals: list[str] = field(default_factory=list)
    sources: dict[str, bytes] = field(default_factory=dict)

    @cached_property
    def files(self) -> dict[str, dict[str, bytes]]:
        """The files of every session as they are published, by its id."""
        records = [session.metadata for session in self.sessions]
        packed = [packed_files(session, task_of(session.metadata)) for session in self.sessions]
        return {record.experiment_id: files for record, files in zip(records, packed, strict=True)}

    @property
    def problems(self) -> list[str]:
        """Every reason to refuse the submission, each as one line."""
        failed = [f"{check.name}: {check.message}. {check.advice}" for check in self.checks if check.outcome == "FAIL"]
        return [*self.refusals, *failed]

    @property
    def warnings(self) -> list[str]:
        """What the contributor should know."""
        return [f"{check.name}: {check.message}." for check in self.checks if check.outcome == "WARN"]


def prepare(
    root: Path,
    folders: Sequence[Path],
    who: Attribution,
    *,
    category: str | None = None,
    timestamp: str | None = None,
    own: OwnSource | None = None,
) -> Draft:
    """Reads sessions and drafts the submission of them. It changes nothing on disk."""
    sessions = _open(root, folders)
    # Whoever submits a brain of their own has it here and trusts it.
    case = Case(root, sessions, trust_code=True)
    checks = judge(case, DATA_CHECKS)
    refusals = [*_git_problems(root), *_already_published(root, sessions)]
    passed = {check.name for check in checks if check.outcome in {"PASS", "WARN"}}
    if not {"consistency", "task", "brain", "episodes"} <= passed:
        return Draft(None, sessions, checks, refusals)
    if category is not None and category != case.category:
        refusals.append(f"category: the sessions belong to {case.category!r}, not to {category!r}.")
    bundle, sources = _bundle(case, own or OwnSource(), refusals)
    if bundle is None and not is_built_in(case.first.brain):
        return Draft(None, sessions, checks, refusals)
    submission = _compose(case, who, timestamp or now(), bundle)
    case.submission = submission.model_copy(update={"bundle": None})  # here the brain itself can be asked
    return Draft(submission, sessions, judge(case, BUILD_CHECKS, checks), refusals, sources)


def _bundle(case: Case, own: OwnSource, refusals: list[str]) -> tuple[Bundle | None, dict[str, bytes]]:
    """Packs the contributor's files; a brain of this repository needs none, and any other cannot do without."""
    name = case.first.brain
    if is_built_in(name):
        if own.files:
            refusals.append(f"bundle: brain {name!r} is part of this repository and needs no --bundle.")
        return None, {}
    if not own.files:
        refusals.append(
            f"bundle: brain {name!r} is not part of this repository: give its source with --bundle FILE, once for each "
            "file, and the libraries it imports with --needs."
        )
        return None, {}
    bundle, sources = pack(own.files, name, own.needs)
    if bundle.entry_file is not None and bundle.entry_file.sha256 != case.first.brain_source_hash:
        refusals.append(f"bundle: {bundle.entry_file.name} is not the file that the sessions were made with.")
    if (case.root / BUNDLES / bundle.sha256).exists():
        refusals += [f"bundle: {problem}." for problem in bundle_problems(case.root, bundle)]
    return bundle, sources


def now() -> str:
    """The present time, in the form that names a submission's file."""
    return f"{datetime.datetime.now(datetime.UTC):%Y%m%d_%H%M%S}"


def _open(root: Path, folders: Sequence[Path]) -> list[StoredSession]:
    if not folders:
        raise UsageError("Name the sessions to submit: --experiments experiments/ID ...")
    sessions = []
    for folder in folders:
        place = folder.resolve()
        if find_record(place) is None:
            hint = f"`nematodebench run --resume {place.name}` ends an interrupted one."
            raise UsageError(f"There is no finished session in {folder}. {hint}")
        store = ExperimentStore(place.parent, place.name)
        if store.complete and store.plan_path.is_file():
            store.clean()  # a kill came between the end of the session and its cleaning
        sessions.append(open_session(place.parent, place.name, beside=(CHECKPOINTS,)))
    names = [session.metadata.experiment_id for session in sessions]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"Session {name} is given twice.")
    return sorted(sessions, key=lambda session: session.metadata.experiment_id)


def _git_problems(root: Path) -> list[str]:
    if repository_root(root) is None:
        return ["git: this folder is not in a git repository. Submissions are made in a clone of the benchmark's."]
    changed = changed_files(root)
    if changed is None:
        return ["git: there is no commit yet, so nobody could tell what the sessions were made with."]
    if changed:
        more = f" and {len(changed) - 3} more" if len(changed) > 3 else ""
        aside = ", ".join(RESULTS)
        return [
            f"git: tracked files differ from the last commit: {', '.join(changed[:3])}{more}. "
            f"Commit or take back the changes ({aside} aside)."
        ]
    if ignores(root, ARTIFACTS):
        return [f"git: .gitignore hides {ARTIFACTS}/, which must be committed: write /experiments/, not experiments/."]
    return []


def _already_published(root: Path, sessions: Sequence[StoredSession]) -> list[str]:
    ids = [session.metadata.experiment_id for session in sessions]
    return [f"session {name} is already in {ARTIFACTS}." for name in ids if (root / ARTIFACTS / name).exists()]


def _compose(case: Case, who: Attribution, timestamp: str, bundle: Bundle | None) -> NematodeBenchSubmission:
    first, findings = case.first, case.findings
    config_file, config_sha256 = _config(case)
    try:
        return NematodeBenchSubmission(
            submission_id=submission_id(case.category, timestamp),
            timestamp=timestamp,
            brain_type=first.brain if bundle is None else bundle.entry,
            brain_class=case.brain_class,  # checked by the schema
            brain_config=first.brain_config,
            bundle=bundle,
            environment=case.environment,
            category=case.category,
            config_file=config_file,
            config_sha256=config_sha256,
            sessions=[session.reference() for session in case.sessions],
            total_sessions=len(case.sessions),
            total_runs=sum(record.num_runs for record in case.records),
            score_key=case.task.score_key,
            **vars(findings),
            all_seeds_unique=not repeated_seeds(case.records),
            contributor=who.contributor,
            github=who.github,
            notes=who.notes,
            provenance=collect_provenance(code_generation()),
        )
    except ValidationError as error:
        raise UsageError(f"The submission cannot be made: {'; '.join(problems(error))}.") from error


def _config(case: Case) -> tuple[str, str]:
    """The tracked config that says what the sessions say; if there is none, the place where it should be."""
    session = case.sessions[0]
    own = session.metadata.config_file
    wanted = session.sha256(own)
    agreeing: list[tuple[bool, bool, str, str]] = []
    for name in tracked_configs(case.root):
        try:
            content = read_file(case.root, name, MAX_CONFIG)
            if config_disagreement(parse_config(content, name), session.metadata, case.brain) is None:
                digest = hashlib.sha256(content).hexdigest()
                agreeing.append((digest != wanted, not name.endswith(f"/{own}"), name, digest))
        except UsageError:
            continue  # not a config of this kind
    return min(agreeing)[2:] if agreeing else (f"configs/{own}", wanted)
