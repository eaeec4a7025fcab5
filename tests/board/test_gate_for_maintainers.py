"""The gate: what a maintainer may change, and nobody else."""

import json

import pytest
from gate_workshop import OLD, entry, judged, write
from submission_workshop import commit, git

from nematodebench.board.gate import MAINTAINERS
from nematodebench.board.markdown import BEGIN, END, LEADERBOARD
from nematodebench.verification.keys import load_keys, new_key, revoke


def test_a_maintainer_adds_keys_and_records_with_the_board(repo):
    new_key(repo, "Grace's second", repo.parent / "second.pem")
    write(repo, "verifications/x.dsse.json")
    write(repo, LEADERBOARD, "new\n")
    write(repo, "README.md", f"# Title\n{BEGIN}\nnew\n{END}\n")
    assert judged(repo, "grace").refusals == []


def test_a_maintainer_revokes_a_key_and_changes_nothing_else_of_it(repo):
    (keyid,) = load_keys(repo).files
    revoke(repo, keyid, "lost")
    assert judged(repo, "grace").refusals == []
    path = repo / "keys" / f"{keyid}.json"
    path.write_text(path.read_text().replace("Grace", "Grave"))
    assert any("is changed" in line for line in judged(repo, "grace").refusals)
    git(repo, "switch", "-q", "-C", "main")
    git(repo, "switch", "-q", "-c", "back")
    path.write_text(json.dumps({**json.loads(path.read_text()), "revoked": None}))
    assert any("is changed" in line for line in judged(repo, "grace").refusals)


FIRST = f"verifications/foraging_small_classical_{OLD}.dsse.json"


def test_a_further_record_of_an_entry_is_put_beside_the_first(repo):
    write(repo, FIRST.replace(".dsse", ".2.dsse"))
    write(repo, FIRST.replace(".dsse", ".3.dsse"))
    assert judged(repo, "grace").refusals == []


@pytest.mark.parametrize("number", ["3", "0", "1", "02"])
def test_records_are_counted_without_a_gap(repo, number):
    write(repo, FIRST.replace(".dsse", f".{number}.dsse"))
    (line,) = judged(repo, "grace").refusals
    assert f"is record {number} of a submission, but there is no " in line


@pytest.mark.parametrize("revoked", [False, True])
def test_no_record_takes_the_place_of_another(repo, revoked):
    """Not even a maintainer's, and not where the key of the first one was revoked."""
    if revoked:
        git(repo, "switch", "-q", "main")
        revoke(repo, next(iter(load_keys(repo).files)), "lost")
        commit(repo)
        git(repo, "switch", "-q", "-C", "proposed")
    write(repo, FIRST, '{"better": true}')
    (line,) = judged(repo, "grace").refusals
    assert f"{FIRST} is changed: what is published stays" in line


def test_a_maintainer_does_not_change_entries_either(repo):
    write(repo, entry("episodes.xz"), "other\n")
    assert any("is changed" in line for line in judged(repo, "grace").refusals)


def test_nobody_makes_himself_a_maintainer(repo):
    write(repo, MAINTAINERS, "ada\n")
    commit(repo)
    new_key(repo, "Ada", repo.parent / "ada.pem")
    assert any("only a maintainer may add" in line for line in judged(repo).refusals)
