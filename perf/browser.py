"""Whole runs here and in Chromium, one after another: seconds of each, and whether both hashes agree.

Writes a table of Markdown, as it stands in docs/browser.md. Needs Playwright and Chromium.
"""

import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from nematodebench.brains.configs import resolve_config
from nematodebench.brains.registry import get_brain
from nematodebench.browser.cases import case, tables
from nematodebench.browser.modules import case_script, module_scripts, run_script
from nematodebench.engine.run import RunSpec, compile_for, execute
from nematodebench.engine.seeds import run_seed
from nematodebench.tasks.registry import get_task

SESSION = 2026
RUNS = [
    ("foraging_small-v1", "mlp_ppo"),
    ("foraging_small-v1", "mlp_dqn"),
    ("foraging_small-v1", "mlp_reinforce"),
    ("foraging_small-v1", "q_table"),
    ("foraging_small-v1", "spiking_rstdp"),
    ("foraging_small-v1", "echo_state"),
    ("predator_small-v1", "mlp_ppo"),
    ("continual-v1", "mlp_ppo"),
]
WITHOUT_RELAXED = RUNS[0], RUNS[3], RUNS[4]
"""Runs that are executed by exact emulation as well."""


def _native(task_id: str, brain: str) -> tuple[str, str | None, float]:
    task, kind = get_task(task_id), get_brain(brain)
    compile_for(task, kind)
    spec = RunSpec(task, brain, kind, resolve_config(brain, kind, {}), run_seed(SESSION, 0))
    best = min((execute(spec) for _ in range(2)), key=lambda result: result.seconds)
    return best.record_hash, best.memory_hash, best.seconds


def _there(page: Any, task: str, brain: str) -> dict[str, Any]:
    page.evaluate(case_script("case", case(task, brain), tables(task)))
    asked = json.dumps({"session": SESSION, "run": 0})
    found: dict[str, Any] = page.evaluate(f"nb.execute(nb.caseOf('case'), {asked})")
    return found


def main() -> int:
    """Prints the table; returns 1 if any run is not the same."""
    from playwright.sync_api import sync_playwright

    path, different = shutil.which("chromium"), 0
    print("| task | brain | here | relaxed SIMD | times | exact emulation | times | hashes |")
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        for name, text in {**module_scripts(), "run.js": run_script()}.items():
            (Path(folder) / name).write_text(text, encoding="utf-8")
        (Path(folder) / "index.html").write_text("<!doctype html><script src=run.js></script>", encoding="utf-8")
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        for task, brain in RUNS:
            records, memory, seconds = _native(task, brain)
            cells, same = [f"{seconds:.2f} s"], True
            for variant in ("relaxed", "exact") if (task, brain) in WITHOUT_RELAXED else ("relaxed",):
                page = browser.new_page()
                page.goto((Path(folder) / "index.html").as_uri())
                page.evaluate(f"window.nbVariant = '{variant}'")
                found = _there(page, task, brain)
                same = same and (found["recordHash"], found["memoryHash"]) == (records, memory)
                cells += [f"{found['seconds']:.2f} s", f"{found['seconds'] / seconds:.1f}"]
                page.close()
            cells += ["", ""] * (len(cells) < 5)
            different += not same
            print(f"| {task} | {brain} | {' | '.join(cells)} | {'same' if same else 'DIFFERENT'} |", flush=True)
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
