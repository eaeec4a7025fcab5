"""Finds the format of a policy by its extension and reads it; what goes wrong is told in one line."""

import hashlib
import importlib
from pathlib import Path
from typing import Any

from nematodebench.errors import UsageError, missing_extra
from nematodebench.imports import meant_to_go_on
from nematodebench.policies.base import Policy, Use

__all__ = ["FORMATS", "is_function", "is_spiking", "read_policy", "source_hash"]

_FORMATS = "nematodebench.policies.formats"
FORMATS = {
    ".zip": "sb3_zip",
    ".onnx": "onnx_graph",
    ".pt": "torch_script",
    ".ts": "torch_script",
    ".nir": "nir_graph",
    ".h5": "nir_graph",
}
"""The module that reads a file, by the file's extension."""
_KINDS = (
    "a stable-baselines3 zip, an .onnx file, a TorchScript file (.pt, .ts), a NIR graph (.nir, .h5), or a function "
    "(file.py:function, module:function)"
)


def is_function(source: str) -> bool:
    """Whether a source names a function, and not a file of its own."""
    place, colon, name = source.rpartition(":")
    return bool(colon) and name.isidentifier() and bool(place)


def is_spiking(source: str) -> bool:
    """Whether a source is a file of a spiking network, which has steps of its own."""
    return not is_function(source) and FORMATS.get(Path(source).suffix.lower()) == "nir_graph"


def read_policy(source: str, use: Use) -> Policy:
    """The policy of a file or function.

    Args:
        source: ``policy.zip``, ``policy.onnx``, ``policy.pt``, ``policy.nir``, ``file.py:function``,
            ``module:function``.
        use: How it is used.
    """
    if is_function(source):
        return _format("functions").read(source, use)  # type: ignore[no-any-return]
    path = _existing(source)
    if path.suffix.lower() == ".py":
        raise UsageError(f"{source} is a file. Name the function in it: {source}:function.")
    if path.suffix.lower() not in FORMATS:
        raise UsageError(f"{source} is no policy that can be read. {meant_to_go_on(source) or f'Give {_KINDS}.'}")
    try:
        return _format(FORMATS[path.suffix.lower()]).read(path, use)  # type: ignore[no-any-return]
    except ImportError as error:
        hint = missing_extra(error)
        if not hint:
            raise
        raise UsageError(f"{source} needs {error.name}, which is not installed. {hint}") from error


def source_hash(source: str) -> str:
    """SHA-256 of the file that a policy is read from; empty for a function of a module that has none."""
    file = _format("functions").file_of(source) if is_function(source) else _existing(source)
    return "" if file is None else hashlib.sha256(file.read_bytes()).hexdigest()


def _format(name: str) -> Any:
    return importlib.import_module(f"{_FORMATS}.{name}")


def _existing(source: str) -> Path:
    path = Path(source)
    if not path.is_file():
        what = "is a folder" if path.is_dir() else "does not exist"
        raise UsageError(f"{source} {what}. Give {_KINDS}.")
    return path
