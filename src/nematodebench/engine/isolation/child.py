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
import mmap
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
)
from nematodebench.engine.python_brain import PythonBrains

__all__ = ["main"]

_TURN, _LEARN, _BEGIN, _REQUEST, _OVER, _WAY = (
    WORDS.index(name) for name in ("turn", "learn", "begin", "request", "over", "way")
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
        self._bells = [Bell(row, "brain_sleeps", "host_sleeps") for row in shared.words]
        self._boxes = [memoryview(row) for row in shared.words]
        rows = zip(shared.values, shared.feedback, strict=True)
        self._places = [(row[:n], row[n : 2 * n], row[2 * n :], feedback) for row, feedback in rows]

    def until_request(self) -> None:
        """Answers letters; returns when agent 0 is asked for something that is no step."""
        following, boxes, bells = 0, self._boxes, self._bells
        while True:
            self._wait(boxes[following], bells[following])
            for agent, box in enumerate(boxes):
                if box[_TURN] != HOST_TURN:
                    if self._answer(agent, box):
                        return
                    bells[agent].hand_over(HOST_TURN)
                    following = (agent + 1) % len(boxes)  # agents act in their order

    @staticmethod
    def _wait(box: Any, bell: Bell) -> None:
        way = box[_WAY]
        if way == LOOK:
            for _ in _LOOKS:
                if box[_TURN] != HOST_TURN:
                    return
        elif way == YIELD:
            for _ in _YIELDS:
                if box[_TURN] != HOST_TURN:
                    return
                _let_others_go()
        if box[_TURN] == HOST_TURN:  # the host may have answered while it was being woken
            bell.sleep_while(HOST_TURN)

    def _answer(self, agent: int, box: Any) -> bool:
        """One letter: what happened since the last one, then the next action. True if it asks for something else."""
        observation, following, action, feedback = self._places[agent]
        if box[_LEARN]:
            box[_LEARN] = 0
            terminated, truncated, reward = feedback.tolist()
            self.brains.take_in(agent, following, reward, terminated != 0.0, truncated != 0.0)
        if box[_REQUEST]:
            return True
        if box[_BEGIN]:
            box[_BEGIN] = 0
            self.brains.begin_episode(agent)
        self.brains.choose(agent, observation, action)
        return False


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
    memory = mmap.mmap(descriptor, given["size"])
    os.close(descriptor)
    shared = Shared(memory, given["agents"], len(given["body"]["low"]), given["width"])
    try:
        if given["prepare"]:
            _prepare(given)
            return
        if given["prepared"]:
            _unpack()
        _serve(given, shared)
    except BaseException as error:  # whatever a brain raises, also SystemExit
        shared.say(json.dumps({"error": f"{type(error).__name__}: {error}"[:2000]}))
        shared.words[:, _OVER] = 1
        sys.exit(1)
