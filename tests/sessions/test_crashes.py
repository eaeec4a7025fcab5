"""A crash, or an error of the disk, at any file operation of any command loses nothing and leaves nothing behind."""

import errno
import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))
from crash_cases import CASES, WARM, Place, told_in_one_line
from crashes import CRASHED, Crashes

ERRORS = (errno.ENOSPC, errno.EIO, errno.EACCES)


@pytest.fixture(scope="module")
def crashes():
    made = Crashes(WARM)
    yield made
    made.close()


@pytest.fixture(scope="module")
def places(crashes, tmp_path_factory):
    """Every case with its furniture and what an unbroken command gives; made once."""
    known = {}

    def place(name):
        if name not in known:
            folder = tmp_path_factory.mktemp(name)
            made = Place(crashes, folder / "furnished", CASES[name])
            known[name] = made, *made.whole(folder / "whole")
        return known[name]

    return place


def _wrong(wrong, operations):
    assert not wrong, f"{len(wrong)} of {operations}: {dict(list(wrong.items())[:3])}"


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_a_crash_at_every_file_operation(places, tmp_path, name):
    place, operations, wanted = places(name)
    wrong = {}
    assert operations >= 3
    for at in range(1, operations + 1, place.case.every):
        folder = place.copied(tmp_path / str(at))
        crashed = place.run(folder, at=at)
        assert crashed.code == CRASHED, (at, crashed.errors)
        if found := place.repaired(folder, wanted):
            wrong[at] = found
    _wrong(wrong, operations)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_an_error_at_every_file_operation(places, tmp_path, name):
    """One line, an exit code, and nothing lost. What is only cleaning up may fail without a word.

    A disk that is full, one that is broken and a folder that is closed take turns; short commands meet all three.
    """
    place, operations, wanted = places(name)
    wrong, short = {}, operations <= 12 and place.case.every == 1
    for at in range(1, operations + 1, 1 if short else 2 * place.case.every):
        for error in ERRORS if short else [ERRORS[at // (2 * place.case.every) % len(ERRORS)]]:
            folder = place.copied(tmp_path / f"{at}-{error}")
            failed = place.run(folder, at=at, error=error)
            if failed.code and (failed.code not in {1, 2} or not told_in_one_line(failed.errors, os.strerror(error))):
                wrong[at, os.strerror(error)] = f"exit {failed.code}: {failed.errors[-600:]}"
            elif found := place.repaired(folder, wanted):
                wrong[at, os.strerror(error)] = found
    _wrong(wrong, operations)


@pytest.mark.slow
def test_commands_that_only_look_write_nothing(places, crashes, tmp_path):
    place, _, _ = places("verify")
    file = place.words[1]
    for words in (["evaluate", file], ["evaluate", file, "--reproduce", "1"], ["submit", file, "--draft"], ["tasks"]):
        assert crashes.run(place.copied(tmp_path / words[-1].replace("/", "_")), words).operations == 0, words
    assert "foraging_small-v2" in crashes.run(tmp_path / "tasks", ["tasks"]).out
