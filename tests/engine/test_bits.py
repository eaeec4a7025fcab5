"""A run's bits depend on task, brain, config and run seed alone."""

import json
import os
import re
import subprocess
import sys

import pytest

from nematodebench.brains.registry import brain_names, get_brain, is_compiled
from nematodebench.engine.config import SessionConfig
from nematodebench.engine.plan import make_plan
from nematodebench.engine.run import execute
from nematodebench.engine.session import run_plan
from nematodebench.kernels._target import code_generation

COMPILED = [name for name in brain_names() if is_compiled(get_brain(name))]
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
    assert all(len(record) == 64 and len(memory) == 64 for record, memory in alone[task, brain])


def test_processes_give_what_threads_give(alone):
    for brain in COMPILED:
        assert hashes(run_plan(plan(TASKS[0], brain, workers=2, executor="processes"))) == alone[TASKS[0], brain]


def child(brains, workers="2", **environment):
    command = [sys.executable, "-c", _CHILD, TASKS[0], ",".join(brains), workers]
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return {name: [tuple(pair) for pair in pairs] for name, pairs in json.loads(done.stdout).items()}


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
    again = child(COMPILED, NEMATODEBENCH_CACHE_DIR=str(tmp_path))
    assert again == {brain: alone[TASKS[0], brain][:2] for brain in COMPILED}
    assert any(tmp_path.rglob("*.nbc"))


def test_code_is_generated_for_a_fixed_cpu():
    assert code_generation() in {"x86-64-v3", "x86-64"}


def test_no_instruction_whose_result_the_architecture_leaves_open(alone):
    """Reciprocal approximations (what fastmath emits) differ between makers of CPUs."""
    assert alone
    found, looked = [], 0
    for brain in COMPILED:
        for function in ("init", "act", "learn"):
            dispatcher = getattr(get_brain(brain), function)
            for assembly in dispatcher.inspect_asm().values():
                looked += len(assembly)
                found += re.findall(r"\bv?(?:rcp|rsqrt)(?:ps|ss|14\w*)\b", assembly)
    assert looked > 10_000
    assert found == []
