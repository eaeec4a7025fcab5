"""The host's side of an isolated run: shares memory with the brain's process and watches that it lives."""

import contextlib
import copy
import math
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from nematodebench.brains.base import Interface, nothing
from nematodebench.engine import loop
from nematodebench.engine.isolation.mailbox import Patience, stubs
from nematodebench.engine.isolation.process import Foreign, IsolationError, prepare
from nematodebench.engine.isolation.seats import Seat
from nematodebench.engine.isolation.shared import (
    BRAIN_TURN,
    COPY,
    LOOK,
    MEMORY,
    RESTORE,
    SLEEP,
    WORDS,
    YIELD,
    Bell,
)
from nematodebench.engine.isolation.spares import take
from nematodebench.records.memory_hash import memory_kind
from nematodebench.records.plain_text import plain

__all__ = ["STOPPED", "Foreign", "IsolatedBrains", "IsolationError", "prepare"]

_TURN, _REQUEST, _OVER, _WAY = (WORDS.index(name) for name in ("turn", "request", "over", "way"))
STOPPED = "the brain's process was stopped"
"""How the failure of a run begins that took more than its time."""
_LAST_WORDS = 5.0
"""Seconds for a process to end that has said that nobody will answer any more."""
_LONGEST_NAME = 200
"""Characters of what a brain calls something that it says of its state."""
_GLANCE = 0.1
"""Seconds after which it is looked at how the two sides wait for each other."""
_IN_VAIN = 0.5
"""The share of answers that may come too late for whoever looks, before the brain is thought to be a slow one."""
_LOST = {LOOK: 0.4, YIELD: 0.5}
"""The share of their cores that the two sides may lose to others. A way that takes less of the cores has about as much
less speed; and of a core where the sides let others go first, somebody else who is there takes nearly all."""


class IsolatedBrains:
    """One run of a foreign brain in a process of its own. Its arrays are what the run loop takes for a brain's."""

    def __init__(
        self, brain: Foreign, config: dict[str, Any], body: Interface, seed: int, agents: int, learning: bool
    ) -> None:
        self._brain, self._why, self._in_vain = brain, "", False
        self._process = take(brain, body, agents)
        self.shared = self._process.shared
        self.hyper, self.ints = np.zeros(Patience.count()), self.shared.words
        self.mem, self.out = self.shared.values, self.shared.feedback
        self._process.begin(config, seed)
        begin, act, learn = stubs()
        self.functions = (begin, act, learn if learning else nothing)
        self.run_phase = loop.compiled_run_phase()
        self._seat = Seat(self._process.number, self._wait_so)
        threading.Thread(target=self._watch, daemon=True).start()

    def _wait_so(self, way: int) -> None:
        """Has both sides wait for each other in this way."""
        Patience(self.hyper).way = way
        self.shared.words[:, _WAY] = way

    def _watch(self) -> None:
        """Waits for the process; when it is gone, or its time is up, the loop must not wait for it any more."""
        deadline = time.monotonic() + self._brain.seconds
        while time.monotonic() < deadline:
            if self._process.wait(min(_GLANCE, max(0.0, deadline - time.monotonic()))):
                break
            self._give_up_in_vain()
        else:
            self._why = f"it took more than {self._brain.seconds:g} s"
            self._process.kill()
        self.shared.words[:, _OVER] = 1

    def _give_up_in_vain(self) -> None:
        """Sleeps where it is of no use to stay awake: somebody else needs a core, or the brain is a slow one."""
        patience, seat = Patience(self.hyper), self._seat
        lost = seat.lost()
        seat.try_again()
        # While the process is still starting, or at a long step, there is nothing to judge.
        slow = patience.slept > _IN_VAIN * patience.answers
        in_vain = seat.way != SLEEP and patience.answers > 0.0 and (slow or lost > _LOST[seat.way])
        if in_vain and self._in_vain:  # once may have been the start of the next run's process
            seat.give_up(slow=slow)
        self._in_vain = in_vain
        patience.slept = patience.answers = 0.0

    def _ask(self, request: int) -> None:
        """Has the brain take in its last step, then do something that is no step, and waits until it is done."""
        words = self.shared.words[0]
        bell = Bell(words, "host_sleeps", "brain_sleeps")
        words[_REQUEST] = request
        bell.hand_over(BRAIN_TURN)
        while words[_TURN] == BRAIN_TURN:
            if words[_OVER]:
                raise IsolationError(self.complaint())
            bell.sleep_while(BRAIN_TURN)

    @contextlib.contextmanager
    def copied(self) -> Iterator["IsolatedBrains"]:
        """The same process with a copy of its brains that does not learn; afterwards it goes on with the first."""
        self._ask(COPY)
        twin = copy.copy(self)
        twin.functions = (*self.functions[:2], nothing)
        try:
            yield twin
        finally:
            self._ask(RESTORE)

    def memory_hash(self) -> str | None:
        """SHA-256 of what the brains remember, as their process tells it; None if it says that there is none."""
        self._ask(MEMORY)
        memory = self._process.message().get("memory", "")
        if memory is None:
            return None
        if not isinstance(memory, str) or memory_kind(memory) is None:
            raise IsolationError("the brain's process did not tell the hash of its memory")
        return memory

    def descriptors(self) -> dict[str, float]:
        """What the brains say of their state, as their process tells it; no value that is no finite number."""
        self._ask(MEMORY)
        told = self._process.message().get("descriptors")
        rows = told.items() if isinstance(told, dict) else ()
        named = ((plain(name, _LONGEST_NAME), value) for name, value in rows)
        return {name: value for name, value in named if name and isinstance(value, float) and math.isfinite(value)}

    def complaint(self) -> str:
        """Why there is no answer, in the words of the process or of the system; empty where it answers."""
        if not self.shared.words[0, _OVER]:
            return ""
        if not self._process.wait(_LAST_WORDS):  # it says that it is over, and stays
            self._process.kill()
        return f"{STOPPED}: {self._why}" if self._why else self._process.last_words()

    def close(self) -> None:
        """Ends the process."""
        self._seat.leave()
        self._process.end()
