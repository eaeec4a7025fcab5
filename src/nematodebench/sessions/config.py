"""Reads session configs from YAML files and flags. An error message names the key that is wrong."""

import re
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from nematodebench.errors import UsageError, near_names
from nematodebench.records.basic_schemas import SessionSeed

__all__ = ["SessionConfig", "config_from", "config_text", "parse_assignments", "read_config", "session_config"]

_MAX_BYTES = 1 << 20


class SessionConfig(BaseModel):
    """The content of a config file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    task: str = Field(description="id of the task, like foraging_small-v1")
    brain: str = Field(description="name of the brain, or module:Class")
    config: dict[str, Any] = Field({}, description="parameters of the brain; the rest keep their defaults")
    runs: int = Field(50, ge=1, le=1_000_000, description="independent training runs")
    episodes: int | None = Field(
        None, ge=1, le=10_000_000, description="episodes a run; leave out for the task's own number"
    )
    seed: SessionSeed | None = Field(None, description="session seed; leave out for a fresh one")


def session_config(content: dict[str, Any]) -> SessionConfig:
    """A config of these values; one line names the first that is wrong."""
    try:
        return SessionConfig(**content)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise UsageError(f"{key} is {first['input']}: {first['msg']}.") from error


class _Loader(yaml.SafeLoader):
    """Reads safe YAML and refuses a key that is given twice, where YAML would silently keep the last."""


def _mapping(loader: _Loader, node: yaml.MappingNode) -> dict[Any, Any]:
    seen = set()
    for place, _ in node.value:
        key = loader.construct_object(place)
        if not isinstance(key, Hashable):
            raise yaml.constructor.ConstructorError(None, None, "a key is not a word", node.start_mark)
        if key in seen:
            raise yaml.constructor.ConstructorError(None, None, f"key {key!r} is given twice", node.start_mark)
        seen.add(key)
    return loader.construct_mapping(node, deep=True)


_Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)


def read_config(path: Path) -> SessionConfig:
    """Reads and checks a config file."""
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise UsageError(f"{path} is larger than 1 MiB: that is no config.")
        return config_from(path.read_bytes(), str(path))
    except FileNotFoundError as error:
        raise UsageError(f"There is no file {path}.") from error
    except OSError as error:
        raise UsageError(f"Cannot read {path}: {error.strerror}.") from error


def _where_and_why(error: Exception) -> str:
    """What the parser says, in a few words."""
    mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None)
    if mark is None or problem is None:
        return " ".join(str(error).split()).rstrip(".")
    context = getattr(error, "context", None) or ""
    why = f"{context} {problem}" if problem.startswith("but ") else problem
    return f"{why} (line {mark.line + 1}, column {mark.column + 1})"


def config_from(text: bytes, name: str) -> SessionConfig:
    """Checks the content of a config file."""
    try:
        content = yaml.load(text.decode("utf-8"), Loader=_Loader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise UsageError(f"{name} is not YAML: {_where_and_why(error)}.") from error
    if not isinstance(content, dict):
        raise UsageError(f"{name} must be a mapping with the keys task and brain.")
    try:
        return SessionConfig(**content)
    except (ValidationError, TypeError) as error:
        raise UsageError(f"{name}: {_first_problem(error)}") from error


def _first_problem(error: ValidationError | TypeError) -> str:
    if isinstance(error, TypeError):
        return "keys must be words"
    errors = error.errors()
    first = next((one for one in errors if one["type"] == "extra_forbidden"), errors[0])  # it may explain the others
    key = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        keys = list(SessionConfig.model_fields)
        return f"there is no key {key!r}. {near_names(key, keys) or 'Keys are: ' + ', '.join(keys) + '.'}"
    if first["type"] == "missing":
        return f"the key {key!r} is missing."
    return f"{key}: {first['msg']} (got {first.get('input')!r})."


def parse_assignments(pairs: list[str]) -> dict[str, Any]:
    """Reads ``key=value`` pairs with YAML values, like ``hidden=[32,32]`` or ``learning_rate=1e-3``."""
    parsed: dict[str, Any] = {}
    for pair in pairs:
        key, separator, text = pair.partition("=")
        if not separator or not key:
            raise UsageError(f"{pair!r} is not of the form key=value.")
        if key in parsed:
            raise UsageError(f"--set gives {key!r} twice.")
        try:
            parsed[key] = yaml.load(text, _Values)
        except (yaml.YAMLError, ValueError, RecursionError) as error:
            raise UsageError(f"The value of {key!r} is not YAML: {text!r:.200}.") from error
    return parsed


class _Values(yaml.SafeLoader):
    """Reads 1e-3 as a number, which YAML 1.1 takes for a word; what stands in quotes stays a word."""


_Values.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"[-+]?(\d+\.?\d*|\.\d+)[eE][-+]?\d+"), list("-+.0123456789")
)


def config_text(config: SessionConfig) -> str:
    """Writes a config as the text of a YAML file."""
    content = {key: value for key, value in config.model_dump(mode="json").items() if value is not None}
    return yaml.safe_dump(content, sort_keys=False)
