"""Fresh session seeds: nobody can choose them, nobody can find them by trying, and those of old records stay."""

from hypothesis import given
from hypothesis import strategies as st

from nematodebench.engine.seeds import MAX_SESSION_SEED, brain_seed, run_seed
from nematodebench.verification.challenge import SEED_BITS, session_seeds

WORD, DIGEST = "ab" * 32, "cd" * 32


def test_seeds_of_records_from_before_are_what_they_were():
    # A change here would make every signed record a forgery.
    assert session_seeds(WORD, DIGEST, 3, (), 32) == [630035656, 1289049071, 4030194341]


def test_fresh_seeds_use_all_their_bits_and_every_reader_of_json_reads_them():
    seeds = session_seeds(WORD, DIGEST, 200, ())
    assert SEED_BITS == 53
    assert max(seeds) <= MAX_SESSION_SEED == 2**53 - 1
    assert all(int(float(seed)) == seed for seed in seeds)
    for bit in range(SEED_BITS):
        assert 50 < sum(seed >> bit & 1 for seed in seeds) < 150


def test_a_brain_that_tries_every_seed_of_32_bits_would_not_find_the_run():
    """What a brain is told is the seed of one of 50 runs; none of the small sessions has such a run."""
    small = {brain_seed(run_seed(session % 2**32, 0)) for session in session_seeds(WORD, DIGEST, 50, ())}
    told = {brain_seed(run_seed(session, 0)) for session in session_seeds(WORD, DIGEST, 50, ())}
    assert not told & small


@given(st.sets(st.integers(0, MAX_SESSION_SEED), max_size=3), st.integers(1, 20))
def test_seeds_differ_from_each_other_and_from_those_taken(others, count):
    taken = {*others, session_seeds(WORD, DIGEST, 1, ())[0]}
    seeds = session_seeds(WORD, DIGEST, count, taken)
    assert len(set(seeds)) == count
    assert not taken & set(seeds)
