"""Kills commands at random moments, goes on with them, and counts results that differ from those of unbroken ones.

    python scripts/soak.py --kills 1000

A kill ends the process at a random file operation, without any cleaning up. Commands are those that write: sessions,
several of them, sweeps, continual runs, ablations, searches, scores of policies, submissions, verifications, keys, new
files, the board and its site, anchors, figures, reports, trajectories and films. With ``--errors`` the disk is full,
broken or closed at that operation instead.
"""

import argparse
import errno
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
ERRORS = (errno.ENOSPC, errno.EIO, errno.EACCES)


def main() -> int:
    """Prints how many kills there were and how many results differ; returns whether any does."""
    sys.path.insert(0, str(ROOT / "tests"))
    import crash_cases as cases  # type: ignore[import-not-found]
    from crashes import Crashes  # type: ignore[import-not-found]

    given = _arguments()
    rng, forks = random.Random(given.seed), Crashes(cases.WARM)
    differences, kills, started = [], Counter[str](), time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder, known = Path(name), dict[str, Any]()
        for kill in range(given.kills):
            what = rng.choice(given.only or list(cases.CASES))
            if what not in known:
                place = cases.Place(forks, folder / what / "furnished", cases.CASES[what])
                known[what] = place, *place.whole(folder / what / "whole")
            kills[what] += 1
            found = _killed(known[what], folder / "killed" / str(kill), rng, given.errors)
            if found:
                differences.append(f"{what}: {found}")
                print(f"kill {kill}, {differences[-1]}", flush=True)
            if kill % 50 == 49:
                seconds = time.monotonic() - started
                print(f"{kill + 1} kills, {len(differences)} differences, {seconds:.0f} s", flush=True)
    forks.close()
    print(", ".join(f"{what} {count}" for what, count in sorted(kills.items())))
    print(f"{given.kills} kills, {len(differences)} differences")
    return int(bool(differences))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--errors", action="store_true", help="errors of the disk instead of kills")
    parser.add_argument("--only", nargs="+", help="names of commands")
    return parser.parse_args()


def _killed(known: tuple[Any, int, Any], folder: Path, rng: random.Random, errors: bool) -> str:
    """What is wrong after a command was killed and the user has gone on; the folder is removed where nothing is."""
    place, operations, wanted = known
    at, error = rng.randint(1, operations), rng.choice(ERRORS) if errors else 0
    place.run(place.copied(folder), at=at, error=error)
    found = str(place.repaired(folder, wanted))
    if not found:
        shutil.rmtree(folder)
    return f"operation {at} of {operations}: {found}" if found else ""


if __name__ == "__main__":
    sys.exit(main())
