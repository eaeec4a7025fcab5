"""What isolation costs: steps a second of a foreign brain in the sandbox against the same brain in this process.

First sessions on all cores, isolated and in worker processes, all starts included: ever heavier brains of NumPy, which
show from which cost of a step on isolation is cheap, and the torch class of this package (some 60 us a step). Then
single runs of the same brains, and of a compiled one (examples/sarsa_lambda.py). Every run is as long as a run of the
task is. Rounds of both ways alternate, and the best of each counts; the process of a single run starts during the
round before, as it does in a verification. Where other programs take the cores, the time of the processor tells more
than the clock: it is printed for both sides, with the load of the machine.
"""

import contextlib
import importlib
import importlib.util
import os
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest.mock import patch

from nematodebench.engine.executors import ExecutorName, Watch, default_workers, execute_all
from nematodebench.engine.isolation.process import Foreign, Process
from nematodebench.engine.isolation.spares import announced
from nematodebench.engine.run import RunSpec, compile_for, execute
from nematodebench.tasks.registry import get_task

ROUNDS, BATCH, SESSION_ROUNDS = 5, 12, 2
GOAL = 0.8
"""The share of its speed in process that a brain should keep."""
TASK = get_task("foraging_small-v1")
WORK = (0, 10, 20, 40)
"""Products of a matrix that a heavier brain makes in every step; each takes about a microsecond."""
EXAMPLE = Path(__file__).parents[1] / "examples" / "sarsa_lambda.py"
TORCH = "nematodebench.brains.classical.torch_reinforce:TorchReinforce"
LINEAR = """
import numpy as np

class Linear:
    def __init__(self, observation_space, action_space, config, seed):
        self.generator = np.random.default_rng(seed)
        self.weights = np.zeros((action_space.n, observation_space.shape[0]))
        self.work = range(config.get("work", 0))

    def begin_episode(self):
        pass

    def act(self, observation):
        values = self.weights @ observation
        for _ in self.work:
            self.weights @ observation
        noise = self.generator.random(values.size)
        return int(np.argmax(values + 0.1 * noise))

    def learn(self, transition):
        row = self.weights[transition.action]
        row += 0.01 * (transition.reward - row @ transition.observation) * transition.observation

    def memory(self):
        return self.weights.tobytes()
"""


