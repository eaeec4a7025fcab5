"""Keeps what comparisons found, and writes their tables into ``docs/findings.md``: nobody types a number.

The page has prose, and ``<!-- found: NAME -->`` with ``<!-- end -->`` behind it where a table belongs. Tables come from
the files ``docs/findings/NAME.json``, which these commands write from stored sessions and from measurements made now:

    python scripts/findings_page.py compare NAME FOLDER_A FOLDER_B   verdicts, as `nematodebench compare` gives them
    python scripts/findings_page.py scores NAME FOLDER...            scores of all sessions in these folders
    python scripts/findings_page.py costs NAME --tasks T... --brains B...  what brains cost (`brains B --task T`)
    python scripts/findings_page.py write                            renews all tables of the page
    python scripts/findings_page.py check                            exit code 1 if the page shows other numbers

Every file keeps the commands that made the sessions, with their seeds and numbers of runs, and the page shows them.
"""

import argparse
import json
import re
import shlex
import sys
import textwrap
from pathlib import Path
from typing import Any

from nematodebench.board.text import table
from nematodebench.brains.configs import dump_config, resolve_config
from nematodebench.brains.registry import get_brain
from nematodebench.cli.comparison import compare_sessions
from nematodebench.records.store import find_record, load_experiment
from nematodebench.sessions.efficiency import measure_efficiency

ROOT = Path(__file__).resolve().parents[1]
PAGE, KEPT = ROOT / "docs" / "findings.md", ROOT / "docs" / "findings"
_BLOCK = re.compile(r"(<!-- found: ([a-z0-9_]+) -->\n).*?(?=<!-- end -->)", re.S)
_COST = {
    "parameters": "parameters", "footprint": "memory, bytes", "effective_macs": "effective MACs",
    "effective_acs": "effective ACs", "dense": "dense operations", "activation_sparsity": "activation sparsity",
    "milliseconds": "ms for 1,000 steps",
}  # fmt: skip


def _sessions(folder: Path) -> list[Any]:
    """The stored sessions in a folder, or the one that it is."""
    folders = [folder] if find_record(folder) else sorted(path for path in folder.glob("*") if find_record(path))
    if not folders:
        sys.exit(f"findings_page: there is no stored session in {folder}")
    return [load_experiment(path) for path in folders]


def _command(record: Any) -> str:
    """The command that a session is the result of, without where it was stored."""
    usual = dump_config(resolve_config(record.brain, get_brain(record.brain), None))
    given = {key: value for key, value in record.brain_config.items() if usual.get(key) != value}
    sets = [word for key, value in given.items() for word in ("--set", f"{key}={value}")]
    words = [record.task, record.brain, "--runs", str(len(record.runs)), "--seed", str(record.session_seed), *sets]
    return "nematodebench run " + shlex.join(words)


def _keep(name: str, commands: list[str], rows: list[dict[str, Any]]) -> None:
    """Writes a file of results."""
    KEPT.mkdir(exist_ok=True)
    content = {"commands": list(dict.fromkeys(commands)), "rows": rows}
    (KEPT / f"{name}.json").write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def keep_comparison(name: str, first: Path, second: Path) -> None:
    """Compares two folders of sessions task by task."""
    rows = compare_sessions(first, second)
    told = {str(row["task"]) for row in rows}
    records = [record for folder in (first, second) for record in _sessions(folder) if record.task in told]
    _keep(name, [_command(record) for record in records], rows)


def keep_scores(name: str, folders: list[Path]) -> None:
    """Scores of sessions: a row a brain, a column a task."""
    records = [record for folder in folders for record in _sessions(folder)]
    tasks = list(dict.fromkeys(record.task for record in records))
    rows: dict[str, dict[str, Any]] = {}
    for record in records:
        row = rows.setdefault(record.brain, {"brain": record.brain, **dict.fromkeys(tasks, "-")})
        row[record.task] = str(record.metrics[record.score_key])
    _keep(name, [_command(record) for record in records], list(rows.values()))


def keep_costs(name: str, tasks: list[str], brains: list[str]) -> None:
    """What brains cost on tasks, measured now, one run each."""
    rows = []
    for task in tasks:
        for brain in brains:
            cost = measure_efficiency(task, brain).as_dict()
            rows.append({"task": task, "brain": brain, **{told: _short(cost[key]) for key, told in _COST.items()}})
    _keep(name, [f"nematodebench brains {brain} --task {task}" for task in tasks for brain in brains], rows)


def _short(value: float | None) -> str:
    return "-" if value is None else f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.3g}"


def _shown(name: str) -> str:
    """The verdict of a file (sentences that its script computes), its table and its commands, if there is a file."""
    path = KEPT / f"{name}.json"
    if not path.is_file():
        return "\nNot measured yet.\n\n"
    kept = json.loads(path.read_text(encoding="utf-8"))
    head = list(kept["rows"][0])
    lines = table(head, [[str(row[key]) for key in head] for row in kept["rows"]])
    said = [_filled(f"- {sentence}") for sentence in kept.get("verdict", [])]
    return "\n" + "\n".join([*said, *([""] if said else []), *lines, "", *_commands(kept), ""]) + "\n"


def _commands(kept: dict[str, Any]) -> list[str]:
    """The commands of the runs, which no test executes: they take minutes to hours."""
    return [
        "<!-- recorded: minutes to hours of runs -->",
        "```console",
        *(f"$ {line}" for line in kept["commands"]),
        "```",
    ]


def _filled(text: str) -> str:
    return textwrap.fill(text, 120, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def written(text: str) -> str:
    """The page with all tables as the files are."""
    return _BLOCK.sub(lambda match: match[1] + _shown(match[2]), text)


def main() -> None:
    """Entry point."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_subparsers(dest="what", required=True)
    compare, scores, costs = what.add_parser("compare"), what.add_parser("scores"), what.add_parser("costs")
    for one in (compare, scores, costs):
        one.add_argument("name")
    compare.add_argument("first", type=Path)
    compare.add_argument("second", type=Path)
    scores.add_argument("folders", type=Path, nargs="+")
    costs.add_argument("--tasks", nargs="+", required=True)
    costs.add_argument("--brains", nargs="+", required=True)
    what.add_parser("write")
    what.add_parser("check")
    options = parser.parse_args()
    page = PAGE.read_text(encoding="utf-8")
    if options.what == "compare":
        keep_comparison(options.name, options.first, options.second)
    elif options.what == "scores":
        keep_scores(options.name, options.folders)
    elif options.what == "costs":
        keep_costs(options.name, options.tasks, options.brains)
    elif options.what == "write":
        PAGE.write_text(written(page), encoding="utf-8")
    elif written(page) != page:
        sys.exit("findings_page: the page shows other numbers than docs/findings/: run scripts/findings_page.py write")


if __name__ == "__main__":
    main()
