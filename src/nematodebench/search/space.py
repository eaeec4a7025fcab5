"""Search spaces, declared next to each brain's parameters.

A field of a brain's config says where to look in ``json_schema_extra``: ``{"search": {"low": 1e-4, "high": 1e-2,
"log": True, "importance": "high"}}``; a switch says ``{"search": {"importance": "low"}}``. ``{"off": 0.0}`` is the
value that switches the field's mechanism off, for ablations.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from nematodebench.brains.configs import parameters_of
from nematodebench.brains.registry import BrainType
from nematodebench.errors import UsageError

__all__ = ["IMPORTANCE", "Dimension", "declared_space", "switches"]

IMPORTANCE = ("high", "medium", "low")
"""Classes of parameters; a search of one class takes the more important ones with it."""


@dataclass(frozen=True)
class Dimension:
    """One parameter of a search: whole numbers, numbers, or a switch."""

    name: str
    kind: str
    low: float
    high: float
    log: bool
    importance: str
    default: Any

    def suggest(self, trial: Any) -> Any:
        """Asks an Optuna trial for a value."""
        if self.kind == "bool":
            return trial.suggest_categorical(self.name, [False, True])
        if self.kind == "int":
            return trial.suggest_int(self.name, int(self.low), int(self.high), log=self.log)
        return trial.suggest_float(self.name, self.low, self.high, log=self.log)

    def grid(self, points: int) -> list[Any]:
        """Evenly spaced values from one end to the other."""
        if self.kind == "bool":
            return [False, True]
        space = np.geomspace if self.log else np.linspace
        values = [float(value) for value in np.clip(space(self.low, self.high, points), self.low, self.high)]
        return sorted({round(value) for value in values}) if self.kind == "int" else values


def _extra(field: Any) -> dict[str, Any]:
    extra = field.json_schema_extra
    return extra if isinstance(extra, dict) else {}


def declared_space(name: str, brain: BrainType, least: str = "low") -> list[Dimension]:
    """The dimensions a brain declares, down to an importance class."""
    if least not in IMPORTANCE:
        raise UsageError(f"Importance {least!r} does not exist. Choose {', '.join(IMPORTANCE)}.")
    wanted = IMPORTANCE[: IMPORTANCE.index(least) + 1]
    found = [
        _dimension(key, field, _extra(field)["search"])
        for key, field in parameters_of(brain).items()
        if "search" in _extra(field)
    ]
    if not found:
        raise UsageError(
            f"Brain {name!r} declares no search space: give parameters of its config a range, "
            "json_schema_extra=nematodebench.kit.searched(least, most)."
        )
    kept = [dimension for dimension in found if dimension.importance in wanted]
    if not kept:
        raise UsageError(f"Brain {name!r} has no parameter of importance {least!r} or more to search.")
    return kept


def _dimension(name: str, field: Any, search: dict[str, Any]) -> Dimension:
    kind = {bool: "bool", int: "int"}.get(field.annotation, "float")
    low, high = (0.0, 1.0) if kind == "bool" else (float(search["low"]), float(search["high"]))
    return Dimension(
        name, kind, low, high, bool(search.get("log", False)), search.get("importance", "medium"), field.default
    )


def switches(name: str, brain: BrainType) -> dict[str, Any]:
    """Every mechanism that can be switched off, with the value that does it."""
    found = {key: _extra(field)["off"] for key, field in parameters_of(brain).items() if "off" in _extra(field)}
    if not found:
        raise UsageError(f"Brain {name!r} declares nothing that can be switched off.")
    return found
