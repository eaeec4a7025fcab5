"""What gets from benchmarks/ to the board."""

import base64
import json
import shutil
import types

import pytest
from submission_workshop import FOLLOWER, command, signed_files, verified

from nematodebench.board.collect import Collection, _count_tries, _Read, _sort_in, collect
from nematodebench.measures.composite import COMPOSITE
from nematodebench.verification.store import open_record, read_all


@pytest.fixture
def work(tmp_path):
    return verified(tmp_path / "repo")


@pytest.fixture(scope="module")
def genuine(tmp_path_factory):
    return verified(tmp_path_factory.mktemp("genuine") / "repo")


@pytest.fixture(scope="module")
def found(genuine):
    return collect(genuine.root)


@pytest.fixture(scope="module")
def listing(found):
    (listing,) = found.listings.values()
    return listing


def rejected(work):
    return {one.path: " ".join(one.reasons) for one in collect(work.root).rejected}


def test_a_genuine_submission_is_listed(genuine, found):
    assert (list(found.listings), found.rejected) == ([genuine.claims["submission_id"]], [])


def test_the_entry_is_what_the_verifier_measured(listing):
    score = listing.verified.metrics["composite_score"]
    assert (listing.entry.mean, listing.entry.ci95) == (score.mean, score.ci95)
    assert listing.entry.brain_class == "scripted"


def test_the_variance_is_that_of_all_runs(genuine, listing):
    import numpy as np

    statement, _ = open_record(genuine.root, f"{listing.entry.id}.dsse.json")
    runs = [[run.metrics for run in session.runs] for session in statement.predicate.sessions]
    values = np.concatenate([COMPOSITE.pseudo_values(session)["composite_score"] for session in runs])
    assert listing.entry.variance == pytest.approx(np.var(values, ddof=1), rel=1e-9)


def test_an_edited_metric_is_rejected_with_its_reason_and_not_listed(work):
    work.claims["metrics"]["composite_score"]["mean"] = 0.999
    work.save()
    found = collect(work.root)
    assert found.listings == {}
    assert "submission metrics" in " ".join(found.rejected[0].reasons)


def test_a_file_that_is_not_json_is_rejected(work):
    work.path.write_text("{")
    assert "not valid JSON" in rejected(work)[str(work.path.relative_to(work.root))]


def test_a_json_file_in_the_wrong_place_is_named_instead_of_passed_over(work):
    (work.root / "benchmarks" / "best.json").write_text("{}")
    assert list(rejected(work)) == ["benchmarks/best.json"]


def test_one_broken_submission_does_not_keep_another_off_the_board(work):
    work.path.with_name("20200101_000000.json").write_text("{}")
    found = collect(work.root)
    assert len(found.listings) == len(found.rejected) == 1


def test_no_submissions_is_an_empty_board(tmp_path):
    assert collect(tmp_path).boards() == []


class TestVerified:
    """The board shows what a signed record says, and believes no other."""

    def test_without_a_record_an_entry_waits_without_a_rank(self, work):
        shutil.rmtree(work.root / "verifications")
        found = collect(work.root)
        assert (found.listings, list(found.waiting)) == ({}, [work.claims["submission_id"]])
        assert found.boards() == []

    def test_a_record_says_how_many_runs_came_out_the_same(self, listing):
        done = listing.verified.reexecution
        assert (done.claimed, done.executed, done.identical, listing.runs) == (500, 50, 50, 50)
        assert not listing.too_good

    def test_the_score_is_the_fresh_one_and_differs_from_the_claim(self, genuine, listing):
        claim = genuine.claims["metrics"]["composite_score"]["mean"]
        assert listing.score.mean != claim
        assert listing.score.mean == pytest.approx(claim, abs=0.005)

    def test_a_record_about_other_bytes_does_not_count(self, work):
        work.claims["notes"] = "a word more"
        work.save()
        found = collect(work.root)
        assert (found.listings, list(found.waiting)) == ({}, [work.claims["submission_id"]])
        assert "its bytes have changed" in " ".join(found.rejected[0].reasons)

    def test_an_altered_record_does_not_count(self, work):
        (path,) = (work.root / "verifications").iterdir()
        envelope = json.loads(path.read_text())
        payload = json.loads(base64.b64decode(envelope["payload"]))
        payload["predicate"]["metrics"]["composite_score"]["mean"] = 0.999
        envelope["payload"] = base64.b64encode(json.dumps(payload).encode()).decode()
        path.write_text(json.dumps(envelope))
        believed = read_all(work.root)
        assert believed.records == {}
        assert "the signature by key" in " ".join(believed.refused.values())

    def test_a_record_by_a_revoked_key_does_not_count(self, work):
        (path,) = (work.root / "keys").iterdir()
        assert command(work.root, "keys", "revoke", path.stem, "--reason", "lost").code == 0
        believed = read_all(work.root)
        assert (believed.records, "is revoked" in " ".join(believed.refused.values())) == ({}, True)

    def test_a_withdrawn_entry_leaves_the_board_and_keeps_its_files(self, work):
        key = signed_files(FOLLOWER) / "private.pem"
        assert command(work.root, "keys", "withdraw", work.path, "--key", key, "--reason", "a mistake").code == 0
        found = collect(work.root)
        assert (found.listings, found.withdrawn) == ({}, {work.claims["submission_id"]: "a mistake"})
        assert work.path.is_file()


class Records:
    """Signed records that agree with whatever they are asked about; one submission is withdrawn, one not verified."""

    records = types.MappingProxyType({})
    withdrawn = types.MappingProxyType({"withdrawn": types.SimpleNamespace(reason="a mistake")})

    def __init__(self, verified):
        self.verified = verified

    def result(self, digest):
        return None if digest == "waits" else self.verified

    def record(self, digest):
        return None


def test_tries_of_one_brain_or_of_ones_own_brains_are_counted_together(listing):
    """Whoever enters one brain under many names, or withdraws what was unlucky, does not hide how often he tried."""
    found, believed = Collection(), Records(listing.verified)
    for k, (brain, kind, account, digest) in enumerate([
        ("mlp_ppo", "classical", "ada", "a"), ("mlp_ppo", "classical", "eve", "b"),
        ("mlp_ppo", "classical", "eve", "waits"),
        ("q_table", "classical", "eve", "c"), ("one.py:One", "open", "eve", "d"), ("two.py:Two", "open", "Eve", "e"),
        ("one.py:One", "open", "eve", "withdrawn"), ("one.py:One", "open", "ada", "f"),
    ]):  # fmt: skip
        fields = {"brain_type": brain, "brain_class": kind, "github": account, "submission_id": f"s{k}"}
        _sort_in(found, believed, listing.submission.model_copy(update=fields), _Read(f"{k}.json", digest, None))
    _count_tries(found)
    assert {name: one.tries for name, one in found.listings.items()} == {
        "s0": 2, "s1": 2, "s3": 1, "s4": 3, "s5": 3, "s7": 1
    }  # fmt: skip
