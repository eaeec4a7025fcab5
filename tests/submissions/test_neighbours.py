"""One index of seeds, episodes and names tells what two submissions share."""

import pytest
from submission_workshop import SHORT, official

from nematodebench.submissions.history import History
from nematodebench.submissions.neighbours import Neighbours
from nematodebench.submissions.store import load_submission


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    work = official(tmp_path_factory.mktemp("made") / "repo", "null_random", SHORT)
    return load_submission(work.path)


def other(made, number, **changes):
    """The same submission with seeds and episodes of its own."""
    sessions = [
        one.model_copy(
            update={
                "run_seeds": [number * 1000 + k * 100 + n for n in range(50)],
                "records_sha256": f"{number:032d}{k:032d}",
            }
        )
        for k, one in enumerate(made.sessions)
    ]
    return made.model_copy(update={"sessions": sessions, **changes})


HISTORY = History({"a": (1, "20260101_000000"), "b": (2, "20260102_000000"), "c": (3, "20260103_000000")})


def index(**submissions):
    return Neighbours(submissions.items(), HISTORY)


def test_submissions_with_seeds_of_their_own_share_nothing(made):
    a, b = other(made, 1), other(made, 2)
    found = index(a=a, b=b)
    assert list(found.with_seeds("b", b)) == found.with_records("b", b) == found.namesakes("b", b) == []


def test_a_shared_seed_is_the_fault_of_the_later_one(made):
    a, b = other(made, 1), other(made, 2)
    b.sessions[3].run_seeds[7] = a.sessions[0].run_seeds[5]
    found = index(a=a, b=b, c=other(made, 3))
    assert list(found.with_seeds("b", b)) == [("a", [a.sessions[0].run_seeds[5]])]
    assert list(found.with_seeds("a", a)) == []


def test_a_seed_that_a_submission_has_twice_is_shared_with_nobody(made):
    a = other(made, 1)
    a.sessions[1].run_seeds[0] = a.sessions[0].run_seeds[0]
    assert list(index(a=a, b=other(made, 2)).with_seeds("a", a)) == []


def test_another_brain_or_task_may_have_the_same_seeds_but_not_the_same_episodes(made):
    a = other(made, 1)
    b = a.model_copy(update={"brain_type": "blind_cycle"})
    c = a.model_copy(update={"environment": a.environment.model_copy(update={"task": "pong-v1"})})
    found = index(a=a, b=b, c=c)
    assert list(found.with_seeds("b", b)) == list(found.with_seeds("c", c)) == []
    assert (found.with_records("b", b), found.with_records("c", c)) == (["a"], [])


def test_one_that_is_not_there_yet_is_compared_with_all(made):
    a = other(made, 1)
    assert [name for name, _ in index(a=a).with_seeds("", a)] == index(a=a).with_records("", a) == ["a"]


def test_names_that_look_alike_are_told_with_the_first_who_has_them(made):
    a, b = other(made, 1, contributor="Ada Example"), other(made, 2, contributor="Ada Example", github="ada")
    c = other(made, 3, contributor="ADA EXAMPLE", github="ada")
    found = index(a=a, b=b, c=c)
    assert [one.path for one in found.namesakes("a", a)] == []
    assert [one.path for one in found.namesakes("b", b)] == ["a"]
    assert [one.path for one in found.namesakes("c", c)] == ["a", "b"]
