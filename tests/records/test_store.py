"""The experiment store writes whole files or none."""

from dataclasses import replace

import numpy as np
import pytest

from nematodebench.errors import UsageError
from nematodebench.files import atomic_write
from nematodebench.records.runs import RunFailure, RunResult
from nematodebench.records.store import ExperimentStore, load_experiment


def test_a_failed_write_leaves_the_old_file_and_no_litter(tmp_path, monkeypatch):
    path = tmp_path / "record.json"
    atomic_write(path, b"old")

    def full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        atomic_write(path, b"new")
    assert path.read_bytes() == b"old"
    assert [file.name for file in tmp_path.iterdir()] == ["record.json"]


def test_runs_come_back_as_they_were_written(tmp_path):
    store = ExperimentStore(tmp_path, "x")
    store.create({"a": 1}, "c.yml", "task: t\n")
    rows = np.array([[0.1, -0.0], [np.pi, 5e-324]])
    written = RunResult(3, 2**64 - 1, {"train": rows}, "a", "b", {"rate": 0.5}, 7, 0.25)
    store.runs.write(written)
    ((_, run),) = store.runs.read()
    assert replace(run, records={}) == replace(written, records={})
    assert run.records["train"].tobytes() == rows.tobytes()


def test_a_failed_run_comes_back_with_its_reason(tmp_path):
    store = ExperimentStore(tmp_path, "x")
    store.create({}, "c.yml", "task: t\n")
    failed = RunResult(0, 1, failure=RunFailure("it broke", "train", 3, 4, "trace"))
    store.runs.write(failed)
    assert list(store.runs.read()) == [("00000.npz", failed)]


@pytest.mark.parametrize(
    ("content", "message"),
    [(None, "no experiment"), ("{}", "Field required"), ("not json", "Invalid JSON"), ('{"surprise": 1}', "is not an")],
)
def test_what_is_no_experiment_is_named(tmp_path, content, message):
    folder = tmp_path / "exp"
    folder.mkdir()
    if content is not None:
        (folder / "exp.json").write_text(content)
    with pytest.raises(UsageError, match=message):
        load_experiment(folder)
