"""The file of a saved brain: read back exactly, and refused in one line where it is damaged, foreign or newer."""

import json
import pickle
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nematodebench.errors import UsageError
from nematodebench.records.checkpoint import BodyRecord, Checkpoint, CheckpointHeader, read_checkpoint

HEADER = CheckpointHeader(
    brain="q_table", kind="compiled", config={"rate": 0.5}, agents=1, task="pong-v1", task_spec_hash="a" * 64, seed=7,
    body=BodyRecord(sensors=["left"], low=[0.0], high=[1.0], choices=2, effectors=0, choice_names=[]), episode=3,
    final=True, package_version="0",
)  # fmt: skip
ARRAYS = {
    "0/values": np.arange(6, dtype=np.float32).reshape(2, 3),
    "0/count": np.array(5),
    "0/none": np.zeros((0, 3)),
    "0/flags": np.array([True, False]),
    "0/wave": np.array([1 + 2j, np.nan]),
    "0/big": np.array([2**64 - 1], dtype=np.uint64),
    "0/swapped": np.arange(3, dtype=">i2"),
}
CONTENT = Checkpoint(HEADER, ARRAYS).content


def read(content, folder):
    (folder / "brain").write_bytes(content)
    return read_checkpoint(folder / "brain")


def test_what_is_written_is_read(tmp_path):
    found = read(CONTENT, tmp_path)
    assert found.header.model_copy(update={"complex": []}) == HEADER
    assert list(found.arrays) == list(ARRAYS)
    for name, array in ARRAYS.items():
        assert found.arrays[name].shape == array.shape
        assert np.array_equal(found.arrays[name], array, equal_nan=array.dtype.kind == "c")
    assert found.content == CONTENT
    assert found.arrays["0/values"].flags.writeable


def test_the_form_is_that_of_safetensors():
    """Eight bytes of length, a JSON header that is padded to eight, then the arrays without gaps."""
    length = int.from_bytes(CONTENT[:8], "little")
    table = json.loads(CONTENT[8 : 8 + length])
    about = table.pop("__metadata__")
    assert all(isinstance(value, str) for value in about.values())
    ends = [row["data_offsets"] for row in table.values()]
    assert [first for first, _ in ends] == [0, *(end for _, end in ends[:-1])]
    assert (8 + length) % 8 == 0
    assert len(CONTENT) == 8 + length + ends[-1][1]
    assert table["0/values"] == {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}


@pytest.mark.parametrize("size", [0, 4, 8, 100, len(CONTENT) // 2, len(CONTENT) - 1])
def test_a_file_that_is_cut_off_is_refused(size, tmp_path):
    with pytest.raises(UsageError, match=r"cut off|damaged"):
        read(CONTENT[:size], tmp_path)


def test_every_changed_byte_is_noticed(tmp_path):
    draw = random.Random(3)
    for place in [*range(0, 64), *draw.sample(range(len(CONTENT)), 200)]:
        changed = bytearray(CONTENT)
        changed[place] ^= 1 << draw.randrange(8)
        try:
            found = read(bytes(changed), tmp_path)
        except UsageError as error:
            assert "\n" not in str(error)
        else:  # only where JSON means the same: a space for a space-like byte
            assert found.content == CONTENT


@given(st.binary(max_size=300))
@settings(max_examples=200, deadline=None)
def test_bytes_from_anywhere_are_refused(tmp_path_factory, content):
    with pytest.raises(UsageError, match="is not a brain that nematodebench has saved"):
        read(content, tmp_path_factory.mktemp("any"))


def test_a_pickle_is_never_loaded(tmp_path):
    class Evil:
        def __reduce__(self):
            return (pytest.fail, ("a pickle was loaded",))

    for content in (pickle.dumps(Evil()), np.array([Evil()]).dumps()):
        with pytest.raises(UsageError, match="is not a brain"):
            read(content, tmp_path)


def test_other_safetensors_are_foreign(tmp_path):
    head = json.dumps({"__metadata__": {"format": "pt"}, "w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}})
    with pytest.raises(UsageError, match="is not a brain that nematodebench has saved"):
        read(len(head).to_bytes(8, "little") + head.encode() + bytes(4), tmp_path)


def changed(edit):
    """The file with another header, as somebody could write it."""
    length = int.from_bytes(CONTENT[:8], "little")
    table = json.loads(CONTENT[8 : 8 + length])
    edit(table)
    head = json.dumps(table).encode()
    return len(head).to_bytes(8, "little") + head + CONTENT[8 + length :]


def test_a_newer_version_says_what_to_do(tmp_path):
    content = changed(lambda table: table["__metadata__"].update(version="2"))
    with pytest.raises(UsageError, match="is of format version '2': install a newer nematodebench"):
        read(content, tmp_path)


@pytest.mark.parametrize(
    "row",
    [
        {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 10**9]},
        {"dtype": "F32", "shape": [-2, -3], "data_offsets": [0, 24]},
        {"dtype": "O", "shape": [6], "data_offsets": [0, 24]},
        {"dtype": "F32", "shape": [2**40], "data_offsets": [0, 24]},
        {"dtype": "F32", "shape": "many", "data_offsets": [0, 24]},
        [],
    ],
)
def test_an_array_that_is_not_there_is_refused_also_with_the_right_checksum(row, tmp_path, monkeypatch):
    monkeypatch.setattr("nematodebench.records.checkpoint._digest", lambda *_: "right")

    def edit(table):
        table["0/values"] = row
        table["__metadata__"]["sha256"] = "right"

    with pytest.raises(UsageError, match="describes an array that it does not hold"):
        read(changed(edit), tmp_path)


@pytest.mark.parametrize("text", ["{}", "[]", "[" * 100_000, '{"brain": 3}'])
def test_a_header_that_describes_no_brain_is_refused(text, tmp_path, monkeypatch):
    monkeypatch.setattr("nematodebench.records.checkpoint._digest", lambda *_: "right")
    content = changed(lambda table: table["__metadata__"].update(header=text, sha256="right"))
    with pytest.raises(UsageError, match="its header does not describe a brain"):
        read(content, tmp_path)


def test_a_header_that_is_not_there_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("nematodebench.records.checkpoint._digest", lambda *_: "right")

    def edit(table):
        del table["__metadata__"]["header"]
        table["__metadata__"]["sha256"] = "right"

    with pytest.raises(UsageError, match="its header does not describe a brain"):
        read(changed(edit), tmp_path)


@pytest.mark.parametrize("name", ["0/nothing", "0/values", "0/count"])
def test_complex_numbers_that_are_not_there_are_refused(name, tmp_path, monkeypatch):
    monkeypatch.setattr("nematodebench.records.checkpoint._digest", lambda *_: "right")
    header = HEADER.model_copy(update={"complex": [name]}).model_dump_json()
    content = changed(lambda table: table["__metadata__"].update(header=header, sha256="right"))
    with pytest.raises(UsageError, match=f"has no array of complex numbers called '{name}'"):
        read(content, tmp_path)


def test_a_file_that_is_not_there_is_one_line(tmp_path):
    with pytest.raises(UsageError, match="There is no file"):
        read_checkpoint(tmp_path / "nothing")
    with pytest.raises(UsageError, match="Cannot read"):
        read_checkpoint(tmp_path)
