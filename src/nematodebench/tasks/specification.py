"""Specifications of tasks, as they are stored and as they are today: what makes them the same.

Code grows. A world gets a parameter that did not exist when a result was stored, so the stored specification lacks it.
What is lacking is read as *nothing*: 0, 0.0, False, an empty text, or what the world declares with
:func:`nematodebench.worlds.base.added`. After that, every value must be what it is today. So a parameter that does
nothing by default changes no result, and one whose default does something is found, whenever that default was written.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["completed", "nothing_of", "specification_changes", "specification_hash"]


def specification_hash(spec: Mapping[str, Any]) -> str:
    """SHA-256 of a specification: it names exactly this text, with every key it has."""
    return hashlib.sha256(_text(spec).encode()).hexdigest()


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def nothing_of(value: Any) -> Any:
    """What a key like this says where it is lacking; the shape of lists and mappings is kept."""
    if isinstance(value, Mapping):
        return {key: nothing_of(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple) and any(isinstance(inner, Mapping) for inner in value):
        return [nothing_of(inner) for inner in value]
    return None if value is None else type(value)()


def completed(stored: Any, absent: Any) -> Any:
    """A stored specification with every key of today; ``absent`` says what those mean that it lacks."""
    if isinstance(stored, Mapping) and isinstance(absent, Mapping):
        known = {key: completed(value, absent.get(key)) for key, value in stored.items()}
        return {**{key: value for key, value in absent.items() if key not in stored}, **known}
    if isinstance(stored, list) and isinstance(absent, list) and len(stored) == len(absent):
        return [completed(*pair) for pair in zip(stored, absent, strict=True)]
    return stored


def specification_changes(stored: Any, current: Any, place: str = "") -> Iterator[str]:
    """Every place where a completed specification is not what it is today."""
    if isinstance(stored, Mapping) and isinstance(current, Mapping):
        for key in sorted({*stored, *current}):
            at = f"{place}.{key}" if place else str(key)
            if key not in current:
                yield f"{at} was {_text(stored[key])} and does not exist any more"
            elif key not in stored:
                yield f"{at} did not exist and is {_text(current[key])}"
            else:
                yield from specification_changes(stored[key], current[key], at)
    elif isinstance(stored, list) and isinstance(current, list | tuple) and len(stored) == len(current):
        for k, pair in enumerate(zip(stored, current, strict=True)):
            yield from specification_changes(*pair, f"{place}[{k}]")
    elif _text(stored) != _text(current):
        yield f"{place} was {_text(stored)} and is {_text(current)}"
