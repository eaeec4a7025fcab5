"""The brain's process: reads from one line what it is to be, from another which run it serves, then answers.

It may wait long for the second line, because processes are started ahead; a process serves one run, and none if there
is no such line. :mod:`nematodebench.engine.isolation.split` makes it inside the sandbox. It knows the brain's
own seed, what the brain senses and what it is paid, and nothing of the world.
"""

import contextlib
import gc
import importlib
import importlib.util
import json
import os
import sys
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nematodebench.engine.float_state import standard_floats
from nematodebench.engine.isolation.sandbox import COMPILED, PREPARED
from nematodebench.engine.isolation.shared import (
    COPY,
    HOST_TURN,
    LOOK,
    MEMORY,
    RESTORE,
    WORDS,
    YIELD,
    YIELDS,
    Bell,
    Shared,
    mapped,
)
from nematodebench.engine.python_brain import PythonBrains
from nematodebench.errors import said

__all__ = ["main"]

_TURN, _LEARN, _BEGIN, _REQUEST, _OVER, _WAY, _HOST_SLEEPS = (
    WORDS.index(name) for name in ("turn", "learn", "begin", "request", "over", "way", "host_sleeps")
)
_LOOKS = range(200)
"""How often Python looks for the turn before it sleeps, where looking pays: some ten microseconds."""
_YIELDS = range(YIELDS)
_let_others_go = os.sched_yield


@dataclass(frozen=True)
class _Body:
    """What a Python brain is told of its body."""

    low: list[float]
    high: list[float]
    choices: int
    effectors: int


def _load(where: str) -> type[Any]:
    """The brain's class: ``module:Class`` of an installed package, or ``path/to/file.py:Class``."""
    place, _, name = where.rpartition(":")
    if place.endswith(".py"):
        sys.path.append(str(Path(place).parent))  # the files beside it; last, so that none takes a library's place
        own = Path(place).stem
        spec = importlib.util.spec_from_file_location(own, place)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[own] = module
        spec.loader.exec_module(module)
    else:
        module = importlib.import_module(place)
    return getattr(module, name)  # type: ignore[no-any-return]


def _config(brain: type[Any], given: dict[str, Any]) -> Any:
    """The brain's parameters: in its own model where it has one, and as they are where it takes any."""
    if getattr(brain, "config", None) is None:
        return given
    from nematodebench.brains.configs import resolve_stored

    return resolve_stored(brain.__name__, brain, given)


class _PythonServer:
    """Answers for all agents of a run of a Python brain."""

    def __init__(self, brain: type[Any], given: dict[str, Any], shared: Shared) -> None:
        body: Any = _Body(**{key: given["body"][key] for key in ("low", "high", "choices", "effectors")})
        n = len(body.low)
        self.brains: Any = PythonBrains(
            brain, _config(brain, given["config"]), body, given["seed"], given["agents"], learning=True
        )
        bells = [Bell(row, "brain_sleeps", "host_sleeps") for row in shared.words]
        places = [(row[:n], row[n : 2 * n], row[2 * n :]) for row in shared.values]
        boxes = [memoryview(row) for row in shared.words]
        self._mail = list(zip(range(len(boxes)), boxes, bells, places, shared.feedback, strict=True))

    def until_request(self) -> None:
        """Answers letters, agent after agent; returns when one of them asks for something that is no step.

        A letter tells what happened since the last one, and asks for the next action. This is the path of every step.
        """
        take_in, choose = self.brains.take_in, self.brains.choose
        while True:
            for agent, box, bell, (observation, following, action), feedback in self._mail:
                if box[_TURN] == HOST_TURN:
                    self._wait(box, bell)
                if box[_LEARN]:
                    box[_LEARN] = 0
                    terminated, truncated, reward = feedback.tolist()
                    take_in(agent, following, reward, terminated != 0.0, truncated != 0.0)
                if box[_REQUEST]:
                    return
                if box[_BEGIN]:
                    box[_BEGIN] = 0
                    self.brains.begin_episode(agent)
                choose(agent, observation, action)
                box[_TURN] = HOST_TURN
                if box[_HOST_SLEEPS]:
                    bell.wake()

    @staticmethod
    def _wait(box: Any, bell: Bell) -> None:
        """Waits for the turn in the way that the host has chosen, asleep in the end."""
        way = box[_WAY]
        if way == YIELD:
            for _ in _YIELDS:
                _let_others_go()
                if box[_TURN] != HOST_TURN:
                    return
        elif way == LOOK:
            for _ in _LOOKS:
                if box[_TURN] != HOST_TURN:
                    return
        while box[_TURN] == HOST_TURN:
            bell.sleep_while(HOST_TURN)


