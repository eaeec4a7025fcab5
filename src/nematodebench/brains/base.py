"""What a brain is: a config, a memory layout and four compiled functions; or a Python class with the same life.

A brain's file holds everything about it. Its config is a pydantic model: default, help text and recorded value are one
declaration, and an unknown key is an error.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, TypeAlias

import numpy as np
from pydantic import BaseModel, ConfigDict

from nematodebench.kernels.abi import F32, F32M, F64, I64, U64, brain_kernel
from nematodebench.vocabulary import BrainClass

__all__ = [
    "BrainClass",
    "BrainConfig",
    "BrainPart",
    "CompiledBrain",
    "Interface",
    "Layout",
    "NoConfig",
    "PythonBrain",
    "nothing",
]

BrainPart: TypeAlias = "staticmethod[[F64, I64, F32, U64, F32M, F32M, F64], None]"


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


@dataclass(frozen=True)
class Layout:
    """A brain fitted to a body: constants, sizes with counters, and how many floats of memory it needs."""

    hyper: F64
    ints: I64
    memory: int


@brain_kernel
def nothing(hyper: F64, ints: I64, mem: F32, rng: U64, obs: F32M, action: F32M, out: F64) -> None:
    """For the parts of life in which a brain has nothing to do."""


class CompiledBrain:
    """Base of compiled brains; subclasses set the class variables and :meth:`layout`."""

    name: ClassVar[str]
    aliases: ClassVar[tuple[str, ...]] = ()
    """Names it had before. Stored results, configs and commands may use them."""
    kind: ClassVar[BrainClass]
    config: ClassVar[type[BrainConfig]] = NoConfig
    init: ClassVar[BrainPart] = staticmethod(nothing)
    begin_episode: ClassVar[BrainPart] = staticmethod(nothing)
    act: ClassVar[BrainPart] = staticmethod(nothing)
    learn: ClassVar[BrainPart] = staticmethod(nothing)

    @classmethod
    def layout(cls, config: Any, body: Interface) -> Layout:
        """Fits the brain to a body."""
        raise TypeError(f"brain {cls.__name__} must define `layout`")

    @classmethod
    def describe(cls, config: Any, ints: I64, mem: F32) -> dict[str, float]:
        """Descriptors of the brain's state after a run (firing rate, ...): reported, never scored."""
        return {}


class PythonBrain(Protocol):
    """A brain written in Python: built as ``Class(observation_space, action_space, config, seed)``."""

    def act(self, observation: np.ndarray[Any, Any]) -> Any:
        """Chooses an action: an integer, or an array of effectors in [0, 1]."""

    def learn(self, transition: Any) -> None:
        """Sees what came of it (see :class:`nematodebench.engine.python_brain.Transition`)."""

    def begin_episode(self) -> None:
        """A new life begins; what was learned stays."""
