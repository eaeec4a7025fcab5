"""The two signatures that every world and every brain is compiled to, and the decorators that make them.

A *world* is two functions, ``reset`` and ``step`` (and, if it has one, ``reference``), of one signature; a *brain* is
four (``init``, ``begin_episode``, ``act``, ``learn``) of another. Because the signatures are fixed, the run loop takes
them as first-class compiled functions: adding a world or a brain compiles that file alone. Both signatures consist of
flat arrays; what lies in them is declared by name (:mod:`nematodebench.kernels.memory`). A kernel names in its
parameter list what it needs, and gets it by these names.

**A world** declares ``Params``, ``State`` and ``Metrics`` and decorates its functions with ``memory.reset`` and
``memory.kernel``, where ``memory = WorldMemory(Params, State, Metrics)``:

| a kernel's parameter | what it is |
|---|---|
| ``params`` | the task's frozen parameters and tables, shared by all runs, never written |
| ``state`` | everything the world remembers; all 0 when ``reset`` begins, unless the world says it keeps it |
| ``rng`` | the episode's own stream, see :mod:`nematodebench.kernels.rng`; a reference has a stream of its own |
| ``action`` | ``[agent, :]``: a discrete action as a number in column 0, effectors in [0, 1] otherwise |
| ``obs`` | ``[agent, :]``: the observation, to be overwritten |
| ``outcome`` | ``terminated``, ``truncated`` (0 or 1) and ``reward[agent]``, all 0 after ``reset`` |
| ``metrics`` | what is recorded of an episode; read when it has ended |

``step`` never starts the next episode by itself, so the last observation of an episode can be seen.

A world may also have a ``scene``, decorated with ``memory.scene``, which is compiled only when somebody looks at it. It
reads all of these but ``rng`` and writes ``rows`` and ``field``: see :mod:`nematodebench.kernels.scene`.

**A brain** declares a ``Memory`` and decorates its functions with ``Memory.kernel``:

| a kernel's parameter | what it is |
|---|---|
| ``brain`` | the view of its memory: all zeros but for constants, sizes and given words when ``init`` begins |
| ``rng`` | its random stream: that of the run in ``init``, that of the episode in all others |
| ``obs`` | the observation of one agent, never to be written |
| ``action`` | the action to fill: a whole number in ``action[0]``, or one number in [0, 1] for every effector |
| ``outcome`` | ``terminated``, ``truncated`` and ``reward`` of the step that ``learn`` is about |

| function | when it is called, what it sees and what it may do |
|---|---|
| ``init`` | once a run, before anything else. Draws initial weights from the brain's own stream of the run. ``obs``, ``action`` and ``outcome`` hold zeros. |
| ``begin_episode`` | after the world was reset; ``obs`` is the first observation. What belongs to one episode (traces, activity) is cleared here; everything else persists from episode to episode and from phase to phase. |
| ``act`` | before every step; fills ``action``. It may keep what it needs of ``obs``: when ``learn`` is called, ``obs`` is another one. |
| ``learn`` | after every step; ``obs`` is the **next** observation (after the last step the final one), ``action`` still holds what was done, ``outcome`` what came of it. Only ``terminated`` says that there is no future; an episode that was merely cut short is ``truncated``, and its final observation may be used to estimate what would have followed. It is not called in phases without learning. |

``begin_episode``, ``act`` and ``learn`` draw from one stream of the episode, in the order of their calls; every agent has
its own. An action that is NaN, outside [0, 1] or no choice ends the run as failed, with episode and step: a brain
whose numbers are not finite any more says so by writing NaN. What persists after a run is the memory; fields that are
not ``scratch`` are what the brain has learned, and their hash is recorded.
"""  # noqa: E501

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numba import types

from nematodebench.kernels.jit import F32, F32M, F64, F64M, I64, INTERPRETED, U64, inline, inlined, kernel, merged
from nematodebench.kernels.memory import Block, Memory, number, numbers
from nematodebench.kernels.views import last

