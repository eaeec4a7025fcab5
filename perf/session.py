"""What a user waits for: the lists, a cold and a warm start, the session of ``make run``, and the memory of 50 runs.

The yardstick is the engine's own rate in the same run: everything around the training (start, loading compiled code,
storing, scoring, printing) may cost at most half of it again.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time

SESSION = ["run", "foraging_small-v1", "mlp_ppo", "--runs", "50", "--seed", "2026"]
FIRST = ["run", "foraging_small-v1", "mlp_ppo", "--runs", "1", "--episodes", "20", "--seed", "1"]


COLD = ["run", "foraging_small-v2", "mlp_ppo", "null_random", "--runs", "50", "--seed", "2026"]
LISTS = (["--help"], ["tasks", "--json"], ["brains", "--json"], ["info", "--json"])


def command(*arguments: str, **environment: str) -> tuple[float, str]:
    """Wall seconds and output of a command in a fresh process."""
    started = time.perf_counter()
    line = [sys.executable, "-m", "nematodebench", *arguments]
    done = subprocess.run(line, capture_output=True, text=True, check=True, env={**os.environ, **environment})
    return time.perf_counter() - started, done.stdout


def starts() -> None:
    """What it takes to see a list, and to see the table of ``make run`` with nothing compiled."""
    for words in LISTS:
        command(*words)
        line(f"nematodebench {words[0]}, warm start", min(command(*words)[0] for _ in range(3)), "s", 0.5)
    with tempfile.TemporaryDirectory() as folder:
        line("table of `make run`, cold start", command(*COLD, NEMATODEBENCH_CACHE_DIR=folder)[0], "s", 20.0)


def line(what: str, value: float, unit: str, wanted: float) -> None:
    """One figure and the most it may be."""
    verdict = "" if value <= wanted else "  MISSED"
    print(f"{what:40s} {value:10.2f} {unit:3s} (wanted <= {wanted:g}){verdict}")


def main() -> None:
    """Measures and prints."""
    starts()
    command(*FIRST)
    line("first result, warm start", min(command(*FIRST)[0] for _ in range(3)), "s", 1.2)
    with tempfile.TemporaryDirectory() as folder:
        wall, output = command(*SESSION, "--track", "--output", folder, "--json")
    (record,) = json.loads(output)
    steps = sum(run["steps"] for run in record["runs"])
    rate = record["timing"]["steps_per_second"]
    print(f"{'session of 50 runs x 500 episodes':40s} {wall:10.2f} s   ({steps:,} steps, {rate:,.0f} steps/s)")
    line("session wall time / (steps / rate)", wall / (steps / rate), "x", 1.5)
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    line("memory of the session", memory, "MB", 500.0)


if __name__ == "__main__":
    main()
