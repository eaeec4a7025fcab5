"""Episode tables are exact: what the run loop wrote comes back bit for bit."""

import io

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from nematodebench.records.episodes import PhaseColumns, episodes_frame, frame_records, write_frame

TRAIN = PhaseColumns(
    "train", ("reward", "steps", "terminated", "truncated", "success", "termination"), ("target", "starved")
)
ASSAY = PhaseColumns("assay", ("reward", "steps", "terminated", "truncated", "zone"), ())

finite = st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def matrices(draw, phase, rows):
    table = draw(hnp.arrays(np.float64, (rows, len(phase.columns)), elements=finite))
    for k, name in enumerate(phase.columns):
        if name == "steps":
            table[:, k] = draw(hnp.arrays(np.int32, rows))
        if name in {"terminated", "truncated", "success"}:
            table[:, k] = draw(hnp.arrays(np.bool_, rows))
        if name == "termination":
            table[:, k] = draw(hnp.arrays(np.int64, rows, elements=st.integers(0, 2)))
    return table


@settings(max_examples=25)
@given(st.data())
def test_round_trip_through_parquet_is_exact(data):
    runs = {
        run: {"train": data.draw(matrices(TRAIN, data.draw(st.integers(1, 4)))), "assay": data.draw(matrices(ASSAY, 1))}
        for run in data.draw(st.sets(st.integers(0, 60), min_size=1, max_size=3))
    }
    buffer = io.BytesIO()
    write_frame(episodes_frame([TRAIN, ASSAY], runs), buffer)
    back = frame_records([TRAIN, ASSAY], pl.read_parquet(io.BytesIO(buffer.getvalue())))
    assert back.keys() == runs.keys()
    for run, phases in runs.items():
        for name, table in phases.items():
            assert back[run][name].tobytes() == table.tobytes() or np.array_equal(back[run][name], table)


def frame():
    train = np.array([[1.5, 3, 1, 0, 1, 1], [2.5, 4, 0, 1, 0, 2]], dtype=np.float64)
    return episodes_frame([TRAIN, ASSAY], {0: {"train": train, "assay": np.array([[0.0, 300, 0, 1, -1]])}})


def test_same_rows_give_the_same_bytes():
    one, two = io.BytesIO(), io.BytesIO()
    write_frame(frame(), one)
    write_frame(frame(), two)
    assert one.getvalue() == two.getvalue()


def test_columns_a_phase_does_not_record_are_null():
    assert frame()["zone"].to_list() == [None, None, -1.0]
    assert frame()["termination"].to_list() == ["target", "starved", None]


@pytest.mark.parametrize(
    ("forge", "message"),
    [
        (lambda f: f.drop("reward"), "'reward' of phase 'train' is missing"),
        (lambda f: f.with_columns(pl.lit(None).alias("reward")), "missing values"),
        (lambda f: f.with_columns(pl.lit("won").alias("termination")), "unknown values"),
        (lambda f: f.with_columns(pl.lit(7).alias("episode")), "not numbered"),
    ],
)
def test_tables_that_cannot_come_from_runs_are_refused(forge, message):
    with pytest.raises(ValueError, match=message):
        frame_records([TRAIN, ASSAY], forge(frame()))
