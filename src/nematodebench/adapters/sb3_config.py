"""The parameters of an algorithm of stable-baselines3 as a config: read from the signature of its class."""

import inspect
from typing import Any, ClassVar

from pydantic import Field, create_model

from nematodebench.brains.base import BrainConfig
from nematodebench.errors import UsageError, near_names

__all__ = ["SB3Config", "config_for"]

_OURS = {
    "self", "policy", "env", "seed", "device", "verbose", "tensorboard_log", "monitor_wrapper", "stats_window_size",
    "_init_setup_model", "use_sde", "sde_sample_freq", "use_sde_at_warmup", "n_envs",
}  # fmt: skip
"""Arguments that are decided here: one run has one world, a seed, and one thread of a processor."""
_OBJECTS = {
    "policy_kwargs", "action_noise", "replay_buffer_class", "replay_buffer_kwargs", "rollout_buffer_class",
    "rollout_buffer_kwargs",
}  # fmt: skip
"""Arguments that are objects: they are handed on and never part of a config."""
_TYPES: dict[type[Any], Any] = {bool: bool, int: int, float: float, str: str | float, type(None): float | None}


class SB3Config(BrainConfig):
    """What every algorithm has beside its own parameters."""

    total_timesteps: int = Field(100_000, ge=1, description="steps over which schedules go, like that of exploration")
    algorithm: ClassVar[type[Any]]
    levels: int = Field(0, ge=0, description="effectors as so many levels each (MultiDiscrete); 0: as a Box in [0, 1]")

    def __reduce__(self) -> tuple[Any, ...]:
        """For other processes: the class is made there again."""
        return _restored, (self.algorithm, self.model_dump())


def _restored(algorithm: type[Any], values: dict[str, Any]) -> SB3Config:
    return config_for(algorithm, {})[0](**values)


def config_for(algorithm: type[Any], settings: dict[str, Any]) -> tuple[type[SB3Config], dict[str, Any]]:
    """The config class of an algorithm with its settings as defaults, and the settings that no config can hold."""
    parameters = inspect.signature(algorithm.__init__).parameters
    _check(algorithm, settings, [*parameters, *SB3Config.model_fields])
    kept = {name: value for name, value in settings.items() if name in _OBJECTS or type(value) not in _TYPES}
    fields: dict[str, Any] = {}
    for name, parameter in parameters.items():
        default = settings.get(name, parameter.default)
        if name not in _OURS | _OBJECTS | set(kept) and type(default) in _TYPES:
            fields[name] = _TYPES[type(_first_of(default, parameter.default))], Field(default, description=_WORDS)
    fields |= {
        name: (int, Field(settings[name], ge=field.metadata[0].ge, description=field.description))
        for name, field in SB3Config.model_fields.items()
        if name in settings
    }
    made: type[SB3Config] = create_model(f"{algorithm.__name__}Config", __base__=SB3Config, **fields)
    made.algorithm = algorithm
    return made, kept


_WORDS = "as in stable-baselines3"


def _first_of(given: Any, default: Any) -> Any:
    """The value that decides the type: a whole number that is given for a float is a float."""
    return default if isinstance(default, float) and isinstance(given, int) else given


def _check(algorithm: type[Any], settings: dict[str, Any], known: list[str]) -> None:
    for name in settings:
        if name in _OURS:
            raise UsageError(f"{name} of {algorithm.__name__} is decided by the run loop: leave it out.")
        if name not in known:
            raise UsageError(f"{algorithm.__name__} has no parameter {name!r}. {near_names(name, known)}".rstrip())
