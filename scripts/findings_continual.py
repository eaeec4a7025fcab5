"""Question 5 of ``docs/findings.md``: which continual learner forgets least.

``python scripts/findings_continual.py --measure`` takes every compiled learner through ``continual`` and keeps what
came out in ``docs/findings/runs/continual.json``; a brain that is there is not run again. Then the answer is
written.
"""

import argparse
import json
from pathlib import Path
from typing import Any

from results_page import BRAINS

from nematodebench.continual.report import summarise
from nematodebench.continual.runs import Settings, run_continual
from nematodebench.sessions.execution import Progress
from nematodebench.stats import with_interval
from nematodebench.tasks.continual import ORDER

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "findings"
RUNS, SEED = 50, 1
LEARNED = 0.2
"""Mean success, just after learning, from which on there is something to forget."""


def measure(brain: str, workers: int | None) -> dict[str, Any]:
    """What a brain learned, what of it was left at the end, and how its score stands to chance."""
    settings = Settings(order=ORDER, runs=RUNS, seed=SEED, workers=workers, alone=False)
    report = summarise(run_continual(brain, {}, settings, Progress()))
    transfer = report.transfer
    assert transfer is not None
    anchored, count = report.profiles["calibrated"].anchored, len(ORDER)
    return {
        "learned": sum(transfer.matrix[k][k].mean for k in range(count)) / count,
        "left": sum(transfer.matrix[-1][k].mean for k in range(count)) / count,
        "forgetting": [transfer.forgetting.mean, *transfer.forgetting.ci95],
        "anchored": with_interval(anchored.estimate, anchored.ci95),
        "by_task": {name: str(value) for name, value in transfer.forgetting_by_task.items()},
        "failed": report.failed,
    }


def _shown(value: list[float]) -> str:
    return with_interval(value[0], (value[1], value[2]))


def verdict(kept: dict[str, Any]) -> list[str]:
    """The answer in sentences."""
    able = {name: one for name, one in kept.items() if one["learned"] >= LEARNED}
    idle = [name for name in kept if name not in able]
    said = []
    if able:
        best = min(able, key=lambda name: able[name]["forgetting"][0])
        high = able[best]["forgetting"][2]
        equal = [name for name in able if name != best and able[name]["forgetting"][1] <= high]
        ties = f", not told apart from {', '.join(equal)}" if equal else ", and its interval lies below all others"
        said.append(
            f"Of the brains that learned something (mean success of at least {LEARNED:g} just after each environment), "
            f"`{best}` forgets least: {_shown(able[best]['forgetting'])}{ties}."
        )
        worst = max(able, key=lambda name: able[name]["forgetting"][0])
        said.append(f"`{worst}` forgets most: {_shown(able[worst]['forgetting'])}.")
    if idle:
        said.append(f"There was little to forget for {', '.join(f'`{name}`' for name in idle)}.")
    return said


def finding(kept: dict[str, Any]) -> dict[str, Any]:
    """The answer as ``findings_page.py`` takes it."""
    rows = [
        {
            "brain": name,
            "success just after learning": f"{one['learned']:.3f}",
            "success at the end": f"{one['left']:.3f}",
            "forgetting": _shown(one["forgetting"]),
            **{f"of {task}": lost for task, lost in one["by_task"].items()},
            "anchored score": one["anchored"],
        }
        for name, one in sorted(kept.items(), key=lambda pair: pair[1]["forgetting"][0])
    ]
    missing = [name for name in BRAINS if name not in kept]
    said = [*verdict(kept), f"{RUNS} runs, session seed {SEED}."]
    said += [f"Not measured yet: {', '.join(missing)}."] if missing else []
    return {"verdict": said, "commands": ["python scripts/findings_continual.py --measure"], "rows": rows}


def main() -> None:
    """Entry point."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--measure", action="store_true", help="run what is missing")
    parser.add_argument("--brains", default=",".join(BRAINS), help="only these, separated by commas")
    parser.add_argument("--workers", type=int, default=None, help="runs at a time; all cores if it is not given")
    options = parser.parse_args()
    path = FOLDER / "runs" / "continual.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    kept = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    for brain in options.brains.split(",") if options.measure else ():
        if brain not in kept:
            kept[brain] = measure(brain, options.workers)
            path.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
            print(f"{brain}: measured", flush=True)
    if kept:
        (FOLDER / "forgetting.json").write_text(json.dumps(finding(kept), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
