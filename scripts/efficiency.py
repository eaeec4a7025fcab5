"""Measures what the brains of the published entries cost, and keeps it in ``docs/brains/efficiency.json``.

The site shows it beside their scores. ``python scripts/efficiency.py`` measures the entries that are not in the file
yet, each with its own config; ``--again`` measures all. Brains from outside are left out: their code is not executed.
"""

import argparse
import json
from pathlib import Path

from nematodebench.board.collect import signed
from nematodebench.brains.registry import is_built_in
from nematodebench.files import atomic_write
from nematodebench.sessions.efficiency import measure_efficiency
from nematodebench.site.brain_page import EFFICIENCY

ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    """Entry point."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--again", action="store_true", help="measure all entries anew")
    place = ROOT / EFFICIENCY
    kept = {} if parser.parse_args().again or not place.is_file() else json.loads(place.read_bytes())
    for id_, listing in sorted(signed(ROOT).listings.items()):
        made = listing.submission
        if id_ in kept or not is_built_in(made.brain_type):
            continue
        found = measure_efficiency(made.environment.task, made.brain_type, made.brain_config)
        kept[id_] = {name: None if value is None else float(f"{value:.5g}") for name, value in found.as_dict().items()}
        atomic_write(place, (json.dumps(kept, indent=1, sort_keys=True) + "\n").encode())
        print(f"{made.brain_type} on {made.environment.task}: {kept[id_]}", flush=True)


if __name__ == "__main__":
    main()
