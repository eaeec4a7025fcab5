"""What isolation costs: steps a second of a foreign brain in the sandbox against the same brain in this process.

Three brains: the torch class of this package (some 200 us a step), a light one
of NumPy (a linear policy that learns every step), for which the exchange is as much work as its own, and a compiled one
(examples/sarsa_lambda.py). A run in the sandbox includes the start of its process. Rounds of both ways alternate, and
the best of each counts; then comes a batch of runs on all cores, as a verification executes them.
"""

import importlib
import importlib.util
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from nematodebench.engine.executors import Watch, default_workers, execute_all
from nematodebench.engine.isolation.host import Foreign
from nematodebench.engine.run import RunSpec, compile_for, execute
from nematodebench.tasks.registry import get_task

ROUNDS, BATCH = 3, 12
EXAMPLE = Path(__file__).parents[1] / "examples" / "sarsa_lambda.py"
TORCH = "nematodebench.brains.classical.torch_reinforce:TorchReinforce"
LINEAR = """
import numpy as np

class Linear:
    def __init__(self, observation_space, action_space, config, seed):
        self.generator = np.random.default_rng(seed)
        self.weights = np.zeros((action_space.n, observation_space.shape[0]))

    def begin_episode(self):
        pass

    def act(self, observation):
        values = self.weights @ observation
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
    best: dict[str, float] = {}
    hashes = set()
    for brain, _ in ways.values():
        compile_for(task, brain)
    for _ in range(rounds):
        for way, (brain, settings) in ways.items():
            started = time.perf_counter()
            result = execute(RunSpec(task, name, brain, settings, 7))
            assert result.failure is None, result.failure
            best[way] = max(best.get(way, 0.0), result.steps / (time.perf_counter() - started))
            hashes.add((result.record_hash, result.memory_hash))
    assert len(hashes) == 1
    ratio = best["isolated"] / best["in process"]
    print(f"{what}: isolated {best['isolated']:,.0f} steps/s, in process {best['in process']:,.0f}: ratio {ratio:.2f}")
    many = [RunSpec(task, name, *ways["isolated"], seed, seed) for seed in range(batch)]
    started = time.perf_counter()
    steps = sum(result.steps for result in execute_all(many, "threads", default_workers(), Watch()))
    speed = steps / (time.perf_counter() - started)
    print(f"{what}: {batch} isolated runs, {default_workers()} at a time: {speed:,.0f} steps/s")


def main() -> None:
    """All three."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "linear.py"
        path.write_text(LINEAR)
        compare("torch brain", TORCH, 500, Path(folder) / "cache0", rounds=1, batch=2)
        compare("NumPy brain", f"{path}:Linear", 300, Path(folder) / "cache1")
        compare("compiled brain", f"{EXAMPLE}:SarsaLambda", 500, Path(folder) / "cache2")


if __name__ == "__main__":
    main()
