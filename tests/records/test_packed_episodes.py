"""Packed tables give back every bit, are smaller than Parquet, and refuse what is no table."""

import io
import json
import lzma

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from nematodebench.records.episodes import PhaseColumns, episodes_frame, write_frame
from nematodebench.records.integers import join, pack_ints, split, unpack_ints
from nematodebench.records.packed import pack_episodes, packed_phases, unpack_episodes

TRAIN = PhaseColumns("train", ("reward", "steps", "terminated", "truncated", "foods"), ("target", "starved"))
ASSAY = PhaseColumns("assay", ("reward", "steps", "terminated", "truncated"), ())
ANY_FLOAT = hnp.arrays(np.float64, st.integers(0, 60), elements=st.floats())
DECIMALS = hnp.arrays(np.int32, st.integers(1, 60)).map(lambda k: np.cumsum(k / 200.0))
ANY_INT = hnp.arrays(np.int64, st.integers(0, 300), elements=st.integers(-(2**63), 2**63 - 1) | st.integers(0, 5))


def runs(count: int = 20, episodes: int = 100, seed: int = 1) -> dict[int, dict[str, np.ndarray]]:
    """Runs like those of a worm: the reward is a sum of decimals with its rounding errors."""
    rng = np.random.default_rng(seed)
    found = {}
    for run in range(count):
        foods = rng.integers(0, 11, episodes)
        steps = 100 + 20 * foods + rng.integers(0, 30, episodes)
        reward = [sum([2.0] * f) - sum([0.005] * s) for f, s in zip(foods, steps, strict=True)]
        ended = (foods < 10).astype(float)
        train = np.stack([reward, steps, ended, 1 - ended, foods], axis=1).astype(np.float64)
        found[run] = {"train": train, "assay": np.array([[0.0, 300.0, 0.0, 1.0]])}
    return found


def same(one: dict, other: dict) -> bool:
    return one.keys() == other.keys() and all(
        one[run].keys() == other[run].keys()
        and all(
            np.ascontiguousarray(one[run][name]).tobytes() == np.ascontiguousarray(other[run][name]).tobytes()
            and one[run][name].shape == other[run][name].shape
            for name in one[run]
        )
        for run in one
    )


@settings(max_examples=100)
@given(ANY_FLOAT | DECIMALS)
def test_columns_are_split_and_joined_bit_for_bit(values: np.ndarray) -> None:
    assert join(split(values)).tobytes() == values.tobytes()


def test_zeros_of_both_signs_are_told_apart() -> None:
    values = np.array([0.0, -0.0, 0.5, -0.5])
    assert join(split(values)).tobytes() == values.tobytes()


def test_sums_of_decimals_are_kept_as_decimals() -> None:
    numbers = split(np.cumsum(np.full(1000, 0.005)))
    assert numbers.scale == 200
    assert numbers.whole.tolist() == list(range(1, 1001))
    assert np.abs(numbers.rest).max() < 1000


@settings(max_examples=100)
@given(ANY_INT)
def test_integers_are_packed_and_unpacked(values: np.ndarray) -> None:
    head, content = pack_ints(values)
    source = io.BytesIO(content)
    assert unpack_ints(head, values.size, source.read).tolist() == values.tolist()
    assert source.read() == b""


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_any_records_come_back_bit_for_bit(data: st.DataObject) -> None:
    given_runs = {
        run: {
            phase.name: data.draw(
                hnp.arrays(np.float64, (data.draw(st.integers(0, 4)), len(phase.columns)), elements=st.floats())
            )
            for phase in (TRAIN, ASSAY)
        }
        for run in data.draw(st.sets(st.integers(0, 60), max_size=3))
    }
    assert same(unpack_episodes(pack_episodes([TRAIN, ASSAY], given_runs)), given_runs)


def test_records_like_those_of_a_worm_need_less_than_half_of_parquet() -> None:
    records, parquet = runs(), io.BytesIO()
    write_frame(episodes_frame([TRAIN, ASSAY], records), parquet)
    packed = pack_episodes([TRAIN, ASSAY], records)
    assert same(unpack_episodes(packed), records)
    assert len(packed) < len(parquet.getvalue()) / 2


def test_same_records_give_the_same_bytes() -> None:
    assert pack_episodes([TRAIN, ASSAY], runs(3, 10)) == pack_episodes([TRAIN, ASSAY], runs(3, 10))


def test_a_packed_table_says_what_it_records() -> None:
    assert packed_phases(pack_episodes([TRAIN, ASSAY], runs(2, 5))) == [TRAIN, ASSAY]


def repacked(change) -> bytes:
    """A packed table whose description and bytes were changed."""
    first, _, rest = lzma.decompress(pack_episodes([TRAIN, ASSAY], runs(2, 50))).partition(b"\n")
    head = json.loads(first)
    rest = change(head, rest) or rest
    return lzma.compress(json.dumps(head).encode() + b"\n" + rest)


def written(head: dict, name: str) -> dict:
    return next(column for column in head["phases"][0]["written"] if column["column"] == name)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda head, rest: rest + b"x", "ends too late"),
        (lambda head, rest: rest[:-1], "ends too early"),
        (lambda head, rest: head.update(version=2), "does not describe"),
        (lambda head, rest: head.update(more=1), "does not describe"),
        (lambda head, rest: head.update(runs=[0, 0]), "not told apart"),
        (lambda head, rest: head["phases"][0].update(episodes=[50]), "not told apart"),
        (lambda head, rest: head["phases"][0].update(episodes=[10**12, 50]), "rows: at most"),
        (lambda head, rest: head["phases"][0].update(episodes=[51, -1]), "rows: at most"),
        (lambda head, rest: head["phases"][0]["columns"].remove("foods"), "its columns are not those it names"),
        (lambda head, rest: written(head, "steps").update(minus="reward", sign=1), "leans on one"),
        (lambda head, rest: written(head, "foods").update(order="nothing"), "leans on one"),
        (lambda head, rest: written(head, "foods")["whole"].update(steps=1), "no value of its list|ends too"),
        (lambda head, rest: written(head, "foods")["whole"].update(steps=-1), "does not describe"),
        (lambda head, rest: written(head, "foods").update(scale=10**40), "does not describe"),
    ],
)
def test_files_that_are_no_table_are_refused(change, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        unpack_episodes(repacked(change))


def test_an_unchanged_file_passes_the_same_way() -> None:
    assert same(unpack_episodes(repacked(lambda head, rest: None)), runs(2, 50))


@pytest.mark.parametrize("content", [b"", b"text", pack_episodes([TRAIN, ASSAY], runs(2, 5))[:-5]])
def test_files_that_are_not_xz_are_refused(content: bytes) -> None:
    with pytest.raises(ValueError, match=r"xz file|ends too early"):
        unpack_episodes(content)


def test_files_that_swell_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nematodebench.records.packed.MAX_CONTENT", 1000)
    with pytest.raises(ValueError, match="more than 1,000 bytes"):
        unpack_episodes(lzma.compress(bytes(100_000)))


def test_rows_are_counted_before_they_are_read() -> None:
    with pytest.raises(ValueError, match="it has 102 rows: at most 101 are read"):
        unpack_episodes(pack_episodes([TRAIN, ASSAY], runs(2, 50)), most_rows=101)
