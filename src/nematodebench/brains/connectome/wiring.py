"""The wiring of C. elegans as arrays: who reaches whom, and who senses and who moves.

Cook, S. J. et al. Whole-animal connectomes of both Caenorhabditis elegans sexes. Nature 571, 63-71 (2019).
"""

import csv
import hashlib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Final

import numpy as np

from nematodebench.errors import UsageError
from nematodebench.kernels.jit import F64, I64

__all__ = ["CHECKSUMS", "Wiring", "read_wiring"]

CHECKSUMS: Final = {
    "celegans_cook2019_hermaphrodite.csv": "02e11a45b4e2d203325da577925c1736589b134d53677d639f188d6149f7842b",
    "celegans_neurons.csv": "6eebee9eaa1d6f4d04e2435833f4d86d68081e97bd86b0c684ac5e98633e4e35",
}
"""SHA-256 of the files in ``data``."""


@dataclass(frozen=True)
class Wiring:
    """Neurons by number, in the order of the file.

    Attributes:
        names: Of all neurons.
        pre: The neuron at which a chemical synapse begins.
        post: The neuron at which it ends; edges are in the order of the file.
        sections: How many sections of electron microscopy show it.
        left: One side of a gap junction, each of which is here once.
        right: Its other side.
        gap_sections: How many sections show it.
        sensory: The sensory neurons.
        motor: The motor neurons.
    """

    names: tuple[str, ...]
    pre: I64
    post: I64
    sections: F64
    left: I64
    right: I64
    gap_sections: F64
    sensory: I64
    motor: I64


def _rows(name: str) -> list[dict[str, str]]:
    """The rows of a file whose bytes are the expected ones."""
    content = (resources.files("nematodebench.brains.connectome") / "data" / name).read_bytes()
    if hashlib.sha256(content).hexdigest() != CHECKSUMS[name]:
        raise UsageError(f"{name} was changed: its SHA-256 is not the one in wiring.py. Install the package anew.")
    return list(csv.DictReader(content.decode("utf-8").splitlines()))


def _numbers(values: list[int]) -> I64:
    return np.array(values, dtype=np.int64)


@cache
def read_wiring() -> Wiring:
    """Reads the files of the package once. A junction of a neuron with itself carries no current and is left out."""
    neurons, edges = _rows("celegans_neurons.csv"), _rows("celegans_cook2019_hermaphrodite.csv")
    names = tuple(row["neuron"] for row in neurons)
    number = {name: n for n, name in enumerate(names)}
    chemical = [row for row in edges if row["type"] == "chemical"]
    gaps = [row for row in edges if row["type"] == "gap" and number[row["pre"]] < number[row["post"]]]
    kinds = [row["kind"] for row in neurons]
    return Wiring(
        names,
        _numbers([number[row["pre"]] for row in chemical]),
        _numbers([number[row["post"]] for row in chemical]),
        np.array([float(row["weight"]) for row in chemical]),
        _numbers([number[row["pre"]] for row in gaps]),
        _numbers([number[row["post"]] for row in gaps]),
        np.array([float(row["weight"]) for row in gaps]),
        _numbers([n for n, kind in enumerate(kinds) if kind == "sensory"]),
        _numbers([n for n, kind in enumerate(kinds) if kind == "motor"]),
    )
