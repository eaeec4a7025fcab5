"""The brain's process: reads what it is to be from one line, then answers until it is asked for its memory.

It is started by :mod:`nematodebench.engine.isolation.host` inside the sandbox. It knows the brain's own seed, what the
brain senses and what it is paid, and nothing of the world.
"""

import hashlib
import importlib
import importlib.util
import json
import mmap
import os
import sys
from dataclasses import dataclass
from typing import Any

from nematodebench.engine.isolation.shared import HOST_TURN, WORDS, Shared
from nematodebench.engine.python_brain import PythonBrains

__all__ = ["main"]

_TURN, _LEARN, _BEGIN, _EPISODE, _END, _OVER = range(len(WORDS))
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
        self.brains = PythonBrains(_load(given["brain"]), given["config"], body, given["seed"], agents)  # type: ignore[arg-type]

    def serve(self) -> None:
        """Answers until the end is asked for."""
        looks = 0
        words = memoryview(self.shared.words.reshape(-1))
        stride = len(WORDS)
        while True:
            for agent in range(self._agents):
                if words[agent * stride] != HOST_TURN:
                    looks = 0
                    if self._answer(agent, self.shared.words[agent]):
                        return
            looks += 1
            if looks > _PATIENCE:
                os.sched_yield()

    def _answer(self, agent: int, words: Any) -> bool:
        """One letter: what happened since the last one, then the next action. True if it was the last."""
        n, row = self._inputs, self.shared.values[agent]
        if words[_LEARN]:
            words[_LEARN] = 0
            self.brains.take_in(agent, row[n : 2 * n], self.shared.feedback[agent])
        if words[_END]:
            self.shared.say(json.dumps({"memory": hashlib.sha256(self.brains.memory()).hexdigest()}))
            words[_TURN] = HOST_TURN
            return True
        if words[_BEGIN]:
            words[_BEGIN] = 0
            self.brains.begin_episode(agent)
        self.brains.choose(agent, row[:n], row[2 * n :])
        words[_TURN] = HOST_TURN
        return False


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