def _serve(given: dict[str, Any], shared: Shared) -> None:
    """Answers for as long as the process is there: the host ends it."""
    gc.disable()  # nothing that is imported is ever garbage, and looking for it takes a quarter of an import's time
    brain = _load(given["brain"])  # what an import leaves behind does not reach the brain
    if hasattr(brain, "layout"):  # a compiled brain has brought the compiler with it
        from nematodebench.engine.isolation.compiled import CompiledServer, compile_brain

        compile_brain(brain)
        kind: Any = CompiledServer
    else:
        import gymnasium.spaces  # noqa: F401  (it takes a while, and every Python brain is given spaces)

        if "torch" in sys.modules:  # its first optimizer would import this in the middle of the run
            importlib.import_module("torch._dynamo")
        kind = _PythonServer
    gc.enable()
    run = sys.stdin.readline()
    if run:
        with standard_floats():
            _answer_for(kind(brain, {**given, **json.loads(run)}, shared), shared)


def _answer_for(server: Any, shared: Shared) -> None:
    words = shared.words[0]
    bell = Bell(words, "brain_sleeps", "host_sleeps")
    copies = contextlib.ExitStack()
    while True:
        server.until_request()
        request = int(words[_REQUEST])
        if request == MEMORY:
            brains = server.brains
            shared.say(json.dumps({"memory": brains.memory_hash(), "descriptors": brains.descriptors()}))
        elif request == COPY:
            copies.enter_context(_with_copy(server))
        elif request == RESTORE:
            copies.close()
        words[_REQUEST] = 0
        bell.hand_over(HOST_TURN)


@contextlib.contextmanager
def _with_copy(server: Any) -> Iterator[None]:
    original = server.brains
    with original.copied() as server.brains:
        yield
    server.brains = original


def _prepare(given: dict[str, Any]) -> None:
    """Compiles a brain, and writes what was compiled to the standard output, for later processes of it."""
    kept = os.dup(1)
    os.dup2(2, 1)  # what the brain prints is no part of it
    _compile(given)
    if given["keep"] and Path(COMPILED).is_dir():
        with os.fdopen(kept, "wb") as stream, tarfile.open(fileobj=stream, mode="w|") as archive:
            archive.add(COMPILED, ".")


def _unpack() -> None:
    """Takes over the compiled code. The archive is as foreign as the brain, and is opened nowhere else."""
    with tarfile.open(PREPARED) as archive:
        archive.extractall(COMPILED, filter="data")


def _compile(given: dict[str, Any]) -> None:
    brain = _load(given["brain"])
    if hasattr(brain, "layout"):
        from nematodebench.engine.isolation.compiled import compile_brain

        compile_brain(brain)


def main(descriptor: int) -> None:
    """Serves one run through the shared memory behind a descriptor.

    What goes wrong is left as a message, and the host is told that nobody will answer.
    """
    given = json.loads(sys.stdin.readline())
    shared = Shared(mapped(descriptor, given["size"]), given["agents"], len(given["body"]["low"]), given["width"])
    try:
        if given["prepare"]:
            _prepare(given)
            return
        if given["prepared"]:
            _unpack()
        _serve(given, shared)
    except BaseException as error:  # whatever a brain raises, also SystemExit
        shared.say(json.dumps({"error": f"{type(error).__name__}: {said(error)}"[:2000]}))
        shared.words[:, _OVER] = 1
        sys.exit(1)
