"""The gate: what a maintainer may change, and nobody else."""

import base64
import json

import pytest
from gate_workshop import SHA, entry, judged, write
from submission_workshop import commit, git

from nematodebench.board.changes import open_proposal
from nematodebench.board.gate import MAINTAINERS, judge_proposal
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


def record(brain_class=None, challenge="1", keyid=SHA):
    """An envelope as the gate reads it; it is the board that asks whether a signature is right."""
    stated = {"subject": [], "predicate": {"brain_class": brain_class, "challenge": challenge, "finished": brain_class}}
    payload = base64.b64encode(json.dumps(stated).encode()).decode()
    return json.dumps({"payload": payload, "signatures": [{"keyid": keyid}]})


def renewed(repo, old, new, author="grace"):
    """What is said about a new record in the place of an old one."""
    git(repo, "switch", "-q", "main")
    write(repo, "verifications/x.dsse.json", old)
    commit(repo)
    git(repo, "switch", "-q", "-C", "proposed")
    write(repo, "verifications/x.dsse.json", new)
    return judged(repo, author).refusals


def test_a_maintainer_assigns_a_class_where_there_was_none(repo):
    assert renewed(repo, record(), record("classical")) == []
    (line,) = judge_proposal(open_proposal(repo, "main", "proposed"), "ada").refusals
    assert "is put in the place of another record, which only a maintainer may do" in line


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (record("classical"), record("spiking")),
        (record(), record()[:-1]),
        (record(), record("classical", challenge="2")),
        (record(), '{"signatures": [], "payload": ""}'),
        ('{"signatures": {}}', record("classical")),
    ],
)
def test_a_record_that_says_something_else_takes_no_ones_place(repo, old, new):
    (line,) = renewed(repo, old, new)
    assert "x.dsse.json is changed: what is published stays" in line


def test_a_record_whose_key_was_revoked_is_made_again(repo):
    git(repo, "switch", "-q", "main")
    (keyid,) = load_keys(repo).files
    assert len(renewed(repo, record(keyid=keyid), record(challenge="2"))) == 1
    git(repo, "switch", "-q", "-f", "main")
    revoke(repo, keyid, "lost")
    assert renewed(repo, record(keyid=keyid), record(challenge="2")) == []


def test_a_maintainer_does_not_change_entries_either(repo):
    write(repo, entry("episodes.xz"), "other\n")
    assert any("is changed" in line for line in judged(repo, "grace").refusals)


def test_nobody_makes_himself_a_maintainer(repo):
    write(repo, MAINTAINERS, "ada\n")
    commit(repo)
    new_key(repo, "Ada", repo.parent / "ada.pem")
    assert any("only a maintainer may add" in line for line in judged(repo).refusals)
