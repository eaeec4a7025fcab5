"""Runs the benchmarks one after another, each in a process of its own so that none warms up another."""

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

_HOURS = {"peers"}  # only where they are named


def chosen(arguments: Sequence[str] | None = None) -> list[str]:
    """The benchmarks that were named, or all that take minutes; a wrong name ends it before anything is run."""
    known = {path.stem for path in Path(__file__).parent.glob("*.py") if not path.stem.startswith("_")}
    parser = argparse.ArgumentParser("python -m perf", description=f"benchmarks: {', '.join(sorted(known))}")
    parser.add_argument("names", nargs="*", help=f"all if none is named, without {', '.join(_HOURS)} (hours)")
    names: list[str] = parser.parse_args(arguments).names
    if wrong := [name for name in names if name not in known]:
        parser.error(f"There is no benchmark {wrong[0]!r} in perf/.")
    return names or sorted(known - _HOURS)


def main() -> int:
    """Runs them; returns the worst exit code."""
    worst = 0
    for name in chosen():
        print(f"== {name}", flush=True)
        worst = max(worst, subprocess.run([sys.executable, "-m", f"perf.{name}"], check=False).returncode)
    return worst


if __name__ == "__main__":
    sys.exit(main())
