"""What all stored results are made of, and where they come from. Imports no arrays: short commands start sooner."""

import datetime
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from nematodebench.records.plain_text import is_invisible

__all__ = ["Count", "Day", "Line", "Name", "Provenance", "Record", "Seed64", "SessionSeed", "Sha256"]

_LARGEST = 2**63 - 1


def _visible(text: str) -> str:
    """Names are shown: they hold nothing that a terminal or a browser would act on."""
    for character in "" if text.isprintable() else text:
        if is_invisible(character):
            raise ValueError(f"may not contain control or invisible characters (U+{ord(character):04X})")
    return text


def _countable(number: int) -> int:
    """A number of runs or steps fits a machine word: no array could be longer."""
    if number > _LARGEST:
        raise ValueError(f"is larger than {_LARGEST}: nothing was counted so far")
    return number


def _in_the_calendar(text: str) -> str:
    """A day that there is."""
    try:
        datetime.date.fromisoformat(text)
    except ValueError:
        raise ValueError(f"{text} is no day of the calendar") from None
    return text


Count = Annotated[int, AfterValidator(_countable)]
Day = Annotated[str, Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"), AfterValidator(_in_the_calendar)]
Line = Annotated[str, AfterValidator(_visible)]
"""A text of one line."""
Seed64 = Annotated[int, Field(ge=0, lt=2**64)]
SessionSeed = Annotated[int, Field(ge=0, lt=2**53)]
"""As large as every reader of JSON reads exactly, and far too large to be found by trying."""
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Name = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_visible)]


class Record(BaseModel):
    """Base of everything stored: frozen, no unknown keys, no NaN."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Provenance(Record):
    """Code and machine a result was made with."""

    package_version: Line
    source_hash: Sha256
    git_commit: Line | None = Field(
        description="of the package's own repository, null where it is unknown; in sessions before version 5 and "
        "submissions before version 6, of the folder that the command was started in"
    )
    git_dirty: bool | None = Field(description="whether that repository had changes that are in no commit")
    brain_commit: Line | None = Field(
        None, description="of the repository of a brain from outside the package; null where there is none"
    )
    brain_dirty: bool | None = Field(None, description="whether that repository had changes that are in no commit")
    lock_sha256: Sha256 | None = Field(
        None, description="of requirements.lock, the environment that verified results are made with"
    )
    lock_followed: bool | None = Field(None, description="whether everything that it names had the version it names")
    python: Line
    numpy: Line
    numba: Line
    llvmlite: Line
    torch: Line | None
    platform: Line
    machine: Line
    cpu: Line
    code_generation: Line
