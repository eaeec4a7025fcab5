"""What a cluster costs and brings: the same runs in threads and on Ray nodes of this machine, one processor each.

What a run costs this process is processor time, so that it holds on a busy machine too; speeds are wall time.
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

from nematodebench.engine.executors import ExecutorName, Watch, execute_all
from nematodebench.engine.run import RunSpec, compile_for
from nematodebench.sessions.config import SessionConfig
from nematodebench.sessions.plan import make_plan

TASK = "foraging_small-v2"
LONG, SHORT = ("mlp_ppo", 16, 60), ("null_random", 3000, 1)
ROUNDS, MOST_MILLISECONDS = 3, 1.0


@contextmanager
def nodes(count: int) -> Iterator[None]:
    """A cluster of so many nodes with one processor each, whose workers are as important as this process."""
    os.environ |= {"RAY_worker_niceness": "0", "RAY_AUTH_MODE": "disabled", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}
    import ray
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    try:
        for _ in range(count - 1):
            cluster.add_node(num_cpus=1)
        cluster.wait_for_nodes()
        os.environ["RAY_ADDRESS"] = cluster.address
        yield
    finally:
        os.environ.pop("RAY_ADDRESS", None)
        ray.shutdown()
        cluster.shutdown()


def specs_of(brain: str, runs: int, episodes: int) -> list[RunSpec]:
    """The runs of a session."""
    plan = make_plan(SessionConfig(task=TASK, brain=brain, runs=runs, episodes=episodes, seed=1), workers=1)
    compile_for(plan.task, plan.brain)
    return plan.specs()


def measure(specs: list[RunSpec], executor: ExecutorName, workers: int) -> tuple[float, float, list[str]]:
    """Wall seconds, processor seconds of this process, and bits of all runs."""
    started, busy = time.perf_counter(), time.process_time()
    results = sorted(execute_all(specs, executor, workers, Watch()), key=lambda run: run.index)
    return time.perf_counter() - started, time.process_time() - busy, [run.record_hash for run in results]


def told(what: str, seconds: float, runs: int) -> None:
    """What a run costs this process, and the most it may cost."""
    each = seconds / runs * 1e3
    verdict = "" if each <= MOST_MILLISECONDS else "  MISSED"
    print(f"{what}: {each:.2f} ms of this process a run (wanted <= {MOST_MILLISECONDS:g}){verdict}", flush=True)


def compare(count: int) -> None:
    """Long runs on so many nodes against as many threads, and what it costs to send short ones there."""
    long, short = specs_of(*LONG), specs_of(*SHORT)
    here, there, busy = [], [], []
    with nodes(count):
        for specs in (long[: 2 * count], short[: 2 * count]):
            measure(specs, "ray", count)  # workers start and load what they need
        for _ in range(ROUNDS):
            seconds, _, bits = measure(long, "threads", count)
            away, _, same = measure(long, "ray", count)
            assert bits == same, "the cluster has other bits"
            here.append(seconds)
            there.append(away)
            busy.append(measure(short, "ray", count)[1])
    ratio = min(here) / min(there)
    print(f"Ray, {count} node(s): {ratio:.2f} x the speed of {count} thread(s) in {len(long)} runs of {LONG[0]}")
    told(f"Ray, {count} node(s), runs of one episode", min(busy), len(short))


def short_runs() -> None:
    """What a run costs that does nearly nothing: one episode of the null policy and its assay."""
    specs = specs_of(*SHORT)
    ways: list[tuple[ExecutorName, int, str]] = [
        ("threads", 1, "runs of one episode, everything included"), ("processes", 2, "processes, runs of one episode"),
    ]  # fmt: skip
    for executor, workers, what in ways:
        told(what, min(measure(specs, executor, workers)[1] for _ in range(ROUNDS)), len(specs))


def main() -> None:
    """All of it."""
    short_runs()
    for count in (1, 2):
        compare(count)
