"""Runs on a Ray cluster equal local ones, also when a worker is lost."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from nematodebench.engine.seeds import brain_seed, run_seed
from nematodebench.errors import UsageError
from nematodebench.sessions.config import SessionConfig
from nematodebench.sessions.execution import run_plan
from nematodebench.sessions.plan import make_plan

ray = pytest.importorskip("ray")
pytestmark = pytest.mark.slow

TASK, SEED = "foraging_small-v1", 17


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture(scope="module")
def cluster():
    """A cluster of this machine, started as a user would; only the processes started here are ended.

    A head node asks for a token if an earlier local cluster left one in this home, and a driver that is given an
    address never sends it by itself: so the head is told to ask for none.
    """
    address, folder = f"127.0.0.1:{free_port()}", tempfile.mkdtemp(prefix="ray")
    command = [
        Path(sys.executable).with_name("ray"), "start", "--head", "--num-cpus=2", "--include-dashboard=false",
        "--disable-usage-stats", "--block", f"--port={address.split(':')[1]}", f"--temp-dir={folder}",
    ]  # fmt: skip
    environment = {**os.environ, "RAY_AUTH_MODE": "disabled"}
    head = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_ADDRESS", address)
        try:
            _wait_for(address)
            yield
        finally:
            ray.shutdown()
            head.terminate()
            head.wait(timeout=60)
            shutil.rmtree(folder, ignore_errors=True)


def _wait_for(address):
    for _ in range(60):
        try:
            ray.init(address=address, log_to_driver=False, logging_level="ERROR")
        except ConnectionError:
            time.sleep(1)
        else:
            ray.shutdown()
            return
    raise AssertionError("the cluster did not start")


def session(brain, executor, runs=4, **config):
    given = SessionConfig(task=TASK, brain=brain, config=config, runs=runs, episodes=3, seed=SEED)
    return run_plan(make_plan(given, workers=1, executor=executor))


def bits(result):
    return [(run.seed, run.record_hash, run.memory_hash) for run in result.runs]


def test_a_session_on_the_cluster_equals_the_local_one(cluster):
    local = session("mlp_ppo", "threads", rollout=64)
    remote = session("mlp_ppo", "ray", rollout=64)
    assert ray.cluster_resources()["CPU"] == 2
    assert remote.failed_runs == []
    assert bits(remote) == bits(local)
    assert remote.episodes.equals(local.episodes)
    assert remote.metrics == local.metrics


def test_a_lost_workers_run_is_executed_again(cluster, tmp_path):
    brain, mark = "brains_for_ray:KilledOnce", tmp_path / "killed"
    victim = brain_seed(run_seed(SEED, 1))
    remote = session(brain, "ray", mark=str(mark), victim=victim)
    assert mark.exists()
    assert remote.failed_runs == []
    assert bits(remote) == bits(session(brain, "threads", mark=str(mark), victim=victim))


def test_a_run_that_fails_on_the_cluster_is_a_failed_run(cluster):
    result = session("brains_for_tests:RaisesSometimes", "ray", runs=6)
    assert {brain_seed(run.seed) % 2 == 1 for run in result.runs if run.failure} == {True}
    assert "thirty is enough" in result.failed_runs[0].failure.traceback


def test_an_address_that_nobody_answers_is_named(monkeypatch):
    monkeypatch.setenv("RAY_ADDRESS", f"127.0.0.1:{free_port()}")
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "init", _refuse)
    with pytest.raises(UsageError, match="No Ray cluster answers at 127"):
        session("null_random", "ray")


def _refuse(**options):
    raise ConnectionError("nobody is there")
