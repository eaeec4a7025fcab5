"""A run's bits depend on task, brain, config and run seed alone."""

import json
import os
import re
import subprocess
import sys

import numba
import numpy as np
import pytest

from nematodebench.brains.registry import get_brain, is_compiled, list_brains
from nematodebench.engine.run import execute
from nematodebench.kernels.target import code_generation
from nematodebench.records.memory_hash import memory_kind
from nematodebench.sessions.config import SessionConfig
from nematodebench.sessions.execution import run_plan
from nematodebench.sessions.plan import make_plan

# The worm of plates fits no other body; its suite of conformance runs it there, alone and among others.
COMPILED = [name for name in list_brains() if is_compiled(get_brain(name)) and name != "plate_follower"]
EPISODES, RUNS, SEED = 6, 5, 11
TASKS = ("foraging_small-v1", "predator_small_klinotaxis-v1")

_CHILD = """
import json, sys
import nematodebench as nb
task, brains = sys.argv[1], sys.argv[2].split(",")
out = {}
for brain in brains:
    session = nb.run(task, brain, runs=2, episodes=6, seed=11, workers=int(sys.argv[3]))
    out[brain] = [(r.record_hash, r.memory_hash) for r in session.runs]
print(json.dumps(out))
"""

# With one core no other process helps to compile, so that the code is this process's own.
_ONE_CORE = """
import os
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
"""
_COLD_CHILD = """
import warnings
from nematodebench.brains.registry import get_brain
from nematodebench.tasks.registry import get_task
warnings.simplefilter("error")
world = get_task(task).phases[0].world
functions = {"world." + name: getattr(world, name) for name in ("reset", "step")}
for brain in brains:
    functions |= {f"{brain}.{name}": getattr(get_brain(brain), name) for name in ("init", "act", "learn")}
print(json.dumps({name: "".join(function.inspect_asm().values()) for name, function in functions.items()}))
"""
APPROXIMATION = re.compile(r"\bv?(?:rcp|rsqrt)(?:ps|ss|14\w*)\b")


def hashes(session):
    return [(run.record_hash, run.memory_hash) for run in session.runs]


def plan(task, brain, **more):
    given = SessionConfig(task=task, brain=brain, runs=RUNS, episodes=EPISODES, seed=SEED)
    return make_plan(given, **more)


@pytest.fixture(scope="module")
def alone():
    """Every run executed by itself, nothing else around."""
    results = {}
    for task in TASKS:
        for brain in COMPILED:
            runs = [execute(spec) for spec in plan(task, brain, workers=1).specs()]
            results[task, brain] = [(run.record_hash, run.memory_hash) for run in runs]
    return results


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("brain", COMPILED)
def test_alone_or_among_others_in_one_or_two_threads(alone, task, brain):
    assert hashes(run_plan(plan(task, brain, workers=1))) == alone[task, brain]
    assert hashes(run_plan(plan(task, brain, workers=2))) == alone[task, brain]
    assert all(len(record) == 64 and memory_kind(memory) is not None for record, memory in alone[task, brain])


@pytest.mark.slow
def test_processes_give_what_threads_give(alone):
    for brain in COMPILED:
        assert hashes(run_plan(plan(TASKS[0], brain, workers=2, executor="processes"))) == alone[TASKS[0], brain]


def child(brains, workers="2", **environment):
    return parsed(talk(_CHILD, brains, workers, **environment))


def parsed(line):
    return {name: [tuple(pair) for pair in pairs] for name, pairs in json.loads(line).items()}


def talk(program, brains, workers="2", **environment):
    command = [sys.executable, "-c", program, TASKS[0], ",".join(brains), workers]
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    "environment",
    [
        {"PYTHONHASHSEED": "0"},
        {"PYTHONHASHSEED": "1"},
        {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA"},
        {"NPY_DISABLE_CPU_FEATURES": "AVX2 FMA3"},
    ],
    ids=["hash0", "hash1", "glibc", "numpy"],
)
def test_fresh_process_whatever_its_environment(alone, environment):
    again = child(COMPILED, **environment)
    assert again == {brain: alone[TASKS[0], brain][:2] for brain in COMPILED}


@pytest.mark.slow
def test_cold_cache(alone, tmp_path):
    """Only code compiled here and now can be read, so its instructions are looked at here too.

    Reciprocal approximations (what fastmath emits) differ between makers of CPUs.
    """
    program = _ONE_CORE + _CHILD + _COLD_CHILD
    results, assembly = talk(program, COMPILED, NEMATODEBENCH_CACHE_DIR=str(tmp_path)).splitlines()
    assert parsed(results) == {brain: alone[TASKS[0], brain][:2] for brain in COMPILED}
    assert any(tmp_path.rglob("*.nbc"))
    for name, text in json.loads(assembly).items():
        assert "ret" in text, name
        assert not APPROXIMATION.search(text), name


def test_fastmath_would_be_seen():
    @numba.njit("void(float32[::1])", fastmath=True)
    def fast(values):
        for n in range(values.size):
            values[n] = np.float32(1) / np.sqrt(values[n])

    assert APPROXIMATION.search("".join(fast.inspect_asm().values()))


def test_code_is_generated_for_a_fixed_cpu():
    assert code_generation() in {"x86-64-v3", "x86-64"}
