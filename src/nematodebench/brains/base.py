"""What a brain is: a config, a memory layout and four compiled functions; or a Python class with the same methods.

A brain's file holds everything about it. Its config is a pydantic model: default, help text and recorded value are one
declaration, and an unknown key is an error.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from pydantic import BaseModel, ConfigDict

from nematodebench.brains.synapses import Synapses, synapses_of
from nematodebench.kernels.abi import BrainFunction, BrainMemory
from nematodebench.kernels.memory import Layout
from nematodebench.vocabulary import BrainClass

__all__ = [
    "BrainClass",
    "BrainConfig",
    "CompiledBrain",
    "Interface",
    "NoConfig",
    "NoMemory",
    "PythonBrain",
    "nothing",
]


class BrainConfig(BaseModel):
    """Base of all brain configs: frozen, no unknown keys, no NaN."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, validate_default=True)


class NoConfig(BrainConfig):
    """For brains without parameters."""


@dataclass(frozen=True)
class Interface:
    """What a brain is told about the body it gets: never the task, only its inputs and outputs."""

    sensors: tuple[str, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    choices: int
    """Number of discrete actions; 0 if the outputs are effectors."""
    effectors: int
    """Number of effectors in [0, 1]; 0 if the actions are discrete."""
    choice_names: tuple[str, ...] = ()
    """Names of the discrete actions, for brains written for a certain body."""

    @property
    def inputs(self) -> int:
        """Number of sensors."""
        return len(self.sensors)

    @property
    def action_width(self) -> int:
        """Numbers in an action: one choice, or one per effector."""
        return self.effectors or 1


class NoMemory(BrainMemory):
    """For brains that remember nothing."""


@NoMemory.kernel
def nothing() -> None:
    """For the functions in which a brain has nothing to do."""


class CompiledBrain:
    """Base of compiled brains; subclasses set the class variables.

    A brain declares its memory by name and decorates four functions with ``Memory.kernel``; what each of them sees and
    may do is told in :mod:`nematodebench.kernels.abi`.
    """

    name: ClassVar[str]
    aliases: ClassVar[tuple[str, ...]] = ()
    """Names it had before. Stored results, configs and commands may use them."""
    kind: ClassVar[BrainClass]
    config: ClassVar[type[BrainConfig]] = NoConfig
    memory: ClassVar[type[BrainMemory]] = NoMemory
    init: ClassVar[BrainFunction] = staticmethod(nothing)
    begin_episode: ClassVar[BrainFunction] = staticmethod(nothing)
    act: ClassVar[BrainFunction] = staticmethod(nothing)
    learn: ClassVar[BrainFunction] = staticmethod(nothing)

    @classmethod
    def sizes(cls, config: Any, body: Interface) -> Mapping[str, Any]:
        """Values of the declared sizes, constants and parts that neither the config nor the body has by that name."""
        return {}

    @classmethod
    def without_learning(cls, config: Any) -> Any:
        """The config it acts with where it never learns: what falls as it learns, like exploration, is where it ends.

        So the gain from learning is never the gain from exploring less.
        """
        return config

    @classmethod
    def layout(cls, config: Any, body: Interface) -> Layout:
        """Fits the brain to a body; one with an array for what the body does not have refuses it."""
        sizes = cls.sizes(config, body)
        if not isinstance(sizes, Mapping):
            raise TypeError(f"its `sizes` has to return a dictionary; it returned {sizes!r}")
        for name, other in (("choices", "moves effectors"), ("effectors", "is controlled by choices")):
            fields = cls.memory.fields.items()
            array = next((key for key, field in fields if name in field.dims and name not in sizes), None)
            if array is not None and getattr(body, name) == 0:
                raise ValueError(f"its memory {array!r} is as large as the number of {name}, and this body {other}")
        try:
            return cls.memory.lay_out(config, body, **sizes)
        except TypeError as error:
            hint = "values come from the config and the body, by name, and from the dictionary that `sizes` returns"
            raise TypeError(f"{error} ({hint})") from error

    @classmethod
    def describe(cls, config: Any, brain: Any) -> dict[str, float]:
        """Descriptors of the brain's state after a run (firing rate, ...): reported, never scored."""
        return {}

    @classmethod
    def synapses(cls, config: Any, brain: Any) -> list[Synapses]:
        """The connections that an action goes through, with what they carried in the last step: what an action costs.

        The networks, readouts and links in its memory, if it does not say otherwise.
        """
        return list(synapses_of(brain))


class PythonBrain(Protocol):
    """A brain written in Python: built as ``Class(observation_space, action_space, config, seed)``.

    Its class may say ``kind`` (what it competes in) and ``config`` (its parameters: a dataclass or a pydantic model,
    whose instance the constructor gets; without one it takes no parameters and gets an empty mapping). A class method
    ``without_learning(config)`` is optional; :class:`CompiledBrain` says what it is for. So is a class method
    ``check_body(observation_space, action_space, config)``: it raises a ValueError for a body that it cannot control.
    """

    def act(self, observation: np.ndarray[Any, Any]) -> Any:
        """Chooses an action: an integer, or an array of effectors in [0, 1]."""

    def learn(self, transition: Any) -> None:
        """Sees what came of it (see :class:`nematodebench.engine.python_brain.Transition`)."""

    def begin_episode(self) -> None:
        """A new episode begins; what was learned stays."""
