"""How a brain's config declares a parameter: default, range, help text, and where a search looks for better values."""

from typing import Any, Literal

from pydantic import Field

__all__ = ["hidden_layers", "parameter", "searched", "switch"]


def searched(
    low: float, high: float, importance: Literal["high", "medium", "low"], *, log: bool = False, off: Any = None
) -> dict[str, Any]:
    """The ``json_schema_extra`` of a field.

    Args:
        low: Least value of a search.
        high: Largest value.
        importance: Class of the parameter: a search can leave out the less important ones.
        log: Whether to search on a logarithmic scale.
        off: The value that switches the field's mechanism off; None if it cannot be.
    """
    space = {"low": low, "high": high, "log": log, "importance": importance}
    return {"search": space} if off is None else {"search": space, "off": off}


def parameter(
    default: Any,
    least: float,
    most: float | None,
    text: str,
    space: dict[str, Any] | None = None,
    *,
    before: Any = None,
    **limits: float,
) -> Any:
    """A number from ``least`` to ``most`` (None: no limit).

    Args:
        default: Its value if none is given.
        least: Smallest value allowed.
        most: Largest value allowed.
        text: What it does.
        space: Where to search it, from :func:`searched`; None if a search leaves it alone.
        before: What the brain did before this parameter existed, or the default it once had: stored results that do
            not tell the parameter were made with this value. None if the default never was another.
        limits: ``gt`` or ``lt`` where an end of the range is not allowed itself.
    """
    ends: dict[str, Any] = {"ge": least, **limits}
    if most is not None:
        ends["le"] = most
    for strict, loose in (("gt", "ge"), ("lt", "le")):
        if strict in limits:
            ends.pop(loose, None)
    extra = space if before is None else {**(space or {}), "before": before}
    return Field(default, description=text, json_schema_extra=extra, **ends)


def hidden_layers(*default: int) -> Any:
    """The units of each hidden layer of a network."""
    return Field(default, min_length=1, max_length=8, description="units of each hidden layer")


def switch(default: bool, text: str, *, before: bool | None = None) -> Any:
    """Something that is on or off; ``before`` as for a number."""
    return Field(default, description=text, json_schema_extra=None if before is None else {"before": before})
