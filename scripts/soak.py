"""Kills commands at random moments, goes on with them, and counts results that differ from those of unbroken ones.

    python scripts/soak.py --kills 1000

A kill ends the process at a random file operation, without any cleaning up. Commands are those that write: a session,
several of them, a sweep, a continual run, an ablation.
"""

import argparse
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]


def main() -> int:
    """Prints how many kills there were and how many results differ; returns whether any does."""
    sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "sessions")]
    import test_crashes as cases  # type: ignore[import-not-found]
    from crashes import Crashes  # type: ignore[import-not-found]

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    rng, forks = random.Random(given.seed), Crashes(cases.WARM)
    differences, started = [], time.monotonic()
    with tempfile.TemporaryDirectory() as place:
        whole = {name: _whole(cases, forks, Path(place) / name, words) for name, words in cases.COMMANDS.items()}
        for kill in range(given.kills):
            name = rng.choice(list(whole))
            operations, wanted = whole[name]
            found = _killed(cases, forks, Path(place) / f"{kill}", name, (rng.randint(1, operations), wanted))
            if found:
                differences.append(f"{name}: {found}")
                print(f"kill {kill}, {differences[-1]}")
            if kill % 50 == 49:
                print(
                    f"{kill + 1} kills, {len(differences)} differences, {time.monotonic() - started:.0f} s", flush=True
                )
    forks.close()
    print(f"{given.kills} kills, {len(differences)} differences")
    return int(bool(differences))


def _whole(cases: Any, forks: Any, folder: Path, words: list[str]) -> tuple[int, Any]:
    done = forks.run(folder, words)
    if done.code:
        raise SystemExit(f"{' '.join(words)}: exit {done.code}: {done.errors}")
    return done.operations, cases._state(folder)


def _killed(cases: Any, forks: Any, folder: Path, name: str, at: tuple[int, Any]) -> str:
    words = cases.COMMANDS[name]
    forks.run(folder, words, at[0])
    return str(cases._repaired(forks, folder, words, at[1]))


if __name__ == "__main__":
    sys.exit(main())
