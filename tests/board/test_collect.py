"""What gets from benchmarks/ to the board."""

import json

import pytest
from submission_workshop import official

from nematodebench.board.collect import collect
from nematodebench.measures.composite import COMPOSITE


@pytest.fixture
def work(tmp_path):
    return official(tmp_path / "repo")


def rejected(work):
    return {one.path: " ".join(one.reasons) for one in collect(work.root).rejected}


def test_a_genuine_submission_is_listed(work):
    found = collect(work.root)
    assert (list(found.listings), found.rejected) == ([work.claims["submission_id"]], [])


def test_the_entry_is_what_the_submission_says(work):
    (listing,) = collect(work.root).listings.values()
    score = work.claims["metrics"]["composite_score"]
    assert (listing.entry.mean, list(listing.entry.ci95)) == (score["mean"], score["ci95"])
    assert (listing.entry.scripted, listing.entry.date) == (True, work.claims["timestamp"])


def test_the_variance_is_that_of_all_runs(work):
    import numpy as np

    (listing,) = collect(work.root).listings.values()
    sessions = range(len(work.claims["sessions"]))
    runs = [[run["metrics"] for run in work.record(k)["runs"]] for k in sessions]
    values = np.concatenate([COMPOSITE.pseudo_values(session)["composite_score"] for session in runs])
    assert listing.entry.variance == pytest.approx(np.var(values, ddof=1), rel=1e-9)


def test_an_edited_metric_is_rejected_with_its_reason_and_not_listed(work):
    work.claims["metrics"]["composite_score"]["mean"] = 0.999
    work.save()
    assert collect(work.root).listings == {}
    assert "submission metrics" in rejected(work)[str(work.path.relative_to(work.root))]


def test_a_file_that_is_not_json_is_rejected(work):
    work.path.write_text("{")
    assert "not valid JSON" in rejected(work)[str(work.path.relative_to(work.root))]


def test_a_json_file_in_the_wrong_place_is_named_instead_of_passed_over(work):
    (work.root / "benchmarks" / "best.json").write_text("{}")
    assert list(rejected(work)) == ["benchmarks/best.json"]


def test_one_broken_submission_does_not_keep_another_off_the_board(work):
    work.path.with_name("20200101_000000.json").write_text("{}")
    assert len(collect(work.root).listings) == len(collect(work.root).rejected) == 1


def test_no_submissions_is_an_empty_board(tmp_path):
    assert collect(tmp_path).boards() == []


class TestVerified:
    @pytest.fixture
    def verified(self, work):
        assert work.evaluate("--reproduce", 2, "--record").code == 0
        return work

    def _listing(self, work):
        (listing,) = collect(work.root).listings.values()
        return listing.verified

    def _forge(self, work, change):
        path = work.path.with_name(f"{work.path.stem}.verified.json")
        report = json.loads(path.read_text())
        change(report)
        path.write_text(json.dumps(report))

    def test_a_recorded_reexecution_counts(self, verified):
        again = self._listing(verified)
        assert (again.runs, again.identical) == (2, 2)

    def test_without_one_an_entry_is_not_verified(self, work):
        assert self._listing(work) is None

    def test_a_reexecution_of_other_bytes_does_not_count(self, verified):
        self._forge(verified, lambda report: report.update(submission_sha256="0" * 64))
        assert self._listing(verified) is None

    def test_runs_the_submission_does_not_have_do_not_count(self, verified):
        self._forge(verified, lambda report: report["reproduction"]["runs"][0].update(seed=1))
        assert self._listing(verified) is None

    def test_one_run_listed_many_times_does_not_count(self, verified):
        self._forge(verified, lambda report: report["reproduction"].update(runs=report["reproduction"]["runs"][:1] * 9))
        assert self._listing(verified) is None

    def test_a_time_that_is_none_does_not_count(self, verified):
        self._forge(verified, lambda report: report.update(evaluated="| yesterday"))
        assert self._listing(verified) is None
