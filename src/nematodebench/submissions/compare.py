"""Compares what is claimed with what was computed, number by number."""

import math
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel

from nematodebench.records.stat_value import stat_record
from nematodebench.stats import LATER_DOUBTS, StatValue

__all__ = ["differences"]

_TOLERANCE = 1e-12


def differences(claimed: Any, computed: Any, place: str) -> Iterator[str]:
    """Every claim that is not what was computed; floating-point numbers may differ by 1e-12.

    What is computed today and was not claimed is no difference: code learns to compute more than it once did, and to
    doubt more.
    """
    claimed, computed = _plain(claimed), _plain(computed)
    if isinstance(claimed, dict) and isinstance(computed, dict):
        for key in sorted(claimed):
            if key not in computed:
                yield f"{place}.{key} is claimed, but there is no such thing"
            else:
                yield from differences(claimed[key], computed[key], f"{place}.{key}")
    elif isinstance(claimed, list) and isinstance(computed, list) and len(claimed) == len(computed):
        for k, (theirs, ours) in enumerate(zip(claimed, computed, strict=True)):
            yield from differences(theirs, ours, f"{place}[{k}]")
    elif not _same(claimed, computed) and not (claimed == "" and computed in LATER_DOUBTS):
        yield f"{place} is {_short(claimed)}, but the data give {_short(computed)}"


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", exclude_unset=True)
    if isinstance(value, StatValue):
        return _plain(stat_record(value))
    return list(value) if isinstance(value, tuple) else value


def _same(claimed: Any, computed: Any) -> bool:
    if isinstance(claimed, bool) or isinstance(computed, bool):
        return claimed is computed
    if isinstance(claimed, float) or isinstance(computed, float):
        if not isinstance(claimed, float | int) or not isinstance(computed, float | int):
            return False
        return math.isclose(claimed, computed, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE)
    return bool(claimed == computed)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
