"""The shape of a bundle: the source of a brain that is not part of this repository, as a submission carries it."""

import hashlib
from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from nematodebench.records.schemas import Record, Sha256

__all__ = ["DEPENDENCIES", "MAX_FILES", "Bundle", "BundleFile", "Dependency", "bundle_hash", "entry_of"]

MAX_FILES = 20
Dependency: TypeAlias = Literal["numba", "numpy", "scipy", "torch"]
DEPENDENCIES: tuple[Dependency, ...] = ("numba", "numpy", "scipy", "torch")
"""Libraries that every verifier has installed."""

_FILE = r"[A-Za-z_][A-Za-z0-9_]{0,63}\.py"
SourceName = Annotated[str, Field(pattern=f"^{_FILE}$")]
Entry = Annotated[str, Field(pattern=f"^{_FILE}:[A-Za-z_][A-Za-z0-9_]{{0,63}}$")]


class BundleFile(Record):
    """A source file of the bundle and what its bytes must be."""

    name: SourceName
    sha256: Sha256


class Bundle(Record):
    """A brain as source. Its files lie in ``artifacts/bundles/<sha256>/``, all in one folder."""

    sha256: Sha256 = Field(description="of entry, dependencies and the hashes of all files; names the folder")
    entry: Entry = Field(description="file.py:Class of the brain")
    files: list[BundleFile] = Field(min_length=1, max_length=MAX_FILES)
    dependencies: list[Dependency] = Field(max_length=len(DEPENDENCIES))

    @property
    def entry_file(self) -> BundleFile | None:
        """The file that defines the brain; None where the bundle lacks it."""
        return next((file for file in self.files if file.name == self.entry.partition(":")[0]), None)


def bundle_hash(entry: str, files: list[BundleFile], dependencies: list[Dependency]) -> str:
    """SHA-256 of all that a bundle is; the order of its lists does not matter."""
    lines = ["nematodebench bundle 1", entry, " ".join(sorted(dependencies))]
    lines += sorted(f"{file.sha256} {file.name}" for file in files)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def entry_of(brain: str) -> str:
    """What a brain's name says of its place: ``file.py:Class`` for a file and for ``module:Class`` alike."""
    place, _, name = brain.rpartition(":")
    file = place.rpartition("/")[2] if place.endswith(".py") else f"{place.rpartition('.')[2]}.py"
    return f"{file}:{name}"
