"""The config of a brain: a pydantic model or a dataclass says which parameters there are, and no other key is taken.

Imports no compiler: the process of an isolated brain builds its config here too.
"""

import dataclasses
import inspect
import math
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass as checked_dataclass
from pydantic.fields import FieldInfo

from nematodebench.errors import UsageError

__all__ = ["config_of", "dump_config", "earlier_values", "parameters_of", "resolve_config", "resolve_stored"]


def config_of(brain: type[Any]) -> type[Any] | None:
    """What a brain declares as its class attribute ``config``: a pydantic model or a dataclass; None if neither."""
    config = getattr(brain, "config", None)
    if inspect.isclass(config) and (issubclass(config, BaseModel) or dataclasses.is_dataclass(config)):
        return config
    return None


def parameters_of(brain: type[Any]) -> dict[str, FieldInfo]:
    """Every parameter a brain declares, with its default and what is said about it."""
    model = config_of(brain)
    if model is None:
        return {}
    if issubclass(model, BaseModel):
        return dict(model.model_fields)
    declared: Any = model
    checked: Any = checked_dataclass(model, frozen=declared.__dataclass_params__.frozen)
    return dict(checked.__pydantic_fields__)


def resolve_config(name: str, brain: type[Any], given: Mapping[str, Any] | None) -> Any:
    """The brain's full config with defaults; one line that names the key where something is wrong."""
    model, given = config_of(brain), dict(given or {})
    unknown = [key for key in given if key not in parameters_of(brain)]
    if unknown and not _takes_any(model):
        raise UsageError(_unknown_key(name, brain, unknown[0]))
    if model is None:
        _refuse_other_declarations(name, brain)
        return given
    try:
        config = model(**given) if issubclass(model, BaseModel) else TypeAdapter(model).validate_python(given)
    except ValidationError as error:
        raise UsageError(_wrong_value(name, error)) from error
    swallowed = _swallowed(given, dump_config(config))
    if swallowed and _swallowed(given, TypeAdapter(model).dump_python(config, mode="json", by_alias=True)):
        raise UsageError(_unknown_inner_key(name, *swallowed))
    for key, value in dump_config(config).items():
        if not _can_be_stored(value):
            raise UsageError(
                f"Parameter {key!r} of brain {name!r} is {value}: results are stored as JSON, which has no such value. "
                "Give a finite one, or declare None for it."
            )
    return config


def _swallowed(given: Any, kept: Any, place: str = "") -> tuple[str, str] | None:
    """The first key inside of a parameter that is not in the config, and the keys there are beside it.

    Pydantic ignores such a key where the inner class does not forbid it.
    """
    if isinstance(given, Mapping) and isinstance(kept, Mapping):
        names = {str(key): value for key, value in kept.items()}
        for key, value in given.items():
            inner = f"{place}.{key}" if place else str(key)
            if str(key) not in names:
                return inner, ", ".join(names) or "none"
            if found := _swallowed(value, names[str(key)], inner):
                return found
    elif isinstance(given, list | tuple) and isinstance(kept, list):
        for number, (one, other) in enumerate(zip(given, kept, strict=False)):
            if found := _swallowed(one, other, f"{place}.{number}"):
                return found
    return None


def _can_be_stored(value: Any) -> bool:
    """Whether all numbers in a value are finite: a run whose parameters are not stored cannot be executed again."""
    if isinstance(value, Mapping):
        return all(map(_can_be_stored, value.values()))
    if isinstance(value, list | tuple):
        return all(map(_can_be_stored, value))
    return not isinstance(value, float) or math.isfinite(value)


def _refuse_other_declarations(name: str, brain: type[Any]) -> None:
    """A class attribute ``config`` that is a value declares nothing, and would be ignored without a word."""
    declared = inspect.getattr_static(brain, "config", None)
    if declared is not None and not callable(declared) and not hasattr(declared, "__get__"):
        raise UsageError(
            f"Brain {name!r} has config = {type(declared).__name__}. "
            "Parameters are declared with a class: config = MyConfig, a dataclass or a pydantic model."
        )


def resolve_stored(name: str, brain: type[Any], stored: dict[str, Any]) -> Any:
    """The full config of a stored result: a parameter that it lacks did not exist, and has the value that means so."""
    if config_of(brain) is None:
        return dict(stored)
    return resolve_config(name, brain, {**earlier_values(brain), **stored})


def earlier_values(brain: type[Any]) -> dict[str, Any]:
    """The values of parameters that came later, or whose default changed, in results that do not tell them."""
    extras = {name: field.json_schema_extra for name, field in parameters_of(brain).items()}
    return {name: extra["before"] for name, extra in extras.items() if isinstance(extra, dict) and "before" in extra}


def dump_config(config: Any) -> dict[str, Any]:
    """A brain's config as plain data."""
    if isinstance(config, Mapping):
        return dict(config)
    plain = config.model_dump(mode="json") if isinstance(config, BaseModel) else _plain_dataclass(config)
    return dict(plain)


def _plain_dataclass(config: Any) -> Any:
    return TypeAdapter(type(config)).dump_python(config, mode="json")


def _takes_any(model: type[Any] | None) -> bool:
    return model is not None and issubclass(model, BaseModel) and model.model_config.get("extra") == "allow"


def _unknown_key(name: str, brain: type[Any], key: str) -> str:
    if config_of(brain) is None:
        return (
            f"Brain {name!r} declares no parameters, so {key!r} means nothing to it. Declare them in the class: "
            "config = MyConfig, a dataclass or a pydantic model."
        )
    return f"Brain {name!r} has no parameter {key!r}. It has: {', '.join(parameters_of(brain)) or 'none'}."


def _unknown_inner_key(name: str, key: str, known: str) -> str:
    place = key.rpartition(".")[0]
    return f"Brain {name!r} has no parameter {key!r}. Its parameter {place!r} has: {known}."


def _wrong_value(name: str, error: ValidationError) -> str:
    first = error.errors()[0]
    key = ".".join(str(part) for part in first["loc"])
    if first["type"] == "missing":
        return f"Brain {name!r} needs a value for its parameter {key!r}: it has no default."
    if first["input"] == "None":
        return f"Parameter {key!r} of brain {name!r}: {first['msg']} (got the word 'None'). None is written {key}=null."
    several = f" Several values are written {key}=[{first['input']}]." if first["type"] == "tuple_type" else ""
    if first["type"] == "string_type" and isinstance(first["input"], int | float):
        several = f" A text is written '{key}=\"{first['input']}\"'."
    return f"Parameter {key!r} of brain {name!r}: {first['msg']} (got {first['input']!r}).{several}"
