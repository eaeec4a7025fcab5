"""Runs on a Ray cluster of two nodes equal local ones, also when a worker or a node is lost."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest
from ray_cluster import cluster, free_port, further, head
from told import Told, tables, told_tables
from typer.testing import CliRunner

from nematodebench.cli import build
from nematodebench.engine import parcels
from nematodebench.engine.executors import Watch, execute_all
from nematodebench.engine.run import execute
from nematodebench.engine.seeds import brain_seed, run_seed
from nematodebench.errors import UsageError
from nematodebench.records.provenance import software
from nematodebench.sessions.config import SessionConfig
from nematodebench.sessions.execution import Progress, run_plan
from nematodebench.sessions.plan import make_plan

ray = pytest.importorskip("ray")
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("ray")]

ROOT = Path(__file__).parents[2]
TASK, SEED = "foraging_small-v1", 17
KINDS = {
    "compiled": "mlp_ppo", "compiled file": f"{ROOT}/examples/sarsa_lambda.py:SarsaLambda",
    "python": "brains_for_tests:GlobalRandom", "batched": "batched_brains:Walk",
    "torch class": "torch_reinforce", "torch population": "torch_policies:Reinforce",
}  # fmt: skip


@pytest.fixture(scope="module")
def address():
    """A cluster of two nodes, with this process as its driver."""
    address = f"127.0.0.1:{free_port()}"
    with cluster([head(address), further(address)], address), pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_ADDRESS", address)
        patch.setenv("RAY_AUTH_MODE", "disabled")
        yield address
        ray.shutdown()


def plan(brain, executor, runs=4, episodes=3, **config):
    given = SessionConfig(task=TASK, brain=brain, config=config, runs=runs, episodes=episodes, seed=SEED)
    return make_plan(given, workers=1, executor=executor)


def session(brain, executor, runs=4, **config):
    return run_plan(plan(brain, executor, runs, **config))


def bits(runs):
    return sorted((run.index, run.seed, run.record_hash, run.memory_hash) for run in runs)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_brain_has_the_bits_it_has_alone(address, kind):
    local = plan(KINDS[kind], "threads")
    remote = session(KINDS[kind], "ray")
    assert remote.failed_runs == []
    assert bits(remote.runs) == bits(map(execute, local.specs()))


def test_a_session_on_the_cluster_equals_the_local_one(address):
    local, remote = session("mlp_ppo", "threads"), session("mlp_ppo", "ray")
    assert len(ray.nodes()) == 2
    assert remote.episodes.equals(local.episodes)
    assert remote.metrics == local.metrics


def test_callbacks_are_told_of_every_episode_on_the_cluster(address):
    told, progress = Told(), Progress(shown=True)
    remote = run_plan(plan("mlp_ppo", "ray"), progress=progress, callbacks=[told])
    assert told_tables(told, remote) == tables(remote)
    assert set(told.runs) == {run.index for run in remote.runs}
    assert progress.watch.steps() == remote.steps


def test_short_runs_share_tasks(address, monkeypatch):
    sent = []
    take = parcels.Parcels.take

    def counted(self, workers):
        sent.append(take(self, workers))
        return sent[-1]

    monkeypatch.setattr(parcels.Parcels, "take", counted)
    remote = session("null_random", "ray", runs=400)
    assert bits(remote.runs) == bits(session("null_random", "threads", runs=400).runs)
    assert len(sent) < 100


def test_a_lost_workers_run_is_executed_again(address, tmp_path):
    brain, mark = "brains_for_ray:KilledOnce", tmp_path / "killed"
    victim = brain_seed(run_seed(SEED, 21))
    remote = session(brain, "ray", runs=30, mark=str(mark), victim=victim)
    assert mark.exists()
    assert remote.failed_runs == []
    assert bits(remote.runs) == bits(session(brain, "threads", runs=30, mark=str(mark), victim=victim).runs)


def test_a_run_that_kills_every_worker_fails_alone(address):
    remote = session("brains_for_tests:DiesSometimes", "ray", runs=6)
    failed = [run for run in remote.runs if run.failure]
    assert [run.index for run in failed] == [run.index for run in remote.runs if brain_seed(run.seed) % 2]
    assert "lost on the cluster 4 times" in failed[0].failure.message


def test_a_lost_nodes_runs_are_executed_again(address, tmp_path):
    given = {"folder": str(tmp_path), "nodes": 3}
    here = plan("brains_for_ray:OnThreeNodes", "threads", runs=9, **given)
    with cluster([further(address)], address, nodes=3):
        results = execute_all(here.specs(), "ray", 1, Watch())
        done = [next(results)]
        assert len(list(tmp_path.iterdir())) == 3
    done += results
    assert [run.failure for run in done] == [None] * 9
    assert bits(done) == bits(map(execute, here.specs()))


def test_a_run_that_fails_on_the_cluster_is_a_failed_run(address):
    result = session("brains_for_tests:RaisesSometimes", "ray", runs=6)
    assert {brain_seed(run.seed) % 2 == 1 for run in result.runs if run.failure} == {True}
    assert "thirty is enough" in result.failed_runs[0].failure.traceback


def test_a_node_with_other_software_is_named(address, monkeypatch):
    monkeypatch.setattr("nematodebench.engine.ray._software_for", lambda brain: software() | {"numba": "0.1"})
    with pytest.raises(UsageError, match=r"A node of the cluster has another numba: [\d.]+ there, 0\.1 here"):
        session("null_random", "ray")


def test_a_brain_that_a_node_does_not_have_is_named(address, tmp_path, monkeypatch):
    (tmp_path / "only_here.py").write_text("from brains_for_tests import Fine\n\n\nclass Mine(Fine):\n    pass\n")
    here = plan(f"{tmp_path / 'only_here.py'}:Mine", "ray")
    (tmp_path / "only_here.py").unlink()
    monkeypatch.setattr("nematodebench.engine.ray._software_for", lambda brain: {})
    with pytest.raises(UsageError, match="A node of the cluster cannot import the brain: No module named 'only_here'"):
        run_plan(here)


def told(*words):
    done = CliRunner().invoke(build(), list(map(str, words)), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.fixture
def both(address):
    """What a command prints as JSON with threads and on the cluster."""
    return lambda *words: [json.loads(told(*words, "--executor", how, "--json")) for how in ("threads", "ray")]


def test_sweeps_give_the_same_table(address, tmp_path):
    tables = []
    for executor in ("threads", "ray"):
        words = ["--tasks", "association-v1", "--brains", "q_table,null_random", "--runs", 3, "--seed", 5]
        told("sweep", *words, "--output", tmp_path / executor, "--executor", executor)
        tables.append(pl.read_parquet(tmp_path / executor / "sweep.parquet"))
    assert tables[0].equals(tables[1])


def test_searches_find_the_same_champion(address, tmp_path):
    found = []
    for executor in ("threads", "ray"):
        words = ["q_table", "--task", "gridworld-v1", "--trials", 3, "--runs", 4, "--held-out", 4, "--episodes", 3]
        words += ["--output", tmp_path / executor, "--executor", executor, "--json"]
        result = json.loads(told("search", *words))
        found.append([result[key] for key in ("champion", "search", "champion_score", "default_score", "difference")])
    assert found[0] == found[1]


def test_continual_runs_are_the_same(both):
    words = ["q_table", "--order", "gridworld,association", "--episodes", "3", "--runs", "2", "--seed", "1"]
    here, there = both("continual", *words, "--test-episodes", "2", "--no-alone")
    assert here == there


def test_a_published_entry_is_verified_on_the_cluster(address, tmp_path):
    entry = sorted((ROOT / "benchmarks").glob("association*/classical/*.json"))[0]
    words = ["--runs", 4, "--work", tmp_path / "work", "--statement", tmp_path / "statement.json"]
    told("verify", entry, *words, "--executor", "ray")
    done = json.loads((tmp_path / "statement.json").read_text())["predicate"]["reexecution"]
    assert (done["executed"], done["identical"]) == (4, 4)


def test_a_cluster_of_tests_ends_with_the_tests(tmp_path):
    """Also if they are killed."""
    program = (
        "import sys, time; from ray_cluster import *; a = f'127.0.0.1:{free_port()}'\n"
        "with cluster([head(a)], a): print(a, flush=True); time.sleep(600)"
    )
    tests = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parent
    )
    address = tests.stdout.readline().strip()
    os.kill(tests.pid, signal.SIGKILL)
    tests.wait()
    assert _gone(address)


def _gone(address):
    host, port = address.split(":")
    for _ in range(120):
        with socket.socket() as probe:
            if probe.connect_ex((host, int(port))) != 0:
                return True
        time.sleep(0.5)
    return False


def test_an_address_that_nobody_answers_is_named(monkeypatch):
    monkeypatch.setenv("RAY_ADDRESS", f"127.0.0.1:{free_port()}")
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "init", _refuse)
    with pytest.raises(UsageError, match="No Ray cluster answers at 127"):
        session("null_random", "ray")


def _refuse(**options):
    raise ConnectionError("nobody is there")
