"""The gate: what is published stays, and nothing comes in that hides what it is."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from gate_workshop import NEW, OLD, SHA, entry, judged, submission, write
from submission_workshop import command, commit, git

from nematodebench.board.changes import open_proposal
from nematodebench.board.gate import MAINTAINERS, MOST_FILES, judge_proposal
from nematodebench.board.markdown import BEGIN, END, LEADERBOARD
from nematodebench.board.paths import strange
from nematodebench.verification.keys import load_keys, new_key, revoke


def test_a_submission_with_its_files_is_accepted(repo):
    path = submission(repo, NEW)
    found = judged(repo)
    assert (found.refusals, found.submissions, found.kinds) == ([], [path], ["configs", "results"])


def with_bundle(root, timestamp):
    path = submission(root, timestamp)
    made = json.loads((root / path).read_text())
    source = {"name": "brain.py", "sha256": SHA}
    made.update(schema_version=4, bundle={"sha256": SHA, "entry": "brain.py:Brain", "files": [source],
                                          "dependencies": []})  # fmt: skip
    write(root, path, json.dumps(made))
    write(root, f"artifacts/bundles/{SHA}/brain.py")


def test_the_sources_of_a_bundle_belong_to_its_submission(repo):
    with_bundle(repo, NEW)
    assert judged(repo).refusals == []
    write(repo, f"artifacts/bundles/{SHA}/more.py")
    assert judged(repo).refusals == [f"artifacts/bundles/{SHA}/more.py belongs to no new submission"]


def test_the_authors_account_is_compared_without_case(repo):
    submission(repo, NEW, github="Ada")
    assert judged(repo, "aDA").refusals == []


def test_code_and_documents_come_together(repo):
    write(repo, "src/more.py")
    write(repo, "docs/more.md")
    write(repo, "README.md", f"# Other title\n{BEGIN}\nleaders\n{END}\n")
    assert judged(repo).refusals == []
    write(repo, ".github/workflows/x.yml")
    assert judged(repo, "grace").refusals == []


def test_what_the_target_got_since_is_not_part_of_the_difference(repo):
    submission(repo, NEW)
    commit(repo, "mine")
    git(repo, "switch", "-q", "main")
    submission(repo, "20200303_000000", github="eve", config="configs/theirs.yml")
    commit(repo, "theirs")
    found = judge_proposal(open_proposal(repo, "main", "proposed"), "ada")
    assert (found.refusals, len(found.submissions)) == ([], 1)


def test_the_same_place_taken_by_another_is_refused(repo):
    submission(repo, NEW)
    commit(repo, "mine")
    git(repo, "switch", "-q", "main")
    submission(repo, NEW, github="eve")
    commit(repo, "theirs")
    found = judge_proposal(open_proposal(repo, "main", "proposed"), "ada")
    assert any("was published by somebody else since" in line for line in found.refusals)


def chmod(root, name):
    (root / name).chmod(0o755)


def submodule(root):
    sha = git(root, "rev-parse", "HEAD").strip()
    git(root, "update-index", "--add", "--cacheinfo", f"160000,{sha},artifacts/other")


def link(root, name, target):
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).symlink_to(target)


ATTACKS = {
    "change of an entry": (lambda r: write(r, f"benchmarks/foraging_small/classical/{OLD}.json", "{}"), "is changed:"),
    "removal of an entry": (lambda r: (r / f"benchmarks/foraging_small/classical/{OLD}.json").unlink(), "is removed:"),
    "change of data": (lambda r: write(r, entry("episodes.xz")), "is changed:"),
    "removal of data": (lambda r: shutil.rmtree(r / entry()), "is removed:"),
    "removal of a record": (
        lambda r: (r / f"verifications/foraging_small_classical_{OLD}.dsse.json").unlink(), "is removed:"),
    "change of a record": (
        lambda r: write(r, f"verifications/foraging_small_classical_{OLD}.dsse.json"), "is changed:"),
    "removal of a key": (lambda r: next((r / "keys").iterdir()).unlink(), "is removed:"),
    "a key": (lambda r: new_key(r, "Eve", r.parent / "eve.pem"), "is a key, which only a maintainer may add"),
    "a revoked key": (lambda r: revoke(r, next(iter(load_keys(r).files)), "spite"), "is revoked, which only"),
    "a record": (lambda r: write(r, "verifications/x.dsse.json"), "which only a maintainer may add"),
    "a withdrawal": (lambda r: write(r, "verifications/x.withdrawn.dsse.json"), "which only a maintainer may add"),
    "something among the keys": (lambda r: write(r, "keys/x.json"), "x.json is not valid JSON"),
    "a key of another name": (
        lambda r: (new_key(r, "Eve", r.parent / "eve.pem"),
                   [p.rename(p.with_name("x.json")) for p in (r / "keys").iterdir() if "Eve" in p.read_text()]),
        "the name, the keyid and the key do not belong together"),
    "something among the records": (lambda r: write(r, "verifications/x.txt"), "is not a record, verifications/"),
    "a rename of an entry": (
        lambda r: (r / f"benchmarks/foraging_small/classical/{OLD}.json").rename(r / "benchmarks/x.json"),
        "is removed:"),
    "a file beside": (lambda r: write(r, "artifacts/experiments/free.bin"), "belongs to no new submission"),
    "a whole folder beside": (
        lambda r: write(r, "artifacts/experiments/x/x.json"), "belongs to no new submission"),
    "a stray among the submissions": (lambda r: write(r, "benchmarks/foraging_small/classical/x.json"), "is not a sub"),
    "a file in a new session": (
        lambda r: write(r, f"artifacts/experiments/{NEW}_00000000/evil.py"), "belongs to no new submission"),
    "a file in another's session": (lambda r: write(r, entry("more.yml")), "which is published already"),
    "a config that nobody uses": (lambda r: write(r, "configs/other.yml"), "is the config of no new submission"),
    "results with code": (lambda r: write(r, "src/code.py", "evil\n"), "come together with code"),
    "results with a workflow": (lambda r: write(r, ".github/workflows/x.yml"), "come together with workflows"),
    "results with documents": (lambda r: write(r, "docs/x.md"), "come together with documents"),
    "results with the board": (lambda r: write(r, LEADERBOARD, "me first\n"), "come together with board"),
    "results with maintainers": (lambda r: write(r, MAINTAINERS, "ada\n"), "come together with workflows"),
    "results with records": (lambda r: write(r, "verifications/y.dsse.json"), "records come together with configs"),
    "attributes": (lambda r: write(r, "artifacts/.gitattributes", "* -diff\n"), "hides differences"),
    "attributes at the top": (lambda r: write(r, ".gitattributes", "* -diff\n"), "hides differences"),
    "a compiler's config": (lambda r: write(r, ".numba_config.yaml"), "changes how the code is compiled"),
    "a server of contents": (lambda r: write(r, ".lfsconfig"), "names a server"),
    "another's config, changed": (
        lambda r: write(r, "configs/old.yml", "brain: other\n"), f"{OLD}.json was made with it"),
    "another's config, removed": (lambda r: (r / "configs/old.yml").unlink(), f"{OLD}.json was made with it"),
    "finished work of a verification": (
        lambda r: write(r, "verification_work/x/challenge.json"), "holds what a verification has finished"),
    "sessions aside": (lambda r: write(r, "experiments/x/x.json"), "holds sessions that were not submitted"),
    "a submodule": (submodule, "is a submodule"),
    "a link": (lambda r: link(r, "artifacts/experiments/l", "/etc/passwd"), "is a symbolic link"),
    "a link instead of an entry": (
        lambda r: ((r / entry("episodes.xz")).unlink(), link(r, entry("episodes.xz"), "x")), "changes its type"),
    "an executable": (lambda r: chmod(r, f"artifacts/experiments/{NEW}_00000000/mine.yml"), "is executable"),
    "another mode": (lambda r: chmod(r, "src/code.py"), "changes its mode from 100644 to 100755"),
    "another's case": (lambda r: write(r, f"Benchmarks/foraging_small/classical/{OLD}.json"), "could be taken for"),
    "keys in another case": (lambda r: write(r, "KEYS/x.json"), "some systems take KEYS/ for keys/"),
    "a look-alike in case": (lambda r: write(r, "artifacts/Experiments/x"), "could be taken for"),
    "a look-alike digit": (lambda r: write(r, "benchmarks/foraging_sma11/x.json"), "could be taken for"),
    "a look-alike letter": (lambda r: write(r, "benchmarks/foraging_ѕmall/x.json"), "not plain ASCII"),
    "an invisible letter": (lambda r: write(r, "src/co\u200bde.py"), "not plain ASCII"),
    "a turned name": (lambda r: write(r, "src/\u202eyp.edoc"), "not plain ASCII"),
    "a line break": (lambda r: write(r, "src/a\n::error::b"), "not plain ASCII"),
    "bytes that are no text": (lambda r: write(r, os.fsdecode(b"src/\xff.py")), "not plain ASCII"),
    "a blank": (lambda r: write(r, "src/a b.py"), "has blanks"),
    "a device": (lambda r: write(r, "src/aux.py"), "means something else on some systems"),
    "another system's path": (lambda r: write(r, "src\\code.py"), "some systems do not allow"),
    "a hidden file": (lambda r: write(r, "artifacts/experiments/.x"), "is not made of letters"),
}  # fmt: skip


@pytest.mark.parametrize("name", ATTACKS)
def test_each_is_refused_with_a_line_of_its_own(repo, name):
    attack, message = ATTACKS[name]
    submission(repo, NEW)
    git(repo, "add", "-A")
    attack(repo)
    if name != "a submodule":
        git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "attack")
    found = judge_proposal(open_proposal(repo, "main", "HEAD"), "ada")
    assert any(message in line for line in found.refusals), found.refusals
    assert all("\n" not in line for line in found.refusals)


ALONE = {
    "the board by hand": (lambda r: write(r, LEADERBOARD, "me first\n"), "only a maintainer changes what"),
    "the leaders by hand": (
        lambda r: write(r, "README.md", f"# Title\n{BEGIN}\nme\n{END}\n"), "only a maintainer changes what"),
    "another's account": (lambda r: submission(r, NEW, github="grace"), "but the author of the proposal is 'ada'"),
    "no account": (lambda r: submission(r, NEW, github=None), "names no github account"),
    "no submission": (
        lambda r: write(r, f"benchmarks/foraging_small/classical/{NEW}.json", "{}"), "is not a submission: "),
    "no JSON": (lambda r: write(r, f"benchmarks/foraging_small/classical/{NEW}.json", b"\xff"), "is not UTF-8"),
    "a huge file": (
        lambda r: write(r, f"benchmarks/foraging_small/classical/{NEW}.json", b" " * 4_000_001), "at most 4,000,000"),
    "too many submissions": (
        lambda r: [write(r, f"benchmarks/foraging_small/classical/20210101_{k:06d}.json") for k in range(21)],
        "21 submissions at once: propose at most 20"),
    "a new maintainer": (lambda r: write(r, MAINTAINERS, "ada\n"), "only a maintainer changes what judges proposals"),
    "a workflow": (lambda r: write(r, ".github/workflows/x.yml"), "only a maintainer changes what judges proposals"),
    "other owners": (lambda r: write(r, "CODEOWNERS", "* @ada\n"), "only a maintainer changes what judges proposals"),
    "other owners among documents": (
        lambda r: write(r, "docs/CODEOWNERS", "* @ada\n"), "docs/CODEOWNERS: only a maintainer changes"),
    "other owners in another case": (
        lambda r: write(r, "codeowners", "* @ada\n"), "codeowners: only a maintainer changes"),
    "a program as a config": (lambda r: submission(r, NEW, config="configs/x.py"), "configs/x.py is no config"),
    "a path file as a config": (lambda r: submission(r, NEW, config="configs/x.pth"), "configs/x.pth is no config"),
    "a config without an ending": (lambda r: submission(r, NEW, config="configs/x"), "configs/x is no config"),
    "a workflow as a config": (
        lambda r: submission(r, NEW, config=".github/workflows/x.yml"), "results come together with workflows"),
    "the README as a config": (lambda r: submission(r, NEW, config="README.md"), "results come together with board"),
    "a line break among records": (
        lambda r: write(r, "verifications/x\n::error::y.dsse.json"), "verifications/x : :error: :y.dsse.json is"),
    "a key that becomes a folder": (
        lambda r: (key := next((r / "keys").iterdir()), key.unlink(), write(r, f"keys/{key.name}/x")), "is removed:"),
    "maintainers that become a folder": (
        lambda r: ((r / MAINTAINERS).unlink(), write(r, f"{MAINTAINERS}/x", "ada\n")), f"{MAINTAINERS}: only a maint"),
    "an account that folds to another": (lambda r: submission(r, NEW, github="\u212aada"), "github: String should"),
    "another's config": (
        lambda r: write(r, "configs/old.yml", "other\n"), "configs/old.yml is changed or removed, but benchmarks/"),
    "too many files": (
        lambda r: [write(r, f"src/many/{k}.py", "") for k in range(MOST_FILES + 1)], "at most 3,000 can be shown"),
}  # fmt: skip


@pytest.mark.parametrize("name", ALONE)
def test_each_is_refused_on_its_own(repo, name):
    attack, message = ALONE[name]
    attack(repo)
    assert any(message in line for line in judged(repo).refusals)


def with_raw_entry(root, name):
    """A commit whose tree has one more entry, as no git would write it."""
    blob = git(root, "hash-object", "-w", "README.md").strip()
    tree = subprocess.run(["git", "cat-file", "tree", "HEAD^{tree}"], cwd=root, capture_output=True, check=True).stdout
    tree += b"100644 " + name + b"\0" + bytes.fromhex(blob)
    words = ["git", "hash-object", "-w", "-t", "tree", "--literally", "--stdin"]
    made = subprocess.run(words, cwd=root, input=tree, capture_output=True, check=True).stdout.decode().strip()
    return git(root, "commit-tree", "-p", "HEAD", "-m", "x", made).strip()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (b"..", "'..' means something else"),
        (b".", "'.' means something else"),
        (b".git", "a folder of git's own"),
        (b"keys/../x", "'..' means something else"),
        (b"keys", "'keys' is a file and a folder at once"),
        (b"README.md", "only a maintainer changes what"),
    ],
)
def test_a_tree_that_was_made_by_hand_is_refused(repo, name, message):
    head = with_raw_entry(repo, name)
    found = judge_proposal(open_proposal(repo, "main", head), "ada")
    assert any(message in line for line in found.refusals), found.refusals


def test_trees_that_hold_each_other_and_are_billions_of_files_are_counted_no_further_than_needed(repo):
    def tree(lines):
        words = ["git", "mktree"]
        return subprocess.run(words, cwd=repo, input=lines, capture_output=True, text=True, check=True).stdout.strip()

    blob, found = git(repo, "hash-object", "-w", "README.md").strip(), ""
    for level in range(10):
        kind, inner = ("040000 tree", found) if level else ("100644 blob", blob)
        found = tree("".join(f"{kind} {inner}\tx{k}\n" for k in range(10)))
    top = tree(git(repo, "ls-tree", "HEAD") + f"040000 tree {found}\tmany\n")
    head = git(repo, "commit-tree", "-p", "HEAD", "-m", "x", top).strip()
    found = judge_proposal(open_proposal(repo, "main", head), "ada")
    assert found.refusals == ["more than 3,000 files are added: at most 3,000 can be shown"]


@pytest.mark.parametrize("author", ["", "ada ", "@grace", "# who may sign", "\uff47race", "grace\n"])
def test_an_author_who_only_looks_like_a_maintainer_is_none(repo, author):
    write(repo, MAINTAINERS, "ada\n")
    assert any("only a maintainer changes what judges" in line for line in judged(repo, author).refusals)


def test_attributes_do_not_hide_a_difference(repo):
    """Even where the trusted tree has attributes that call a file binary or hide it from differences."""
    write(repo, ".git/info/attributes", "* -diff binary diff=hidden export-ignore\n")
    git(repo, "config", "diff.hidden.command", "true")
    write(repo, entry("episodes.xz"), "other\n")
    assert any("is changed" in line for line in judged(repo).refusals)


def test_the_command_says_each_reason_in_a_line_and_fails(repo):
    submission(repo, NEW, github="eve")
    commit(repo)
    done = command(repo, "board", "gate", "--base", "main", "--author", "ada")
    assert done.code == 1
    assert [line for line in done.out.splitlines() if line.startswith("refused: ")] == [
        f"refused: benchmarks/foraging_small/classical/{NEW}.json says github 'eve', but the author of the proposal is "
        "'ada'"
    ]


def test_the_command_lists_new_submissions_for_machines(repo):
    path = submission(repo, NEW)
    commit(repo)
    done = command(repo, "board", "gate", "--base", "main", "--author", "ada", "--json")
    assert (done.code, done.report["submissions"], done.report["accepted"]) == (0, [path], True)


@pytest.mark.parametrize(
    ("base", "message"), [("nowhere", "There is no commit"), ("--all", "There is no commit"), ("other", "share no his")]
)
def test_commits_that_cannot_be_compared_are_an_error(repo, base, message):
    git(repo, "branch", "other", git(repo, "commit-tree", "-m", "x", "HEAD^{tree}").strip())
    done = command(repo, "board", "gate", "--base", base)
    assert done.code == 2
    assert message in done.err


def test_nothing_of_the_proposal_is_executed(repo, tmp_path):
    mark = tmp_path / "mark"
    submission(repo, NEW)
    commit(repo)
    for key in ("core.fsmonitor", "diff.external", "filter.x.clean", "core.pager"):
        git(repo, "config", key, f"touch {mark}; false")
    assert command(repo, "board", "gate", "--base", "main", "--author", "ada").code == 0
    assert not mark.exists()


def test_this_repositorys_own_names_are_not_strange():
    root = Path(__file__).parents[2]
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, text=True, check=True).stdout
    names = [name for name in listed.split("\0") if name]
    assert [name for name in names if strange(name, ours=name.startswith(("benchmarks/", "artifacts/")))] == []


@pytest.mark.parametrize("name", ["src/git~1/config", "a/.GIT/config", "src/dot.", "x" * 301])
def test_names_that_git_itself_may_not_take_are_strange(name):
    assert strange(name, ours=False)