__all__ = [
    "BRAIN", "SCENE", "WORLD", "BrainFunction", "BrainMemory", "Feedback", "NoMetrics", "Outcome", "SceneFunction",
    "WorldFunction", "WorldMemory",
]  # fmt: skip


# Protocols, because a class variable that is a Callable would be taken for a method.
class WorldFunction(Protocol):
    """A world's ``reset``, ``step`` or ``reference`` as it is compiled."""

    def __call__(self, params: F64, state: F64, rng: U64, action: F32M, obs: F32M, out: F64, /) -> None:
        """Works on the flat arrays."""

    def __hash__(self) -> int:
        """Functions can be kept in tables."""


class SceneFunction(Protocol):
    """A world's ``scene`` as it is compiled."""

    def __call__(self, params: F64, state: F64, action: F32M, obs: F32M, out: F64, rows: F64M, field: F32M, /) -> int:
        """Fills rows and field; returns how many rows it wrote."""

    def __hash__(self) -> int:
        """Functions can be kept in tables."""


class BrainFunction(Protocol):
    """A brain's ``init``, ``begin_episode``, ``act`` or ``learn`` as it is compiled."""

    def __call__(self, hyper: F64, ints: I64, mem: F32, rng: U64, obs: F32M, action: F32M, out: F64, /) -> None:
        """Works on the flat arrays."""


_f64, _i64, _f32, _u64 = types.float64[::1], types.int64[::1], types.float32[::1], types.uint64[::1]
_f32m, _f64m = types.float32[:, ::1], types.float64[:, ::1]
WORLD = types.void(_f64, _f64, _u64, _f32m, _f32m, _f64)
SCENE = types.int64(_f64, _f64, _f32m, _f32m, _f64, _f64m, _f32m)
BRAIN = types.void(_f64, _i64, _f32, _u64, _f32m, _f32m, _f64)


class Outcome(Block):
    """What came of a step, for all agents. The world's metrics lie behind the rewards."""

    terminated = number()
    truncated = number()
    reward = numbers("...")


class Feedback(Block):
    """What came of a step, for one agent."""

    terminated = number()
    truncated = number()
    reward = number()


class NoMetrics(Block):
    """For worlds that measure nothing."""


_WORLD_HEAD = "def {name}(params, state, rng, action, obs, out):"
_BRAIN_HEAD = "def {name}(hyper, ints, mem, rng, obs, action, out):"
_SCENE_HEAD = "def {name}(params, state, action, obs, out, rows, field):"
# The last row counts the rows before it.
_SCENE_FIRST, _SCENE_LAST = "    rows[rows.shape[0] - 1, 0] = 0.0", "    return int(rows[rows.shape[0] - 1, 0])"
_WORLD_NAMES = ("params", "state", "rng", "action", "obs", "outcome", "metrics")
_SCENE_NAMES = ("params", "state", "action", "obs", "outcome", "metrics", "rows", "field")
_BRAIN_NAMES = ("brain", "rng", "obs", "action", "outcome")


def _asked_for(function: Callable[..., None], names: tuple[str, ...]) -> list[str]:
    """The parameters of a kernel, which must be among those there are."""
    asked = list(inspect.signature(function).parameters)
    for name in asked:
        if name not in names:
            raise TypeError(f"kernel {function.__name__} asks for {name!r}; there are {', '.join(names)}")
    return asked


def _bind(function: Callable[..., None], lines: list[str], names: dict[str, Any], *, joined: bool) -> Any:
    """Compiles a function of the common signature that calls a kernel with views, both found in ``names``.

    Its source is generated, but it has the kernel's name, file and line, so that its machine code is kept on disk and
    is made anew when that file changes.
    """
    line = "\n" * (function.__code__.co_firstlineno - 1)
    scope = dict(names)
    exec(compile(line + "\n".join(lines), function.__code__.co_filename, "exec"), scope)
    bound: Any = scope[function.__name__]
    bound.__module__, bound.__qualname__, bound.__doc__ = function.__module__, function.__qualname__, function.__doc__
    if INTERPRETED:
        return np.errstate(all="ignore")(bound)  # compiled code warns of nothing: random numbers overflow on purpose
    compiled = kernel(cached=True)(bound)
    return inline(compiled) if joined else compiled


