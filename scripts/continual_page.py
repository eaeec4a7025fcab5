"""Takes brains through the continual environments and writes the tables of results in ``docs/continual.md``.

``python scripts/continual_page.py --measure spiking_rstdp q_table`` does 50 runs of each, as ``nematodebench continual
BRAIN --seed 1`` does, and keeps what came out in ``docs/continual.json``; a brain that is there already is done again.
``--write`` makes the tables from this file. ``--check`` fails where the page differs from it, and executes the first
run of every brain again and compares its hash.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nematodebench.continual.report import ContinualReport, summarise
from nematodebench.continual.runs import Settings, run_continual
from nematodebench.stats import with_interval
from nematodebench.tasks.continual import ORDER

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGE, DATA = DOCS / "continual.md", DOCS / "continual.json"
RUNS, SEED = 50, 1
BEGIN, END = "<!-- measured:begin -->", "<!-- measured:end -->"
_PROFILES = ("nenv-v2", "calibrated")


def _report(brain: str, runs: int, alone: bool, workers: int | None = None) -> ContinualReport:
    settings = Settings(runs=runs, seed=SEED, alone=alone, workers=workers)
    return summarise(run_continual(brain, None, settings))


def _cells(report: ContinualReport) -> dict[str, Any]:
    """What the tables show of a brain."""
    assert report.transfer is not None
    transfer = {
        "forgetting": report.transfer.forgetting,
        "backward transfer": report.transfer.backward,
        "forward transfer": report.transfer.forward,
    }
    scores = {}
    for profile in _PROFILES:
        found = report.profiles[profile]
        scores[f"{profile} primary"] = str(found.primary)
        scores[f"{profile} anchored"] = with_interval(
            found.anchored.unclamped, found.anchored.ci95, found.anchored.doubt
        )
    return {
        "scores": scores,
        "reward": {name: str(report.environments[name].reward) for name in ORDER},
        "success": {name: str(report.environments[name].success) for name in ORDER},
        "transfer": {name: str(value) for name, value in transfer.items()},
        "energy": report.has_energy_term,
        "first_record": report.executed[0].record_hash,
    }


def _kept() -> dict[str, dict[str, Any]]:
    return json.loads(DATA.read_text(encoding="utf-8")) if DATA.is_file() else {}


def measure(brain: str, workers: int | None) -> None:
    """Runs a brain and keeps what came out."""
    kept = {**_kept(), brain: _cells(_report(brain, RUNS, alone=True, workers=workers))}
    DATA.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


def _table(kept: dict[str, dict[str, Any]], part: str) -> Iterator[str]:
    columns = list(next(iter(kept.values()))[part])
    yield f"| brain | {' | '.join(columns)} |"
    yield "|---" * (len(columns) + 1) + "|"
    for brain, cells in kept.items():
        yield f"| {brain} | {' | '.join(cells[part][name] for name in columns)} |"


def page() -> str:
    """The page with the tables of all brains that were measured."""
    kept, text = _kept(), PAGE.read_text(encoding="utf-8")
    lines = [
        BEGIN,
        "",
        f"{RUNS} runs, session seed {SEED}, default parameters, mean ± half the 95 % interval over runs.",
    ]
    for part, title in {"scores": "", "reward": "Reward while learning:", "success": "Success while learning:"}.items():
        lines += ["", title, ""] if title else [""]
        lines += _table(kept, part)
    lines += ["", *_table(kept, "transfer"), ""]
    accounts = [brain for brain, cells in kept.items() if cells["energy"]]
    lines += [f"With an energy account, which the others lack: {', '.join(accounts) or 'none'}.", "", END]
    return text.partition(BEGIN)[0] + "\n".join(lines) + text.partition(END)[2]


def check() -> list[str]:
    """What is wrong: a page that is not current, or a brain whose first run comes out otherwise."""
    wrong = [] if page() == PAGE.read_text(encoding="utf-8") else ["docs/continual.md is not current: --write it"]
    for brain, cells in _kept().items():
        if _report(brain, 1, alone=False).executed[0].record_hash != cells["first_record"]:
            wrong.append(f"{brain}: the first run has other records")
    return wrong


def main() -> None:
    """Entry point."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--measure", nargs="+", metavar="BRAIN", help="run these brains")
    action.add_argument("--write", action="store_true", help="write the tables from what was measured")
    action.add_argument("--check", action="store_true", help="compare the tables, and the first run of every brain")
    parser.add_argument("--workers", type=int, default=None, help="runs at a time; all cores if it is not given")
    options = parser.parse_args()
    for brain in options.measure or []:
        measure(brain, options.workers)
    if options.check:
        wrong = check()
        print("\n".join(wrong) or "docs/continual.md agrees with runs executed now")
        sys.exit(bool(wrong))
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
