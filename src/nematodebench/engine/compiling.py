"""Compiles what a run needs, or loads it: in several processes at once, because Numba compiles one function at a time.

What another process compiles comes back through the cache on disk. Whatever goes wrong there costs only its time: this
process then compiles the function itself.
"""

import contextlib
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from nematodebench.brains.base import nothing
from nematodebench.brains.registry import BrainType, is_compiled
from nematodebench.engine import loop
from nematodebench.engine.isolation.confine import die_with_parent
from nematodebench.engine.isolation.host import Foreign
from nematodebench.engine.isolation.mailbox import stubs
from nematodebench.engine.lanes import LANE_FUNCTIONS, compile_lanes
from nematodebench.engine.population_kernels import POPULATION_FUNCTIONS
from nematodebench.kernels.abi import BRAIN, WORLD
from nematodebench.kernels.jit import first_class, is_ready
from nematodebench.kernels.processor import usable_cores
from nematodebench.notices import tell
from nematodebench.tasks.base import Task

__all__ = ["compile_parts", "fill_cache", "help_to_compile", "interruptible"]

_MOST_HELPERS = 4
_SOON = 0.05
"""Seconds after which a lost Ctrl-C is said again."""


@dataclass(frozen=True)
class Part:
    """A function that has to be compiled, under the name that users know it by."""

    name: str
    function: Any
    signature: Any

    def compile(self) -> None:
        """Compiles it, or loads it."""
        first_class(self.function, self.signature)


def _parts(task: Task, brain: BrainType | None, population: bool = False) -> list[Part]:
    """Everything that is compiled for a task and a compiled brain, what takes longest first.

    The brain is None for one in Python; ``population`` says that it is a network which the platform trains.
    """
    found = []
    if brain is not None:
        for kind in ("learn", "init", "act", "begin_episode"):
            found.append(Part(f"{getattr(brain, 'name', brain.__name__)}.{kind}", getattr(brain, kind), BRAIN))
    for phase in task.phases:
        for kind in ("reset", "step"):
            found.append(Part(f"{phase.world.name}.{kind}", getattr(phase.world, kind), WORLD))
    found.append(Part("the run loop", loop.run_phase, loop.SIGNATURE))
    found.append(Part("the empty function", nothing, BRAIN))
    if brain is None:
        found += [Part(f"the lanes' {kind}", *one) for kind, one in LANE_FUNCTIONS.items()]
    if population:
        found += [Part(f"the population's {kind}", *one) for kind, one in POPULATION_FUNCTIONS.items()]
    return list({id(part.function): part for part in found}.values())


def fill_cache(task: Task, brain: BrainType | Foreign) -> None:
    """Compiles what is not in the cache yet, here and in other processes; what is there is not loaded."""
    known = brain if not isinstance(brain, Foreign) and is_compiled(brain) else None
    population = getattr(brain, "population", False) is True
    parts = _parts(task, known, population)
    missing = [number for number, part in enumerate(parts) if not is_ready(part.function, part.signature)]
    waiting = _Waiting(parts, missing)
    with contextlib.ExitStack() as stack:
        stack.enter_context(interruptible())
        for what in [_pickled(task, known, population)] * _helpers(len(missing)):
            stack.enter_context(_helper(waiting, what))
        for number in waiting:
            parts[number].compile()


def compile_parts(task: Task, brain: BrainType | Foreign) -> None:
    """Compiles or loads the functions of a task's worlds, of a brain, and the loops they run in."""
    fill_cache(task, brain)
    for phase in task.phases:
        first_class(phase.world.reset, WORLD)
        first_class(phase.world.step, WORLD)
        _ = phase.world.packed  # its tables are compiled too
    loop.compiled_run_phase()
    if isinstance(brain, Foreign):
        stubs()
    elif is_compiled(brain):
        for function in (brain.init, brain.begin_episode, brain.act, brain.learn, nothing):
            first_class(function, BRAIN)
    else:
        compile_lanes()


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Says Ctrl-C again where it is lost: what is raised while the compiler calls back into Python goes nowhere."""
    before = sys.unraisablehook

    def hook(lost: Any) -> None:
        if not issubclass(lost.exc_type, KeyboardInterrupt):
            before(lost)
            return
        again = threading.Timer(_SOON, signal.pthread_kill, (threading.main_thread().ident, signal.SIGINT))
        again.daemon = True
        again.start()

    sys.unraisablehook = hook
    try:
        yield
    finally:
        sys.unraisablehook = before


class _Waiting:
    """The parts that nobody has taken yet; those who compile take one after the other."""

    def __init__(self, parts: list[Part], numbers: list[int]) -> None:
        self._parts, self._numbers, self._lock = parts, iter(enumerate(numbers, start=1)), threading.Lock()
        self._total = len(numbers)

    def __iter__(self) -> Iterator[int]:
        while True:
            with self._lock:
                place, number = next(self._numbers, (0, -1))
                if number < 0:
                    return
                tell(f"compiling {self._parts[number].name}, {place} of {self._total}")
            yield number


def _helpers(missing: int) -> int:
    """How many other processes help."""
    return max(0, min(usable_cores(), missing, _MOST_HELPERS) - 1)


def _pickled(task: Task, brain: BrainType | None, population: bool = False) -> bytes:
    """What a helper has to know; empty where another process cannot import it."""
    if "__main__" in {getattr(brain, "__module__", ""), *(type(phase.world).__module__ for phase in task.phases)}:
        return b""
    try:
        return pickle.dumps((task, brain, population))
    except (pickle.PicklingError, AttributeError, TypeError):  # a class inside a function
        return b""


@contextlib.contextmanager
def _helper(waiting: _Waiting, what: bytes) -> Iterator[None]:
    """A process that compiles parts until none waits, while the block runs."""
    if not what:
        yield
        return
    # -P: the working folder is searched only if it is one of the places that this process searches.
    command = [sys.executable, "-P", "-c", f"from {__name__} import help_to_compile; help_to_compile()"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(place for place in sys.path if place)}
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
    )
    thread = threading.Thread(target=_feed, args=(process, waiting, what), daemon=True)
    thread.start()
    try:
        yield
        thread.join()
    finally:
        process.kill()
        process.wait()


def _feed(process: "subprocess.Popen[bytes]", waiting: _Waiting, what: bytes) -> None:
    """Gives a helper one part after the other; a helper that is gone gets no more."""
    assert process.stdin is not None
    assert process.stdout is not None
    with contextlib.suppress(OSError):
        process.stdin.write(len(what).to_bytes(8, "little") + what)
        process.stdin.flush()
        if not process.stdout.readline():  # it starts while others compile, and takes nothing before it can work
            return
        for number in waiting:
            process.stdin.write(number.to_bytes(8, "little"))
            process.stdin.flush()
            if not process.stdout.readline():
                return


def help_to_compile() -> None:
    """What a helper does: it is told the task and the brain, and then the numbers of parts, until nobody is there."""
    if sys.platform.startswith("linux"):  # a part takes seconds, and nobody waits for it any more
        die_with_parent()
    given, told = sys.stdin.buffer, os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)  # whatever a brain's module prints is not an answer
    parts = _parts(*pickle.loads(given.read(int.from_bytes(given.read(8), "little"))))
    told.write(b"ready\n")
    while number := given.read(8):
        parts[int.from_bytes(number, "little")].compile()
        told.write(b"done\n")
