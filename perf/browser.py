"""Whole runs here, in Chromium and in Firefox, one after another: seconds of each, and whether all hashes agree.

Writes a table of Markdown, as it stands in docs/browser.md. Needs Playwright, Chromium and Firefox.
"""

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
from perf._firefox import Firefox

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


EXECUTE = """async ([run, variant]) => {
  window.nbVariant = variant;
  const { recordHash, memoryHash, seconds } = await nb.execute(nb.caseOf('case'), run);
  return { recordHash, memoryHash, seconds };
}"""


def _there(page: Any, address: str, task: str, brain: str, variant: str) -> dict[str, Any]:
    page.goto(address)
    page.evaluate(case_script("case", case(task, brain), tables(task)))
    found: dict[str, Any] = page.evaluate(EXECUTE, [{"session": SESSION, "run": 0}, variant])
    return found


def _columns(chromium: Any, firefox: Any, address: str, task: str, brain: str) -> tuple[list[str], bool]:
    """Seconds here and there, and whether all hashes are the same."""
    records, memory, seconds = _native(task, brain)
    cells, same = [f"{seconds:.2f} s"], True
    both = (task, brain) in WITHOUT_RELAXED
    for page, variant in [(chromium, "relaxed"), (firefox, "relaxed"), (chromium, "exact"), (firefox, "exact")]:
        if variant == "exact" and not both:
            cells.append("")
            continue
        found = _there(page, address, task, brain, variant)
        same = same and (found["recordHash"], found["memoryHash"]) == (records, memory)
        cells.append(f"{found['seconds']:.2f} s ({found['seconds'] / seconds:.1f} x)")
    return cells, same


def main() -> int:
    """Prints the table; returns 1 if any run is not the same."""
    from playwright.sync_api import sync_playwright

    path, different = shutil.which("chromium"), 0
    print("| task | brain | here | Chromium | Firefox | Chromium, emulated | Firefox, emulated | hashes |")
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as profile, sync_playwright() as driver:
        for name, text in {**module_scripts(), "run.js": run_script()}.items():
            (Path(folder) / name).write_text(text, encoding="utf-8")
        (Path(folder) / "index.html").write_text("<!doctype html><script src=run.js></script>", encoding="utf-8")
        address = (Path(folder) / "index.html").as_uri()
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        with Firefox(Path(profile)) as firefox:
            for task, brain in RUNS:
                page = browser.new_page()
                cells, same = _columns(page, firefox, address, task, brain)
                page.close()
                different += not same
                print(f"| {task} | {brain} | {' | '.join(cells)} | {'same' if same else 'DIFFERENT'} |", flush=True)
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
