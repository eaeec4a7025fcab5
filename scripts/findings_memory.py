"""Question 2 of ``docs/findings.md``: does memory help?

``python scripts/findings_memory.py`` writes the answer from ``docs/results/<task>.json``, where
``scripts/results_page.py --measure TASK`` keeps what every learner and its twin with learning off reached.
"""

import json
from pathlib import Path
from typing import Any

from results_page import BRAINS, DATA, RUNS, SEED

from nematodebench.brains.registry import get_brain
from nematodebench.tasks.anchoring import load_anchors
from nematodebench.tasks.ranked import blind_line
from nematodebench.tasks.registry import get_task

FINDING = Path(__file__).resolve().parents[1] / "docs" / "findings" / "memory.json"
ROOMS = ("recurrent", "reservoir", "spiking", "connectome")
"""Rooms of brains whose activity goes on from step to step."""
ALSO = ("quantum_reservoir", "active_inference")
"""Brains in other rooms that remember: by the state of a circuit, by what they believe."""
BITS = tuple(f"bit_memory_{delay}-v1" for delay in (1, 4, 16, 64))
PLATES = ("plate_chemotaxis-v1", "plate_aerotaxis-v1", "plate_thermotaxis-v1")
TASKS = (*BITS, "rhythm-v1", "foraging_small_temporal-v2", "pattern_memory-v3", *PLATES)
NEEDS = BITS
"""Tasks on which a policy without memory is exactly at chance. plate_thermotaxis is none of them: brains that are told
their reward can follow it, and need not remember the temperature."""
SOLVED = 0.9


def remembers(brain: str) -> bool:
    """Whether what a brain does can depend on what it saw earlier in the episode."""
    return get_brain(brain).__module__.split(".")[-2] in ROOMS or brain in ALSO


def load(task: str) -> dict[str, Any]:
    """What every brain reached on a task; nothing where nobody measured it."""
    path = DATA / f"{task}.json"
    if not path.is_file():
        return {}
    brains: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))["brains"]
    return brains


def blind(task: str) -> float:
    """The best normalised score that is to be had without looking, at least that of chance."""
    anchors = load_anchors(get_task(task))
    return blind_line(anchors) if anchors is not None else 0.0


def reached(one: dict[str, Any]) -> float:
    """The normalised score."""
    return float(one["normalised"].split()[0])


def _names(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "none"


def judge(task: str, found: dict[str, Any]) -> str:
    """One sentence about a task: who is above all that can be had without the input, with and without memory."""
    above = [name for name, one in found.items() if one["low"] > blind(task)]
    without, remembering = ([n for n in above if remembers(n) == kind] for kind in (False, True))
    solved = [name for name in remembering if reached(found[name]) >= SOLVED]
    text = f"{task}: above chance and the best blind policy are, without memory, {_names(without)}; with memory, "
    text += _names(sorted(remembering, key=lambda name: -reached(found[name])))
    return text + (f" ({_names(solved)} at {SOLVED:g} or more)." if solved else ".")


def verdict(results: dict[str, dict[str, Any]]) -> list[str]:
    """The answer in sentences."""
    needed = [task for task in NEEDS if results[task]]
    lucky = [
        f"{n} on {t}" for t in needed for n, one in results[t].items() if not remembers(n) and one["low"] > blind(t)
    ]
    helped = [t for t in needed if any(remembers(n) and one["low"] > blind(t) for n, one in results[t].items())]
    said = []
    if needed:
        first = (
            "Yes, where it is needed" if helped and not lucky else "Not as expected" if lucky else "Nobody used it yet"
        )
        said.append(
            f"{first}: of the {len(needed)} tasks measured on which a policy without memory is exactly at chance, "
            f"memoryless learners are above it on {len({one.split()[-1] for one in lucky})}, learners with memory on "
            f"{len(helped)}."
        )
    return said + [judge(task, found) for task, found in results.items() if found]


def finding() -> dict[str, Any]:
    """The answer as ``findings_page.py`` takes it."""
    results = {task: load(task) for task in TASKS}
    there = [task for task in TASKS if results[task]]
    rows = [
        {"brain": name, "memory": "yes" if remembers(name) else "no", **{t: _cell(results[t], name) for t in there}}
        for name in BRAINS
        if any(name in results[task] for task in there)
    ]
    rows.append({"brain": "*best blind policy*", "memory": "", **{task: f"{blind(task):.3f}" for task in there}})
    missing = [f"{task} ({', '.join(gone)})" for task in there if (gone := _gone(results[task]))]
    missing += [task for task in TASKS if not results[task]]
    said = [*verdict(results), f"Scores are normalised: 0 is chance, 1 the ceiling. {RUNS} runs, session seed {SEED}."]
    said += [f"Not measured yet: {', '.join(missing)}."] if missing else []
    command = f"python scripts/results_page.py --measure {' '.join(there)}"
    return {"verdict": said, "commands": [command, "python scripts/findings_memory.py"], "rows": rows}


def _cell(found: dict[str, Any], name: str) -> str:
    return str(found[name]["normalised"]) if name in found else "–"


def _gone(found: dict[str, Any]) -> list[str]:
    return [name for name in BRAINS if name not in found]


def main() -> None:
    """Entry point."""
    FINDING.parent.mkdir(parents=True, exist_ok=True)
    FINDING.write_text(json.dumps(finding(), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
