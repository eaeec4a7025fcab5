"""What a world is: a frozen dataclass of parameters plus two compiled functions.

A world's file declares its memory by name, holds its physics (``reset`` and ``step``, see
:mod:`nematodebench.kernels.abi`), and a subclass of :class:`World` whose fields are its parameters and whose
docstring is its specification.
"""

import dataclasses
import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from nematodebench.errors import UsageError
from nematodebench.kernels.abi import SceneFunction, WorldFunction, WorldMemory
from nematodebench.kernels.jit import F64
from nematodebench.worlds.picture import Picture

__all__ = ["Discrete", "Effectors", "Sensor", "World", "added"]

_ABSENT = "absent"


def added(default: Any) -> Any:
    """A parameter that came into a world after results were stored, and whose ``default`` is what the world did before.

    A parameter whose default is 0, 0.0, False or empty needs no such word.
    """
    return dataclasses.field(default=default, metadata={_ABSENT: default})


@dataclass(frozen=True)
class Sensor:
    """One input of a brain with its range."""

    name: str
    low: float = 0.0
    high: float = 1.0


@dataclass(frozen=True)
class Discrete:
    """One of ``len(names)`` actions a step."""

    names: tuple[str, ...]

    @property
    def n(self) -> int:
        """How many there are."""
        return len(self.names)


@dataclass(frozen=True)
class Effectors:
    """Several effectors at once, each in [0, 1]."""

    names: tuple[str, ...]

    @property
    def n(self) -> int:
        """How many there are."""
        return len(self.names)


@dataclass(frozen=True)
class World:
    """A simulated environment with its parameters; subclasses add fields, physics and a specification."""

    name: ClassVar[str]
    memory: ClassVar[WorldMemory]
    """Parameters, state and metrics by name."""
    reset: ClassVar[WorldFunction]
    step: ClassVar[WorldFunction]
    terminations: ClassVar[tuple[str, ...]] = ()
    """Meaning of the codes 1, 2, ... of a metric called ``termination``."""
    reference: ClassVar[WorldFunction | None] = None
    """A scripted controller that fills ``action`` from the full state."""
    scene: ClassVar[SceneFunction | None] = None
    """Writes the world's picture as rows of primitives, see :mod:`nematodebench.kernels.scene`."""

    @property
    def agents(self) -> int:
        """How many brains are in it at once."""
        return 1

    @property
    def horizon(self) -> int:
        """The most steps of an episode: the parameter ``max_steps`` or ``ticks``, unless a world says otherwise."""
        steps = getattr(self, "max_steps", 0) or getattr(self, "ticks", 0)
        if not steps:
            raise UsageError(f"World {self.name!r} does not say how long an episode can be: define `horizon`.")
        return int(steps)

    @property
    def sensors(self) -> tuple[Sensor, ...]:
        """The inputs of one agent, in order."""
        raise TypeError(f"world {type(self).__name__} must define `sensors`")

    @property
    def actions(self) -> Discrete | Effectors:
        """What one agent can do."""
        raise TypeError(f"world {type(self).__name__} must define `actions`")

    @property
    def metrics(self) -> tuple[str, ...]:
        """Names of what is recorded of an episode, in order."""
        return tuple(self.memory.metrics.fields)

    def tables(self) -> Mapping[str, Any]:
        """Values of declared parameters that are no fields of the dataclass: tables, and what follows from fields."""
        return {}

    def pack(self) -> F64:
        """Parameters and tables as the flat array the compiled functions read."""
        return self.memory.params.pack(self, **self.tables())

    @functools.cached_property
    def packed(self) -> F64:
        """What :meth:`pack` gives, computed once. Nobody may write to it: every run takes a copy."""
        packed = self.pack()
        packed.setflags(write=False)
        return packed

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "packed"}  # long, and soon packed again

    def picture(self) -> Picture:
        """The frame of its scenes: what they show, the words in them and what colours mean."""
        return Picture()

    def text(self, state: Any) -> str:
        """The world as text, for ``render_mode="ansi"``; ``state`` is a view by name."""
        return " ".join(f"{name} {getattr(state, name):.3g}" for name in state.singles)

    def spec(self) -> Mapping[str, Any]:
        """Name and parameters as plain data: what a task's hash is taken of."""
        return {"world": self.name, **dataclasses.asdict(self)}

    @property
    def absent(self) -> Mapping[str, Any]:
        """What a stored specification means that lacks one of these parameters."""
        fields = dataclasses.fields(self)
        return {field.name: field.metadata[_ABSENT] for field in fields if _ABSENT in field.metadata}
