"""A compiled brain of the kit in a file of its own against the built-in one of the same algorithm, in one run.

The file is what ``nematodebench new brain NAME --compiled`` writes. It does what `mlp_reinforce` does, with the same
parameters: rounds of both alternate, the best of each counts, and the episodes have to be the same bit for bit. Times
are processor time of one thread, because others may be at work on the machine.
"""

import contextlib
import io
import tempfile
import time
from pathlib import Path

from nematodebench.brains.registry import BrainType, get_brain
from nematodebench.cli.new import write_new
from nematodebench.engine.run import RunSpec, compile_for, execute
from nematodebench.tasks.registry import get_task

ROUNDS, EPISODES, WANTED = 5, 300, 0.95


def main() -> None:
    """Prints both speeds and their ratio."""
    task = get_task("foraging_small-v2").with_episodes(EPISODES)
    with tempfile.TemporaryDirectory() as folder:
        with contextlib.redirect_stdout(io.StringIO()):
            write_new("brain", "kit_brain", "compiled_brain.py", Path(folder))
        ways: dict[str, BrainType] = {
            "built-in": get_brain("mlp_reinforce"), "kit": get_brain(f"{folder}/kit_brain.py:KitBrain"),
        }  # fmt: skip
        best: dict[str, float] = {}
        hashes = set()
        for brain in ways.values():
            compile_for(task, brain)
        for seed in range(ROUNDS):
            for way, brain in ways.items():
                started = time.thread_time()
                result = execute(RunSpec(task, way, brain, brain.config(), seed))
                assert result.failure is None, result.failure
                best[way] = max(best.get(way, 0.0), result.steps / (time.thread_time() - started))
                hashes.add((seed, result.record_hash))
    assert len(hashes) == ROUNDS, "the two do not do the same"
    ratio = best["kit"] / best["built-in"]
    verdict = "" if ratio >= WANTED else "  MISSED"
    print(f"kit brain {best['kit']:,.0f} steps/s, mlp_reinforce {best['built-in']:,.0f}: ratio {ratio:.2f}", end="")
    print(f" (wanted >= {WANTED:g}){verdict}")


if __name__ == "__main__":
    main()
