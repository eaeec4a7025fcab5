"""What isolation costs: steps a second of a foreign brain in the sandbox against the same brain in this process.

First the same batch of ever heavier brains on all cores, isolated and in worker processes, all starts included: it
shows from which cost of a step on isolation is cheap. Then three brains in single runs: the torch class of this package
(some 60 us a step), a light one of NumPy (a linear policy that learns every step), for which the exchange is as much
work as its own, and a compiled one (examples/sarsa_lambda.py). Rounds of both ways alternate, and the best of each
counts; the process of a round starts during the round before, as it does in a verification. A batch of each on all
cores follows. Where other programs take the cores, the time of the processor tells more than the clock: it is printed
for both sides.
"""

import contextlib
import importlib
import importlib.util
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

from nematodebench.engine.executors import ExecutorName, Watch, default_workers, execute_all
from nematodebench.engine.isolation.process import Foreign, Process
from nematodebench.engine.isolation.spares import announced
from nematodebench.engine.run import RunSpec, compile_for, execute
from nematodebench.tasks.registry import get_task

ROUNDS, BATCH = 5, 12
WORK = (0, 10, 30, 100)
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


def compare(what: str, where: str, episodes: int, cache: Path, rounds: int = ROUNDS, batch: int = BATCH) -> None:
    """Prints both speeds and their ratio; the bits have to be the same."""
    task = get_task("foraging_small-v1").with_episodes(episodes)
    place, _, name = where.rpartition(":")
    own = (Path(place),) if place.endswith(".py") else ()
    inside = load(own[0], name) if own else getattr(importlib.import_module(place), name)
    config = inside.config() if hasattr(inside, "config") else {}
    ways = {"in process": (inside, config), "isolated": (Foreign(where, own, cache=cache), {})}
    for brain, _ in ways.values():
        compile_for(task, brain)
    best: dict[str, float] = {}
    least: dict[str, tuple[float, float]] = {}
    hashes = set()
    with announced(ways["isolated"][0], rounds), brains_watched() as spent:
        for _ in range(rounds):
            for way, (brain, settings) in ways.items():
                started, used, before = time.perf_counter(), time.process_time(), len(spent)
                result = execute(RunSpec(task, name, brain, settings, 7))
                seconds, used = time.perf_counter() - started, time.process_time() - used
                assert result.failure is None, result.failure
                best[way] = max(best.get(way, 0.0), result.steps / seconds)
                both = (used / result.steps * 1e6, sum(spent[before:]) / result.steps * 1e6)
                least[way] = min(least.get(way, both), both, key=sum)
                hashes.add((result.record_hash, result.memory_hash))
    assert len(hashes) == 1
    ratio = best["isolated"] / best["in process"]
    print(f"{what}: isolated {best['isolated']:,.0f} steps/s, in process {best['in process']:,.0f}: ratio {ratio:.2f}")
    host, other = least["isolated"]
    print(
        f"{what}: processor time of a step: isolated {host:.1f} us here and {other:.1f} us in the brain's process, "
        f"start included; in process {least['in process'][0]:.1f} us"
    )
    many = [RunSpec(task, name, *ways["isolated"], seed, seed) for seed in range(batch)]
    started = time.perf_counter()
    steps = sum(result.steps for result in execute_all(many, "threads", default_workers(), Watch()))
    speed = steps / (time.perf_counter() - started)
    print(f"{what}: {batch} isolated runs, {default_workers()} at a time: {speed:,.0f} steps/s")


def heavier(folder: Path) -> None:
    """Prints what isolation costs a batch on all cores, for brains that do more and more in a step."""
    sys.path.insert(0, str(folder))  # worker processes import the brain from there
    task = get_task("foraging_small-v1").with_episodes(200)
    inside = importlib.import_module("linear").Linear
    outside, cores = Foreign(f"{folder}/linear.py:Linear", (folder / "linear.py",)), default_workers()
    compile_for(task, outside)
    ways: tuple[tuple[Any, ExecutorName], ...] = ((inside, "processes"), (outside, "threads"))
    for work in WORK:
        speed, cost, bits = [], [], set()
        for brain, executor in ways:
            specs = [RunSpec(task, "Linear", brain, {"work": work}, seed, seed) for seed in range(8)]
            with brains_watched() as spent:
                started, used = time.perf_counter(), processor_seconds()
                results = list(execute_all(specs, executor, cores, Watch()))
                seconds, used = time.perf_counter() - started, processor_seconds() - used
            steps = sum(result.steps for result in results)
            speed.append(steps / seconds)
            cost.append((used + sum(spent)) / steps * 1e6)
            bits.add(tuple(sorted((result.index, result.record_hash, result.memory_hash) for result in results)))
        assert len(bits) == 1
        print(
            f"{len(specs)} runs on {cores} cores: isolated {speed[1]:,.0f} steps/s and {cost[1]:.1f} us of a processor "
            f"a step, in worker processes {speed[0]:,.0f} and {cost[0]:.1f} us: ratio {speed[1] / speed[0]:.2f}, of "
            f"the processor's time {cost[0] / cost[1]:.2f}"
        )


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
            threads = Path(f"/proc/{process.number()}/task").glob("*/schedstat")
            spent.append(sum(int(one.read_text().split()[0]) for one in threads) * 1e-9)
        end(process)

    with patch.object(Process, "end", watched):
        yield spent


def main() -> None:
    """All three."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "linear.py"
        path.write_text(LINEAR)
        heavier(Path(folder))
        compare("torch brain", TORCH, 500, Path(folder) / "cache0", rounds=3, batch=4)
        compare("NumPy brain", f"{path}:Linear", 300, Path(folder) / "cache1")
        compare("compiled brain", f"{EXAMPLE}:SarsaLambda", 500, Path(folder) / "cache2")


if __name__ == "__main__":
    main()
