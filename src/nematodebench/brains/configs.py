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
from pydantic.errors import PydanticUserError
from pydantic.fields import FieldInfo
from pydantic_core import PydanticSerializationError

from nematodebench.errors import UsageError, said
from nematodebench.imports import written_by_user

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
    return {} if model is None else _fields(model)


def _fields(model: type[Any]) -> dict[str, FieldInfo]:
    """What can be given to a model or a dataclass, by name."""
    if issubclass(model, BaseModel):
        return dict(model.model_fields)
    declared: Any = model
    try:
        checked: Any = checked_dataclass(model, frozen=declared.__dataclass_params__.frozen)
        fields: dict[str, FieldInfo] = checked.__pydantic_fields__
    except PydanticUserError as error:
        raise UsageError(_unusable(model, error)) from error
    return {name: field for name, field in fields.items() if field.init is not False}


def resolve_config(name: str, brain: type[Any], given: Mapping[str, Any] | None) -> Any:
    """The brain's full config with defaults; one line that names the key where something is wrong."""
    model, given = config_of(brain), dict(given or {})
    if model is None:
        _refuse_other_declarations(name, brain)
    unknown = [key for key in given if key not in parameters_of(brain)]
    if unknown and not _takes_any(model):
        raise UsageError(_unknown_key(name, brain, unknown[0]))
    if model is None:
        return given
    config = _validated(name, model, given)
    plain = _stored(name, config)
    if lost := [key for key in given if key not in plain]:
        raise UsageError(f"Parameter {lost[0]!r} of brain {name!r} is declared so that nothing is stored of it.")
    if (swallowed := _swallowed(given, plain)) and _swallowed(given, _plain_with_aliases(config)):
        raise UsageError(_unknown_inner_key(name, *swallowed))
    for key, value in plain.items():
        if not _can_be_stored(value):
            raise UsageError(
                f"Parameter {key!r} of brain {name!r} is {value}: results are stored as JSON, which has no such value. "
                "Give a finite one, or declare None for it."
            )
    _refuse_other_when_read(name, model, plain)
    return config


def _validated(name: str, model: type[Any], given: Mapping[str, Any]) -> Any:
    """The config of these values; fields are called by their names, also where they have an alias."""
    try:
        if issubclass(model, BaseModel):
            return model.model_validate(dict(given), by_name=True, by_alias=True)
        return TypeAdapter(model).validate_python(dict(given), by_name=True, by_alias=True)
    except ValidationError as error:
        raise UsageError(_wrong_value(name, error)) from error
    except PydanticUserError as error:
        raise UsageError(_unusable(model, error)) from error
    except Exception as error:  # code of the user: a check, or what follows the construction
        line = written_by_user(error.__traceback__)
        place = "" if line is None else f" ({line.filename}, line {line.lineno})"
        raise UsageError(f"The parameters of brain {name!r}: {type(error).__name__}: {said(error)}{place}.") from error


def _stored(name: str, config: Any) -> dict[str, Any]:
    """What is stored of a config."""
    try:
        return dump_config(config)
    except (PydanticSerializationError, PydanticUserError, UnicodeError) as error:
        raise UsageError(
            f"The parameters of brain {name!r} cannot be stored as JSON: {_one_line(error)}. Declare numbers, words, "
            "and lists or dictionaries of them."
        ) from error


def _refuse_other_when_read(name: str, model: type[Any], plain: dict[str, Any]) -> None:
    """What is stored has to give the same config again: otherwise nobody could execute the run again."""
    try:
        again = _stored(name, _validated(name, model, plain))
    except UsageError as error:
        raise UsageError(f"What is stored of a run could not be read again. {error}") from error
    for key, value in plain.items():
        if again.get(key) != value:
            raise UsageError(
                f"Parameter {key!r} of brain {name!r} is {value!r}, and read again from what is stored it becomes "
                f"{again.get(key)!r}: {model.__qualname__} must not change what it is given."
            )


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
    """A class attribute ``config`` that is anything else declares nothing, and would be ignored without a word."""
    declared = inspect.getattr_static(brain, "config", None)
    if inspect.isclass(declared):
        raise UsageError(
            f"Brain {name!r} has config = {declared.__qualname__}, which is neither a dataclass nor a pydantic model: "
            "write @dataclass above it."
        )
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
    """A brain's config as plain data: what was given to it and its defaults, without what is computed from them."""
    if isinstance(config, Mapping):
        return dict(config)
    if isinstance(config, BaseModel):
        plain = config.model_dump(mode="json", warnings=False)
        known = {*type(config).model_fields, *(config.model_extra or {})}
    else:
        plain = TypeAdapter(type(config)).dump_python(config, mode="json", warnings=False)
        known = {field.name for field in dataclasses.fields(config) if field.init}
    return {key: value for key, value in plain.items() if key in known}


def _plain_with_aliases(config: Any) -> Any:
    return TypeAdapter(type(config)).dump_python(config, mode="json", by_alias=True, warnings=False)


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


def _unusable(model: type[Any], error: PydanticUserError) -> str:
    return f"The config {model.__qualname__} cannot be used: {_one_line(error.message)}"


def _one_line(problem: object) -> str:
    """The first line of what pydantic says, without the words that are the same in all."""
    return (str(problem).splitlines() or [""])[0].removeprefix("Value error, ").rstrip(".")


def _wrong_value(name: str, error: ValidationError) -> str:
    first = error.errors()[0]
    key, told, value = ".".join(str(part) for part in first["loc"]), _one_line(first["msg"]), first["input"]
    if not key:
        return f"The parameters of brain {name!r}: {told}."
    if first["type"] == "missing":
        return f"Brain {name!r} needs a value for its parameter {key!r}: it has no default."
    if value == "None":
        return f"Parameter {key!r} of brain {name!r}: {told} (got the word 'None'). None is written {key}=null."
    several = ""
    if first["type"] == "tuple_type" and not isinstance(value, list):
        several = f" Several values are written {key}=[{value}]."
    if first["type"] == "string_type" and isinstance(value, int | float):
        several = f" A text is written '{key}=\"{value}\"'."
    return f"Parameter {key!r} of brain {name!r}: {told} (got {value!r:.200}).{several}"
