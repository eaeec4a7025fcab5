"""Run seeds are derived, unique and never shared between sessions."""

import inspect
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import nematodebench
from nematodebench.engine.seeds import brain_seed, run_seed, session_seed
from nematodebench.errors import UsageError

SESSION = st.integers(0, 2**53 - 1)


@given(SESSION, st.integers(0, 10_000))
def test_run_seeds_are_64_bit_and_repeatable(session, run):
    assert 0 <= run_seed(session, run) < 2**64
    assert run_seed(session, run) == run_seed(session, run)


def test_neighbouring_sessions_share_no_run():
    seeds = [run_seed(session, run) for session in range(200) for run in range(50)]
    assert len(set(seeds)) == len(seeds)


def test_seed_derivation_is_frozen():
    # A change here would make every recorded session unverifiable.
    assert [run_seed(0, 0), run_seed(5, 3)] == [2155924169936881764, 14926182401309046111]


def test_given_seed_is_used_and_missing_one_is_drawn():
    assert session_seed(7) == 7
    assert len({session_seed() for _ in range(20)}) > 1


@pytest.mark.parametrize("bad", [-1, 2**53])
def test_seed_out_of_range_is_refused(bad):
    with pytest.raises(UsageError, match="seed is"):
        session_seed(bad)


def test_a_brains_seed_is_its_own():
    seeds = [run_seed(session, run) for session in range(50) for run in range(50)]
    assert len({brain_seed(seed) for seed in seeds} | set(seeds)) == 2 * len(seeds)
    assert brain_seed(run_seed(0, 0)) == 12504161569416706220


def test_secrets_draws_session_seeds_and_challenges_and_nothing_else():
    root = Path(inspect.getfile(nematodebench)).parent
    users = [path for path in root.rglob("*.py") if re.search(r"\bsecrets\b", path.read_text())]
    assert sorted(path.relative_to(root).as_posix() for path in users) == [
        "engine/seeds.py",
        "verification/challenge.py",
    ]
