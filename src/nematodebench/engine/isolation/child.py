"""The brain's process: reads what it is to be from one line, then answers until it is asked for its memory.

It is started by :mod:`nematodebench.engine.isolation.host` inside the sandbox. It knows the brain's own seed, what the
brain senses and what it is paid, and nothing of the world.
"""

import contextlib
import importlib
import importlib.util
import json
import mmap
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from nematodebench.engine.isolation.shared import COPY, HOST_TURN, MEMORY, RESTORE, WORDS, Shared
from nematodebench.engine.python_brain import PythonBrains

__all__ = ["main"]

_TURN, _LEARN, _BEGIN, _EPISODE, _REQUEST, _OVER = range(len(WORDS))
_PATIENCE = 200
"""How often the mailboxes are looked at before the processor is offered to others."""


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
        spec = importlib.util.spec_from_file_location("brain", place)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules["brain"] = module
        spec.loader.exec_module(module)
    else:
        module = importlib.import_module(place)
    return getattr(module, name)  # type: ignore[no-any-return]


class _Server:
    """Answers for all agents of a run of a Python brain."""

    def __init__(self, given: dict[str, Any], memory: mmap.mmap) -> None:
        body = _Body(**given["body"])
        agents, inputs = given["agents"], len(body.low)
        width = given["width"]
        self.shared = Shared(memory, agents, inputs, width)
        self._inputs, self._agents = inputs, agents
        self.brains = PythonBrains(_load(given["brain"]), given["config"], body, given["seed"], agents, learning=True)  # type: ignore[arg-type]
        self._copies = contextlib.ExitStack()

    def serve(self) -> None:
        """Answers for as long as the process is there: the host ends it."""
        looks = 0
        words = memoryview(self.shared.words.reshape(-1))
        stride = len(WORDS)
        while True:
            for agent in range(self._agents):
                if words[agent * stride] != HOST_TURN:
                    looks = 0
                    self._answer(agent, self.shared.words[agent])
            looks += 1
            if looks > _PATIENCE:
                os.sched_yield()

    def _answer(self, agent: int, words: Any) -> None:
        """One letter: what happened since the last one, then the next action or what else is asked for."""
        n, row = self._inputs, self.shared.values[agent]
        if words[_LEARN]:
            words[_LEARN] = 0
            self.brains.take_in(agent, row[n : 2 * n], self.shared.feedback[agent])
        if words[_REQUEST]:
            self._do(int(words[_REQUEST]))
            words[_REQUEST] = 0
            words[_TURN] = HOST_TURN
            return
        if words[_BEGIN]:
            words[_BEGIN] = 0
            self.brains.begin_episode(agent)
        self.brains.choose(agent, row[:n], row[2 * n :])
        words[_TURN] = HOST_TURN

    def _do(self, request: int) -> None:
        """What is no step."""
        if request == MEMORY:
            self.shared.say(json.dumps({"memory": self.brains.memory_hash()}))
        elif request == COPY:
            self._copies.enter_context(self._with_copy())
        elif request == RESTORE:
            self._copies.close()

    @contextlib.contextmanager
    def _with_copy(self) -> Iterator[None]:
        original = self.brains
        with original.copied() as self.brains:
            yield
        self.brains = original


def main() -> None:
    """Serves one run; what goes wrong is left as a message, and the host is told that nobody will answer."""
    descriptor = int(sys.argv[1])
    given = json.loads(sys.stdin.readline())
    memory = mmap.mmap(descriptor, given["size"])
    os.close(descriptor)
    shared = Shared(memory, given["agents"], len(given["body"]["low"]), given["width"])
    try:
        _Server(given, memory).serve()
    except BaseException as error:  # whatever a brain raises, also SystemExit
        shared.say(json.dumps({"error": f"{type(error).__name__}: {error}"[:2000]}))
        shared.words[:, _OVER] = 1
        sys.exit(1)


if __name__ == "__main__":
    main()
