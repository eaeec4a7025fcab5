"""What a user waits for: the session of ``make run``, the first result of a warm start, and the memory of 50 runs.

The yardstick is the engine's own rate in the same run: everything around the training (start, loading compiled code,
storing, scoring, printing) may cost at most half of it again.
"""

import json
import resource
import subprocess
import sys
import tempfile
import time

SESSION = ["run", "foraging_small-v1", "mlp_ppo", "--runs", "50", "--seed", "2026"]
FIRST = ["run", "foraging_small-v1", "mlp_ppo", "--runs", "1", "--episodes", "20", "--seed", "1"]


def command(*arguments: str) -> tuple[float, str]:
    """Wall seconds and output of a command in a fresh process."""
    started = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "nematodebench", *arguments, "--json"], capture_output=True, text=True, check=True
    )
    return time.perf_counter() - started, done.stdout


def line(what: str, value: float, unit: str, wanted: float) -> None:
    """One figure and the most it may be."""
    verdict = "" if value <= wanted else "  MISSED"
    print(f"{what:40s} {value:10.2f} {unit:3s} (wanted <= {wanted:g}){verdict}")


def main() -> None:
    """Measures and prints."""
    command(*FIRST)
    line("first result, warm start", min(command(*FIRST)[0] for _ in range(3)), "s", 2.0)
    with tempfile.TemporaryDirectory() as folder:
        wall, output = command(*SESSION, "--track", "--output", folder)
    (record,) = json.loads(output)
    steps = sum(run["steps"] for run in record["runs"])
    rate = record["timing"]["steps_per_second"]
    print(f"{'session of 50 runs x 500 episodes':40s} {wall:10.2f} s   ({steps:,} steps, {rate:,.0f} steps/s)")
    line("session wall time / (steps / rate)", wall / (steps / rate), "x", 1.5)
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    line("memory of the session", memory, "MB", 500.0)


if __name__ == "__main__":
    main()
