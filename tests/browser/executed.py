"""Runs executed twice: by the package, and by a page in Chromium."""

import json
from dataclasses import replace

from nematodebench.brains.configs import resolve_config
from nematodebench.brains.registry import get_brain
from nematodebench.browser.cases import case, tables
from nematodebench.browser.modules import case_script, module_scripts, run_script
from nematodebench.engine.run import RunSpec, execute
from nematodebench.engine.seeds import run_seed
from nematodebench.tasks.registry import get_task

SESSION = 2026
PAGE = "<!doctype html><meta charset=utf-8><title>runs</title><script src=run.js></script>\n"


def site(folder):
    """A folder with the scripts of a page; returns the address of the page."""
    for name, text in {**module_scripts(), "run.js": run_script(), "index.html": PAGE}.items():
        (folder / name).write_text(text, encoding="utf-8")
    return (folder / "index.html").as_uri()


def shortened(task, episodes):
    """A task with few episodes, or few ticks, in each phase."""
    phases = [
        replace(phase, episodes=min(phase.episodes, episodes), ticks=min(phase.ticks, 40 * episodes))
        for phase in task.phases
    ]
    return replace(task, phases=tuple(phases))


def native(task, brain, run, config=None):
    """Both hashes of a run, executed here."""
    kind = get_brain(brain)
    spec = RunSpec(task, brain, kind, resolve_config(brain, kind, config), run_seed(SESSION, run), run)
    result = execute(spec)
    assert result.failure is None, result.failure
    return {"recordHash": result.record_hash, "memoryHash": result.memory_hash}, result.seconds


def in_page(page, task, brain, run, config=None):
    """Both hashes of the same run, executed by the page, which is given the session's seed and the run's number."""
    page.evaluate(case_script("case", case(task, brain, config), tables(task)))
    asked = f"nb.execute(nb.caseOf('case'), {json.dumps({'session': SESSION, 'run': run})})"
    found = page.evaluate(f"{asked}.then(({{ recordHash, memoryHash, seconds, variant }}) => "
                          "({ recordHash, memoryHash, seconds, variant }))")  # fmt: skip
    return {name: found[name] for name in ("recordHash", "memoryHash")}, found["seconds"], found["variant"]


def compared(page, task, brain, run=0, episodes=None, config=None):
    """A run executed in both places."""
    task = get_task(task)
    task = shortened(task, episodes) if episodes else task
    return native(task, brain, run, config), in_page(page, task, brain, run, config)
