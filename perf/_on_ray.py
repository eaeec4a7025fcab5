"""What a cluster costs and brings: the same runs in threads and on Ray nodes of this machine, one processor each."""

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


def measure(specs: list[RunSpec], executor: ExecutorName, workers: int) -> tuple[float, list[str]]:
    """Wall seconds and bits of all runs."""
    started = time.perf_counter()
    results = sorted(execute_all(specs, executor, workers, Watch()), key=lambda run: run.index)
    return time.perf_counter() - started, [run.record_hash for run in results]


def compare(count: int) -> None:
    """Long runs on so many nodes against as many threads, and what the way to the nodes costs a short run."""
    long, short = specs_of(*LONG), specs_of(*SHORT)
    with nodes(count):
        for specs in (long[: 2 * count], short[: 2 * count]):
            measure(specs, "ray", count)  # workers start and load what they need
        best: dict[tuple[str, str], float] = {}
        for _ in range(ROUNDS):
            for name, specs in (("long", long), ("short", short)):
                (here, bits), (there, same) = measure(specs, "threads", count), measure(specs, "ray", count)
                assert bits == same, "the cluster has other bits"
                for way, seconds in (("threads", here), ("ray", there)):
                    best[name, way] = min(seconds, best.get((name, way), seconds))
    ratio = best["long", "threads"] / best["long", "ray"]
    added = (best["short", "ray"] * count - best["short", "threads"]) / len(short) * 1e3
    each = best["short", "ray"] / len(short) * 1e3
    verdict = "" if added <= MOST_MILLISECONDS else "  MISSED"
    print(
        f"Ray, {count} node(s) against {count} thread(s): {ratio:.2f} x the speed in {len(long)} runs of {LONG[0]}",
        end="",
    )
    print(f"; a run of {SHORT[0]} takes {each:.2f} ms, the way there costs at most {max(added, 0.0):.2f} ms", end="")
    print(f" (wanted <= {MOST_MILLISECONDS:g}){verdict}", flush=True)


def short_runs() -> None:
    """What a run costs that does nearly nothing: one episode of the null policy and its assay."""
    specs = specs_of(*SHORT)
    ways: list[tuple[ExecutorName, int]] = [("threads", 1), ("processes", 2)]
    for executor, workers in ways:
        measure(specs[:4], executor, workers)
        each = min(measure(specs, executor, workers)[0] for _ in range(ROUNDS)) / len(specs) * 1e3
        verdict = "" if each <= MOST_MILLISECONDS else "  MISSED"
        print(f"a run of one episode, {executor} ({workers}): {each:.2f} ms (wanted <= {MOST_MILLISECONDS:g}){verdict}")


def main() -> None:
    """All of it."""
    short_runs()
    for count in (1, 2):
        compare(count)