def load(path: Path, name: str) -> Any:
    """A class of a file."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return getattr(module, name)


def compare(
    what: str, where: str, cache: Path, settings: dict[str, Any], rounds: int = ROUNDS, batch: int = 0
) -> tuple[float, float]:
    """Prints both speeds of a single run and their ratio; returns the microseconds of a step in process, and the ratio.

    The bits have to be the same. With a batch, as many isolated runs on all cores follow.
    """
    place, _, name = where.rpartition(":")
    own = (Path(place),) if place.endswith(".py") else ()
    inside = load(own[0], name) if own else getattr(importlib.import_module(place), name)
    config = inside.config(**settings) if hasattr(inside, "config") else settings
    ways = {"in process": (inside, config), "isolated": (Foreign(where, own, cache=cache), settings)}
    for brain, _ in ways.values():
        compile_for(TASK, brain)
    best: dict[str, float] = {}
    least: dict[str, tuple[float, float]] = {}
    hashes = set()
    with announced(ways["isolated"][0], rounds), brains_watched() as spent:
        for _ in range(rounds):
            for way, (brain, given) in ways.items():
                started, used, before = time.perf_counter(), time.process_time(), len(spent)
                result = execute(RunSpec(TASK, name, brain, given, 7))
                seconds, used = time.perf_counter() - started, time.process_time() - used
                assert result.failure is None, result.failure
                best[way] = max(best.get(way, 0.0), result.steps / seconds)
                both = (used / result.steps * 1e6, sum(spent[before:]) / result.steps * 1e6)
                least[way] = min(least.get(way, both), both, key=sum)
                hashes.add((result.record_hash, result.memory_hash))
    assert len(hashes) == 1
    cost, ratio = 1e6 / best["in process"], best["isolated"] / best["in process"]
    print(
        f"one run, {what}: isolated {best['isolated']:,.0f} steps/s, in process {best['in process']:,.0f} "
        f"({cost:.1f} us a step): ratio {ratio:.2f}"
    )
    host, other = least["isolated"]
    print(
        f"one run, {what}: processor time of a step: isolated {host:.1f} us here (it looks for the answer) and "
        f"{other:.1f} us in the brain's process, start included; in process {least['in process'][0]:.1f} us",
        flush=True,
    )
    if batch:
        many = [RunSpec(TASK, name, *ways["isolated"], seed, seed) for seed in range(batch)]
        started = time.perf_counter()
        steps = sum(result.steps for result in execute_all(many, "threads", default_workers(), Watch()))
        speed = steps / (time.perf_counter() - started)
        print(f"{what}: {batch} isolated runs, {default_workers()} at a time: {speed:,.0f} steps/s")
    return cost, ratio


def session(what: str, inside: Any, outside: Foreign, settings: dict[str, Any], runs: int) -> tuple[float, float]:
    """Prints what isolation costs a session on all cores; returns the microseconds of a step in process, and the ratio.

    The cost of a step is that of the processor in worker processes; the ratio is that of the speeds.
    """
    cores = default_workers()
    compile_for(TASK, outside)
    ways: tuple[tuple[Any, ExecutorName], ...] = ((inside, "processes"), (outside, "threads"))
    speed, cost, bits = [0.0, 0.0], [float("inf")] * 2, set()
    for _ in range(SESSION_ROUNDS):
        for way, (brain, executor) in enumerate(ways):
            config = inside.config(**settings) if way == 0 and hasattr(inside, "config") else settings
            specs = [RunSpec(TASK, inside.__name__, brain, config, seed, seed) for seed in range(runs)]
            with brains_watched() as spent:
                started, used = time.perf_counter(), processor_seconds()
                results = list(execute_all(specs, executor, cores, Watch()))
                seconds, used = time.perf_counter() - started, processor_seconds() - used
            steps = sum(result.steps for result in results)
            speed[way] = max(speed[way], steps / seconds)
            cost[way] = min(cost[way], (used + sum(spent)) / steps * 1e6)
            bits.add(tuple(sorted((result.index, result.record_hash, result.memory_hash) for result in results)))
    assert len(bits) == 1
    print(
        f"session of {runs} runs on {cores} cores, {what}: isolated {speed[1]:,.0f} steps/s and {cost[1]:.1f} us of a "
        f"processor a step, in worker processes {speed[0]:,.0f} and {cost[0]:.1f} us: ratio {speed[1] / speed[0]:.2f}, "
        f"of the processor's time {cost[0] / cost[1]:.2f}",
        flush=True,
    )
    short = TASK.with_episodes(1)
    with brains_watched() as spent:
        execute(RunSpec(short, inside.__name__, outside, settings, 0))
    print(f"{what}: the start of a process for each run takes {spent[0]:.2f} s of a processor", flush=True)
    return cost[0], speed[1] / speed[0]


def threshold(what: str, points: list[tuple[float, float]]) -> None:
    """Prints from which cost of a step on a brain keeps the share that it should, between the points measured."""
    for (cheap, low), (dear, high) in pairwise(sorted(points)):
        if low < GOAL <= high:
            found = cheap + (dear - cheap) * (GOAL - low) / (high - low)
            print(f"{what}: {GOAL} of the speed from about {found:.0f} us a step on")
            return
    word = "every" if min(ratio for _, ratio in points) >= GOAL else "no"
    print(f"{what}: {word} NumPy brain that was measured keeps {GOAL} of its speed")


def processor_seconds() -> float:
    """What this process and those of its children that have ended have used of a processor."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in both)


@contextlib.contextmanager
def brains_watched() -> Iterator[list[float]]:
    """Collects the processor time of every brain's process when it is ended."""
    spent: list[float] = []
    end = Process.end

    def watched(process: Process) -> None:
        with contextlib.suppress(OSError):
            threads = Path(f"/proc/{process.number}/task").glob("*/schedstat")
            spent.append(sum(int(one.read_text().split()[0]) for one in threads) * 1e-9)
        end(process)

    with patch.object(Process, "end", watched):
        yield spent


def main() -> None:
    """Sessions, then single runs."""
    print("load of the machine at the beginning: {:.1f}, {:.1f}, {:.1f}".format(*os.getloadavg()))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "linear.py"
        path.write_text(LINEAR)
        sys.path.insert(0, folder)  # worker processes import the brain from there
        linear, where = importlib.import_module("linear").Linear, f"{path}:Linear"
        torch = getattr(importlib.import_module(TORCH.partition(":")[0]), TORCH.partition(":")[2])
        outside = Foreign(where, (path,))
        session("torch brain", torch, Foreign(TORCH), {}, 8)
        points = [session(f"NumPy brain with {n} products", linear, outside, {"work": n}, 8) for n in WORK]
        threshold("session", points)
        compare("torch brain", TORCH, Path(folder) / "cache0", {}, rounds=3)
        points = [compare(f"NumPy brain with {n} products", where, Path(folder, "cache1"), {"work": n}) for n in WORK]
        threshold("one run", points)
        compare("compiled brain", f"{EXAMPLE}:SarsaLambda", Path(folder) / "cache2", {}, batch=BATCH)
    print("load of the machine at the end: {:.1f}, {:.1f}, {:.1f}".format(*os.getloadavg()))


if __name__ == "__main__":
    main()