@dataclass(frozen=True)
class WorldMemory:
    """What a world declares: parameters, state and metrics."""

    params: type[Block]
    state: type[Block]
    metrics: type[Block] = NoMetrics

    def _lines(self, asked: list[str]) -> list[str]:
        """Source that builds the views a kernel asks for and calls it."""
        sized = self.state.sizes_from is not None
        given = {
            "params": "params_view",
            "state": "State(state, params_view)" if sized else "State(state)",
            "outcome": "Outcome(out)",
            "metrics": f"Metrics(last(out, {len(self.metrics.fields)}))",
        }
        call = f"    kernel({', '.join(given.get(name, name) for name in asked)})"
        return [*(["    params_view = Params(params)"] if sized or "params" in asked else []), call]

    def _names(self, function: Callable[..., None]) -> dict[str, Any]:
        return {
            "kernel": inlined(function), "Params": self.params, "State": self.state, "Metrics": self.metrics,
            "Outcome": Outcome, "last": last,
        }  # fmt: skip

    def _bind(self, function: Callable[..., None], first: list[str], *, joined: bool) -> WorldFunction:
        asked = _asked_for(function, _WORLD_NAMES)
        lines = [_WORLD_HEAD.format(name=function.__name__), *first, *self._lines(asked)]
        bound: WorldFunction = _bind(function, lines, self._names(function), joined=joined)
        return bound

    def scene(self, function: Callable[..., None]) -> SceneFunction:
        """Decorator for a world's ``scene``, which writes its picture as rows."""
        lines = [_SCENE_FIRST, *self._lines(_asked_for(function, _SCENE_NAMES)), _SCENE_LAST]
        names = self._names(function)
        bound: SceneFunction = _bind(
            function, [_SCENE_HEAD.format(name=function.__name__), *lines], names, joined=False
        )
        return bound

    def kernel(self, function: Callable[..., None]) -> WorldFunction:
        """Decorator for a world's ``step`` and ``reference``."""
        return self._bind(function, [], joined=False)

    def inlined(self, function: Callable[..., None]) -> WorldFunction:
        """As ``kernel``, for a step so short that a loop over copies of the world is faster with it inside."""
        return self._bind(function, [], joined=True)

    def reset(self, function: Callable[..., None]) -> WorldFunction:
        """Decorator for a world's ``reset``: state and outcome are 0 when it begins."""
        return self._bind(function, ["    state[:] = 0.0", "    out[:] = 0.0"], joined=False)

    def reset_keeping(self, function: Callable[..., None]) -> WorldFunction:
        """As ``reset``, for worlds whose state goes on from episode to episode."""
        return self._bind(function, ["    out[:] = 0.0"], joined=False)


class BrainMemory(Memory):
    """Base of a brain's declaration."""

    @classmethod
    def kernel(cls, function: Callable[..., None]) -> BrainFunction:
        """Decorator for a brain's ``init``, ``begin_episode``, ``act`` and ``learn``."""
        asked = _asked_for(function, _BRAIN_NAMES)
        given = {
            "brain": "Memory(hyper, ints, mem)", "obs": "obs[0]", "action": "action[0]", "outcome": "Feedback(out)",
        }  # fmt: skip
        call = f"    kernel({', '.join(given.get(name, name) for name in asked)})"
        lines = [_BRAIN_HEAD.format(name=function.__name__), call]
        # Merged: a brain's functions are large, so that compiling them twice takes seconds. A world's step is so short
        # that LLVM's inlining, which makes it faster, is worth its time.
        names = {"kernel": merged(function), "Memory": cls, "Feedback": Feedback}
        bound: BrainFunction = _bind(function, lines, names, joined=False)
        vars(bound)["reads"] = cls  # what the registry compares with the memory that a brain's class names
        return bound
