"""Runs the benchmarks one after another, each in a process of its own so that none warms up another."""

import importlib.util
import subprocess
import sys
from pathlib import Path

_HOURS = {"peers"}  # only where they are named


def main() -> int:
    """Runs those named, or all that take minutes; returns the worst exit code."""
    here = Path(__file__).parent
    short = {path.stem for path in here.glob("*.py") if not path.stem.startswith("_")} - _HOURS
    names = sys.argv[1:] or sorted(short)
    worst = 0
    for name in names:
        if importlib.util.find_spec(f"perf.{name}") is None:
            print(f"There is no benchmark {name!r} in perf/.")
            return 2
        print(f"== {name}", flush=True)
        worst = max(worst, subprocess.run([sys.executable, "-m", f"perf.{name}"], check=False).returncode)
    return worst


if __name__ == "__main__":
    sys.exit(main())
