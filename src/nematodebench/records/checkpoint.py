"""The file of a saved brain: data, never code.

It has the form of a safetensors file, which many tools read: the length of a JSON header, the header with name, type,
shape and place of every array, then the arrays. What the brain is stands in the header's ``__metadata__``, with the
SHA-256 of all the rest. Nothing is unpickled, and a file that is damaged, cut off, foreign or newer is refused in one
line.
"""

import hashlib
import json
import math
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, ValidationError

from nematodebench.errors import UsageError
from nematodebench.files import atomic_write
from nematodebench.records.schemas import Count, Line, Name, Record, Seed64, Sha256

__all__ = ["SUFFIX", "Checkpoint", "CheckpointHeader", "read_checkpoint"]

SUFFIX = ".safetensors"
_FORMAT, _VERSION = "nematodebench brain", 1
_MOST_HEADER = 256 << 20
_TYPES = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "|i1", "U64": "<u8",
    "U32": "<u4", "U16": "<u2", "U8": "|u1", "BOOL": "|b1",
}  # fmt: skip
_NAMES = {np.dtype(code): name for name, code in _TYPES.items()}


class BodyRecord(Record):
    """The body that a brain was built for."""

    sensors: list[Line]
    low: list[float]
    high: list[float]
    choices: int = Field(ge=0)
    effectors: int = Field(ge=0)
    choice_names: list[Line]


class CheckpointHeader(Record):
    """What a saved brain is."""

    brain: Name
    kind: Literal["compiled", "python"]
    config: dict[str, Any]
    body: BodyRecord
    agents: Count = Field(ge=1, description="brains in the file, one for each agent of the task")
    task: Name = Field(description="the task it was trained on")
    task_spec_hash: Sha256
    seed: Seed64 = Field(description="of the run it comes from")
    episode: Count = Field(ge=0, description="episodes of the run that it has been through with learning on")
    final: bool = Field(description="whether the run was over")
    continued_from: Sha256 | None = Field(None, description="the file that its run began with; null for a fresh brain")
    package_version: Line
    states: list[Any] = Field([], description="of a Python brain: what the arrays belong to, one tree for each agent")
    generators: Any = Field(None, description="of a Python brain: where the global random generators were")
    complex: list[str] = Field([], description="arrays whose last dimension holds real and imaginary parts")


@dataclass(frozen=True)
class Checkpoint:
    """A saved brain: what it is, and its arrays by name (``<agent>/<name>``)."""

    header: CheckpointHeader
    arrays: dict[str, NDArray[Any]]

    @cached_property
    def content(self) -> bytes:
        """The file."""
        pairs = [name for name, array in self.arrays.items() if array.dtype.kind == "c"]
        header = self.header.model_copy(update={"complex": pairs})
        plain = {name: _plain(array) for name, array in self.arrays.items()}
        table: dict[str, Any] = {}
        data, place = [], 0
        for name, array in plain.items():
            data.append(array.tobytes())
            ends = [place, place := place + array.nbytes]
            table[name] = {"dtype": _NAMES[array.dtype], "shape": list(array.shape), "data_offsets": ends}
        text, body = header.model_dump_json(), b"".join(data)
        about = {"format": _FORMAT, "version": str(_VERSION), "header": text, "sha256": _digest(text, table, body)}
        head = json.dumps({"__metadata__": about, **table}).encode()
        head += b" " * (-len(head) % 8)
        return len(head).to_bytes(8, "little") + head + body

    @cached_property
    def sha256(self) -> str:
        """SHA-256 of the file, by which a session names what it was continued from."""
        return hashlib.sha256(self.content).hexdigest()

    def write(self, path: Path) -> None:
        """Writes the file, whole or not at all."""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            atomic_write(path, self.content)
        except OSError as error:
            raise UsageError(f"Cannot write {path}: {error.strerror or error}.") from error


def read_checkpoint(path: Path) -> Checkpoint:
    """Reads a saved brain; one line where it is none."""
    try:
        content = path.read_bytes()
    except FileNotFoundError as error:
        raise UsageError(f"There is no file {path}.") from error
    except OSError as error:
        raise UsageError(f"Cannot read {path}: {error.strerror}.") from error
    try:
        return _parsed(content)
    except _FileError as error:
        raise UsageError(f"{path} {error}") from error


class _FileError(Exception):
    """Why a file is no checkpoint."""


def _parsed(content: bytes) -> Checkpoint:
    table, body = _split(content)
    about = table.pop("__metadata__", None)
    if not isinstance(about, dict) or about.get("format") != _FORMAT:
        raise _FileError("is not a brain that nematodebench has saved.")
    if about.get("version") != str(_VERSION):
        raise _FileError(f"is of format version {str(about.get('version'))[:20]!r}: install a newer nematodebench.")
    if about.get("sha256") != _digest(about.get("header"), table, body):
        raise _FileError("is damaged or cut off: its checksum is not that of its content.")
    try:
        header = CheckpointHeader.model_validate_json(about.get("header") or "")
    except (ValidationError, RecursionError) as error:
        raise _FileError("is damaged: its header does not describe a brain.") from error
    arrays = {name: _array(row, body) for name, row in table.items()}
    for name in header.complex:
        if name not in arrays or arrays[name].dtype != np.float64 or arrays[name].shape[-1:] != (2,):
            raise _FileError(f"is damaged: it has no array of complex numbers called {name[:40]!r}.")
        arrays[name] = arrays[name].view(np.complex128)[..., 0]
    return Checkpoint(header, arrays)


def _split(content: bytes) -> tuple[dict[str, Any], bytes]:
    """The header and what comes behind it."""
    length = int.from_bytes(content[:8], "little")
    if len(content) < 8 or length > min(len(content) - 8, _MOST_HEADER):
        raise _FileError("is not a brain that nematodebench has saved, or it is cut off.")
    try:
        table = json.loads(content[8 : 8 + length])
    except (ValueError, RecursionError) as error:
        raise _FileError("is not a brain that nematodebench has saved, or it is damaged.") from error
    if not isinstance(table, dict):
        raise _FileError("is not a brain that nematodebench has saved.")
    return table, content[8 + length :]


def _array(row: Any, body: bytes) -> NDArray[Any]:
    """One array; the checksum is right, but a file may have been made by anybody."""
    try:
        dtype, shape, (first, end) = np.dtype(_TYPES[row["dtype"]]), tuple(row["shape"]), row["data_offsets"]
        sound = all(type(n) is int and n >= 0 for n in (*shape, first, end)) and end <= len(body)
        if not sound or math.prod(shape) * dtype.itemsize != end - first:
            raise ValueError
        return np.frombuffer(body[first:end], dtype).reshape(shape).copy()
    except (KeyError, TypeError, ValueError) as error:
        raise _FileError("is damaged: it describes an array that it does not hold.") from error


def _plain(array: NDArray[Any]) -> NDArray[Any]:
    """An array of a type that the format has."""
    if array.dtype.kind == "c":
        array = np.ascontiguousarray(array[..., None], dtype="<c16").view("<f8")
    plain = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")).reshape(array.shape)
    if plain.dtype not in _NAMES:
        raise UsageError(f"An array of {array.dtype} cannot be saved.")
    return plain


def _digest(header: Any, table: dict[str, Any], body: bytes) -> str:
    digest = hashlib.sha256(json.dumps([header, table], sort_keys=True).encode())
    digest.update(body)
    return digest.hexdigest()
