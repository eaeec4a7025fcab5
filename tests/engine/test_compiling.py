"""What a run needs is compiled by several processes, told, and kept so that no other process compiles it again."""

import ctypes
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from nematodebench.engine import compiling
from nematodebench.engine.compiling import interruptible
from nematodebench.kernels.jit import is_ready
from nematodebench.notices import listening, tell
from nematodebench.tasks.registry import get_task

_WALK = """
import numpy as np
from nematodebench.kit import F32, U64, BrainMemory, CompiledBrain, randint, size

class Memory(BrainMemory):
    choices = size()

@Memory.kernel
def act(brain: Memory, rng: U64, action: F32) -> None:
    action[0] = np.float32(randint(rng, brain.choices))

class OuterWalk(CompiledBrain):
    name, kind, memory, act = "outer_walk", "scripted", Memory, staticmethod(act)
"""
_CHILD = """
import json, sys
import nematodebench.engine.compiling as compiling
from nematodebench.brains.registry import get_brain
from nematodebench.engine.run import compile_for
from nematodebench.notices import listening
from nematodebench.tasks.registry import get_task
compiling.usable_cores = lambda: int(sys.argv[1])
task, brain, told = get_task("foraging_small-v1"), get_brain(sys.argv[2]), []
with listening(told.append):
    compile_for(task, brain)
    compile_for(task, brain)
functions = [phase.world.step for phase in task.phases] + [phase.world.reset for phase in task.phases] + [brain.act]
print(json.dumps([told, [sum(function.stats.cache_hits.values()) for function in functions]]))
"""


@pytest.fixture
def ctrl_c():
    """Ctrl-C ends what goes on, as it does in a terminal; who starts commands in the background may have it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_in_a_callback_of_the_compiler_is_not_lost():
    """A signal that comes while the compiler is at work is handled in its next call of Python, and lost there."""

    @ctypes.CFUNCTYPE(None)
    def callback():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), interruptible():
        callback()
        time.sleep(10)


def compiled(cache, cores, brain, cwd=None):
    """What was told while a fresh process compiled, and how often it found code on disk."""
    line = [sys.executable, "-c", _CHILD, str(cores), brain]
    environment = {**os.environ, "NEMATODEBENCH_CACHE_DIR": str(cache)}
    done = subprocess.run(line, capture_output=True, text=True, check=False, env=environment, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_cold_start_tells_what_it_compiles_and_a_warm_one_has_nothing_to_tell(tmp_path):
    (tmp_path / "outer_walk.py").write_text(_WALK)
    cold, _ = compiled(tmp_path / "cache", 2, "outer_walk.py:OuterWalk", tmp_path)
    total = len(cold)
    assert cold[0] == f"compiling outer_walk.act, 2 of {total}" or cold[0].endswith(f", 1 of {total}")
    assert {line.split()[1].rstrip(",") for line in cold} >= {"outer_walk.act", "foraging.reset", "foraging.step"}
    warm, hits = compiled(tmp_path / "cache", 2, "outer_walk.py:OuterWalk", tmp_path)
    assert warm == []
    assert hits == [1] * len(hits)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "outer_walk.py").write_text(_WALK)
    assert compiled(tmp_path / "cache", 1, "outer_walk.py:OuterWalk", elsewhere) == [[], hits]


class _Recorder:
    """A helper process that does what a test says."""

    def __init__(self, monkeypatch, code):
        monkeypatch.setattr(compiling, "help_to_compile", None)
        real = subprocess.Popen

        def start(command, **options):
            return real([sys.executable, "-c", code], **options)

        monkeypatch.setattr(compiling.subprocess, "Popen", start)


@pytest.mark.parametrize(
    "code", ["", "import sys; sys.stdin.buffer.read(8); print('ready', flush=True)", "raise SystemExit(3)"]
)
def test_a_helper_that_fails_costs_nothing_but_its_part(monkeypatch, code):
    done = []
    parts = [compiling.Part(f"part {n}", n, None) for n in range(4)]
    monkeypatch.setattr(compiling.Part, "compile", lambda part: done.append(part.function))
    monkeypatch.setattr(compiling, "_parts", lambda task, brain, population: parts)
    monkeypatch.setattr(compiling, "is_ready", lambda function, signature: False)
    monkeypatch.setattr(compiling, "usable_cores", lambda: 2)
    _Recorder(monkeypatch, code)
    compiling.fill_cache(get_task("foraging_small-v1"), object)
    assert len(done) >= 3  # what the helper had taken is compiled when it is needed


def test_what_is_ready_is_not_compiled_again():
    task = get_task("foraging_small-v1")
    compiling.compile_parts(task, compiling_brain())
    assert all(is_ready(part.function, part.signature) for part in compiling._parts(task, compiling_brain()))


def compiling_brain():
    from nematodebench.brains.registry import get_brain

    return get_brain("null_random")


def test_the_innermost_listener_hears_alone():
    outer, inner = [], []
    tell("nobody listens")
    with listening(outer.append):
        tell("one")
        with listening(inner.append):
            tell("two")
        tell("three")
    assert (outer, inner) == (["one", "three"], ["two"])


def test_a_brain_that_no_other_process_can_import_is_compiled_here():
    class Local:
        pass

    assert compiling._pickled(get_task("foraging_small-v1"), Local) == b""
    assert compiling._pickled(get_task("foraging_small-v1"), compiling_brain())
    assert Path(compiling.__file__).is_file()
