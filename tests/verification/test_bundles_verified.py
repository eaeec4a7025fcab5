"""A brain from outside, from its submission to the board, executed in the real sandbox; and one that cheats."""

import shutil

import pytest
from bundle_workshop import HOARDER, HONEST, bundled
from submission_workshop import Work, command, copied

from nematodebench.board.collect import UNCLASSIFIED, collect
from nematodebench.submissions.bundles import BUNDLES
from nematodebench.verification.store import VERIFICATIONS

pytestmark = pytest.mark.slow


def verify(work, *more):
    return command(work.root, "verify", work.path, "--work", work.root.parent / "work", "--runs", "2", *more)


@pytest.fixture(scope="module")
def signed(tmp_path_factory):
    """The honest submission in a repository of its own, verified with a key that is thrown away."""
    work = bundled(tmp_path_factory.mktemp("signed") / "repo", HONEST)
    key = work.root.parent / "private.pem"
    assert command(work.root, "keys", "new", key, "--owner", "A maintainer").code == 0
    outcome = verify(work, "--key", key, "--class", "spiking")
    assert outcome.code == 0, outcome.err
    assert "2 of 500 executed again, 2 identical bit for bit" in outcome.out
    return work, key


def test_a_verified_bundle_is_on_the_board_with_the_class_that_was_assigned(signed):
    work, _ = signed
    found = collect(work.root)
    assert found.rejected == []
    (listing,) = found.listings.values()
    assert (listing.submission.brain_type, listing.brain_class, listing.runs) == (HONEST, "spiking", 50)
    shown = command(work.root, "board", "show").out
    assert "| bundled_table.py:Table | spiking |" in " ".join(shown.split())


def test_a_bundle_altered_after_signing_is_refused(signed, tmp_path):
    work = Work(copied(signed[0].root, tmp_path / "repo"))
    folder = work.root / BUNDLES / work.claims["bundle"]["sha256"]
    (folder / "bundled_table.py").write_text((folder / "bundled_table.py").read_text().replace("0.2", "0.9"))
    found = collect(work.root)
    assert found.listings == {}
    assert any("is not the file that was submitted" in reason for one in found.rejected for reason in one.reasons)


def test_without_an_assigned_class_it_is_unclassified(signed, tmp_path):
    """The finished runs are still in the work folder, so only the statement is made anew."""
    work, key = signed
    again = Work(copied(work.root, tmp_path / "repo"))
    shutil.rmtree(again.root / VERIFICATIONS)
    outcome = command(
        again.root, "verify", again.path, "--work", work.root.parent / "work", "--runs", "2", "--key", key
    )
    assert outcome.code == 0, outcome.err
    (listing,) = collect(again.root).listings.values()
    assert listing.brain_class == UNCLASSIFIED


def test_a_bundle_that_keeps_state_between_runs_is_not_verified(tmp_path):
    work = bundled(tmp_path / "repo", HOARDER)
    key = tmp_path / "private.pem"
    assert command(work.root, "keys", "new", key, "--owner", "A maintainer").code == 0
    outcome = command(work.root, "verify", work.path, "--work", tmp_path / "work", "--runs", "20", "--key", key)
    assert outcome.code == 1, outcome.err
    assert "FAILED" in outcome.out
    assert "different:" in outcome.out
    assert not (work.root / VERIFICATIONS).exists()
    assert collect(work.root).listings == {}
