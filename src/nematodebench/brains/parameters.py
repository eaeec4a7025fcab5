"""How a brain's parameter says where to search for better values, and what switches it off."""

from typing import Any, Literal

__all__ = ["searched"]


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
