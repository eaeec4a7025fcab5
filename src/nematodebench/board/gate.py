"""Judges a proposal before anything in it is read as a result: who may change what, and in which form.

What is published stays as it is: a proposal adds entries, and only a maintainer adds records of verification, adds or
revokes keys, or withdraws an entry by a signed record. Every reason to refuse is one line.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from pydantic import ValidationError

from nematodebench.board.changes import MOST_FILES, Change, Proposal
from nematodebench.board.immutable import immutable, kept_configs
from nematodebench.board.markdown import BEGIN, END, LEADERBOARD, README
from nematodebench.board.paths import collisions, strange
from nematodebench.errors import UsageError
from nematodebench.records.plain_text import plain
from nematodebench.records.submission_schema import NematodeBenchSubmission
from nematodebench.submissions.bundles import BUNDLES
from nematodebench.submissions.store import BENCHMARKS
from nematodebench.submissions.untrusted import MAX_CONFIG, MAX_JSON, MAX_SUBMISSION, parse_record, problems
from nematodebench.verification.keys import KEYS, parsed_key
from nematodebench.verification.store import VERIFICATIONS

__all__ = ["MAINTAINERS", "MOST_FILES", "MOST_SUBMISSIONS", "Judgement", "judge_proposal", "kind_of"]

MOST_SUBMISSIONS = 20
"""Each of them is judged and executed as a whole."""
MAINTAINERS = ".github/maintainers.txt"
"""One GitHub account a line; the file of the trusted commit counts."""

_FOLDERS = {BENCHMARKS: "results", "artifacts": "results", VERIFICATIONS: "records", KEYS: "records",
            "configs": "configs", ".github": "workflows", ".ci": "workflows", "docs": "documents"}  # fmt: skip
_GUARDED = {"results", "records"}
_COMPANIONS = {"results": {"configs"}, "records": {"board"}}
_SUBMISSION = re.compile(rf"{BENCHMARKS}/[A-Za-z0-9_]+/[A-Za-z0-9_]+/[0-9]{{8}}_[0-9]{{6}}\.json")
_SESSION_FILE = re.compile(r"episodes\.parquet|episodes\.xz|runs\.parquet|[A-Za-z0-9_][A-Za-z0-9_.-]*\.ya?ml")
_SPECIAL = {
    ".gitattributes": "hides differences and starts filters",
    ".gitmodules": "brings in other repositories",
    ".numba_config.yaml": "changes how the code is compiled",
    ".lfsconfig": "names a server from which contents are fetched",
}
_OWNERS = {"codeowners", "docs/codeowners"}
"""Where GitHub looks, beside its own folder, for who has to agree to a change."""
_WORK = {
    "experiments": "sessions that were not submitted",
    "verification_work": "what a verification has finished",
}
"""Folders that are never committed, and what somebody could pretend there."""
_SHOWN = 20


@dataclass(frozen=True)
class Judgement:
    """What became of a proposal.

    Attributes:
        kinds: What it changes: results, records, configs, board, workflows, documents, code.
        files: How many paths differ.
        submissions: Paths of the submissions it adds.
        refusals: Reasons to refuse it, one line each; none if it may be judged further.
    """

    kinds: list[str]
    files: int
    submissions: list[str] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)


def kind_of(path: str) -> str:
    """What a path is part of."""
    if path in {LEADERBOARD, README}:
        return "board"
    if path.lower() in _OWNERS:
        return "workflows"
    folder, _, rest = path.partition("/")
    if rest and folder in _FOLDERS:
        return _FOLDERS[folder]
    return "documents" if path.endswith(".md") else "code"


def judge_proposal(proposal: Proposal, author: str | None) -> Judgement:
    """Makes every check; without an author those that ask who it is are left out."""
    if proposal.endless:
        many = f"more than {MOST_FILES:,} files are added: at most {MOST_FILES:,} can be shown"
        return Judgement([], MOST_FILES + 1, refusals=[many])
    kinds = sorted({kind_of(change.path) for change in proposal.changes})
    count = len(proposal.changes)
    if count > MOST_FILES:
        return Judgement(kinds, count, refusals=[f"{count:,} files differ: at most {MOST_FILES:,} can be shown"])
    added = [change for change in proposal.changes if change.added and _SUBMISSION.fullmatch(change.path)]
    if len(added) > MOST_SUBMISSIONS:
        many = f"{len(added):,} submissions at once: propose at most {MOST_SUBMISSIONS} together"
        return Judgement(kinds, count, [change.path for change in added], [many])
    new, refusals = {}, []
    for change in added:
        try:
            new[change.path] = _submission(proposal, change)
        except UsageError as error:
            refusals.append(str(error).rstrip("."))
    maintainer = None if author is None else author.lower() in _maintainers(proposal)
    rules = (
        _shortened(_forms(proposal.changes)),
        _shortened(collisions([change.path for change in proposal.changes if change.added], proposal.published)),
        _mixtures(proposal.changes, kinds),
        _shortened(immutable(proposal, _of_kinds(proposal, _GUARDED), maintainer)),
        _shortened(kept_configs(proposal)),
        _shortened(_workflows(proposal, maintainer)),
        _shortened(_unreferenced(proposal, new, complete=not refusals)),
        _shortened(_authors(new, author)),
        _shortened(_records(proposal, maintainer)),
        _board(proposal, kinds, maintainer),
    )
    lines = refusals + [line for rule in rules for line in rule]
    return Judgement(kinds, count, sorted(new), [plain(line) for line in lines])


def _of_kinds(proposal: Proposal, kinds: Collection[str]) -> list[Change]:
    return [change for change in proposal.changes if kind_of(change.path) in kinds]


def _workflows(proposal: Proposal, maintainer: bool | None) -> Iterator[str]:
    """Who is a maintainer, and what judges proposals, is not for strangers to change."""
    for change in _of_kinds(proposal, {"workflows"}) if maintainer is False else ():
        yield f"{change.path}: only a maintainer changes what judges proposals, and who is a maintainer"


def _shortened(lines: Iterator[str]) -> Iterator[str]:
    """The first reasons of a kind, and how many more there are."""
    found = list(lines)
    yield from found[:_SHOWN]
    if len(found) > _SHOWN:
        yield f"and {len(found) - _SHOWN} more like the last one"


def _submission(proposal: Proposal, change: Change) -> NematodeBenchSubmission:
    try:
        return parse_record(NematodeBenchSubmission, proposal.content(change, MAX_SUBMISSION), change.path)
    except ValidationError as error:
        raise UsageError(f"{change.path} is not a submission: {'; '.join(problems(error))}.") from error


def _maintainers(proposal: Proposal) -> set[str]:
    content = proposal.trusted(MAINTAINERS, MAX_CONFIG) or b""
    lines = (line.partition("#")[0].strip() for line in content.decode("utf-8", "replace").splitlines())
    return {line.lower().removeprefix("@") for line in lines if line}


def _forms(changes: tuple[Change, ...]) -> Iterator[str]:
    """Forms of a file that hide what it is, wherever it lies."""
    for change in changes:
        shown, name = repr(change.path)[1:-1], change.path.rpartition("/")[2].lower()
        before, after = change.modes
        reason = strange(change.path, ours=kind_of(change.path) in _GUARDED)
        if reason:
            yield f"{shown}: {reason}"
        if (top := change.path.partition("/")[0].lower()) in _WORK:
            yield f"{shown}: {top}/ holds {_WORK[top]}, and is never committed"
        if (top := change.path.partition("/")[0]) not in _FOLDERS and top.lower() in _FOLDERS:
            yield f"{shown}: some systems take {top}/ for {top.lower()}/"
        if name in _SPECIAL:
            yield f"{shown}: such a file {_SPECIAL[name]}"
        if after == "120000":
            yield f"{shown} is a symbolic link: only plain files are taken"
        elif after == "160000":
            yield f"{shown} is a submodule: only plain files are taken"
        elif after == "100755" and kind_of(change.path) in _GUARDED:
            yield f"{shown} is executable: data is not"
        elif "000000" not in (before, after) and before != after:
            yield f"{shown} changes its mode from {before} to {after}"


def _mixtures(changes: tuple[Change, ...], kinds: list[str]) -> Iterator[str]:
    """Results, and records of verification, come alone: whoever reads them has nothing else to look for."""
    for kind in sorted(_GUARDED & set(kinds)):
        others = [one for one in kinds if one != kind and one not in _COMPANIONS[kind]]
        if others:
            first = next(change.path for change in changes if kind_of(change.path) == others[0])
            yield f"{kind} come together with {', '.join(others)} ({first!r} for one): make a proposal for each"
            return


def _unreferenced(
    proposal: Proposal, new: Mapping[str, NematodeBenchSubmission], *, complete: bool
) -> Iterator[str]:  # fmt: skip
    """Every added file belongs to a submission of the same proposal, and to nothing that was there before."""
    folders = {one.file_path.rpartition("/")[0] for made in new.values() for one in made.sessions}
    configs = {made.config_file for made in new.values()}
    sources = {
        f"{BUNDLES}/{made.bundle.sha256}/{file.name}"
        for made in new.values() if made.bundle is not None for file in made.bundle.files
    }  # fmt: skip
    taken = {path.rpartition("/")[0] for path in proposal.published}
    with_results = bool(new) or not complete
    for change in proposal.changes:
        folder, _, name = change.path.rpartition("/")
        kind = kind_of(change.path)
        if not change.added or change.path in new or kind not in {"results", "configs"}:
            continue
        if kind == "configs":
            if with_results and not change.path.endswith((".yml", ".yaml")):
                yield f"{change.path} is no config, configs/<name>.yml"
            elif with_results and complete and change.path not in configs:
                yield f"{change.path} is the config of no new submission"
        elif _SUBMISSION.fullmatch(change.path):
            continue  # it is none, and that was said
        elif change.path.startswith(f"{BENCHMARKS}/"):
            yield f"{change.path} is not a submission, {BENCHMARKS}/<task>/<class>/<timestamp>.json"
        elif folder in taken:
            yield f"{change.path} is added to {folder}, which is published already"
        elif complete and change.path not in sources and not (folder in folders and _is_session_file(folder, name)):
            yield f"{change.path} belongs to no new submission"


def _is_session_file(folder: str, name: str) -> bool:
    record = f"{folder.rpartition('/')[2]}.json"
    return name in {record, f"{record}.xz"} or _SESSION_FILE.fullmatch(name) is not None


def _authors(new: Mapping[str, NematodeBenchSubmission], author: str | None) -> Iterator[str]:
    if author is None:
        return
    for path, made in new.items():
        if made.github is None:
            yield f"{path} names no github account: it has to be the author's, {author!r} (submit --github)"
        elif made.github.lower() != author.lower():
            yield f"{path} says github {made.github!r}, but the author of the proposal is {author!r}"


def _records(proposal: Proposal, maintainer: bool | None) -> Iterator[str]:
    for change in proposal.changes:
        folder, _, name = change.path.partition("/")
        if kind_of(change.path) != "records" or not change.added:
            continue
        if maintainer is False:
            what = "a key" if folder == KEYS else "a record of verification"
            yield f"{change.path} is {what}, which only a maintainer may add ({MAINTAINERS})"
        if folder == KEYS:
            yield from _key(proposal, change)
        elif re.fullmatch(r"[A-Za-z0-9_.-]+\.dsse\.json", name) is None:
            yield f"{change.path} is not a record, {VERIFICATIONS}/<submission id>.dsse.json"
        else:
            yield from _numbered(proposal, change.path)


def _numbered(proposal: Proposal, path: str) -> Iterator[str]:
    """A second record comes after a first one, and a third after a second."""
    found = re.fullmatch(r"(.+)\.([0-9]+)\.dsse\.json", path)
    if found is None:
        return
    earlier = f"{found[1]}{'' if found[2] == '2' else f'.{int(found[2]) - 1}'}.dsse.json"
    if earlier not in proposal.published and all(change.path != earlier for change in proposal.changes):
        yield f"{path} is record {found[2]} of a submission, but there is no {earlier} before it"


def _key(proposal: Proposal, change: Change) -> Iterator[str]:
    """A file that is no key would keep the board from reading all the others."""
    try:
        parsed_key(proposal.content(change, MAX_CONFIG), change.path.partition("/")[2])
    except UsageError as error:
        yield str(error).rstrip(".")


def _board(proposal: Proposal, kinds: list[str], maintainer: bool | None) -> Iterator[str]:
    """The files of the board follow from what is published; a maintainer writes them when that has changed."""
    for change in proposal.changes:
        if kind_of(change.path) != "board" or maintainer is not False or "results" in kinds:
            continue
        if change.path == LEADERBOARD or _leaders(proposal, change):
            yield f"{change.path}: only a maintainer changes what `nematodebench board regenerate` writes"


def _leaders(proposal: Proposal, change: Change) -> bool:
    """Whether the README's part about leaders differs."""

    def part(content: bytes) -> list[str]:
        return re.findall(f"{re.escape(BEGIN)}.*?{re.escape(END)}", content.decode("utf-8", "replace"), re.DOTALL)

    if change.status != "M":
        return True
    try:
        return part(proposal.content(change, MAX_JSON)) != part(proposal.content(change, MAX_JSON, before=True))
    except UsageError:
        return True
