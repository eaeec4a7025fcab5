"""Runs executed twice: by the package, and by a page in a browser."""

from dataclasses import replace

from nematodebench.brains.configs import resolve_config
from nematodebench.brains.registry import get_brain, is_built_in, is_compiled, list_brains
from nematodebench.browser.cases import case, tables
from nematodebench.browser.extract import function_key
from nematodebench.browser.modules import case_script, module_scripts, run_script
from nematodebench.engine.run import RunSpec, execute
from nematodebench.engine.seeds import run_seed
from nematodebench.tasks.registry import built_in_tasks, get_task

BRAINS = [name for name in list_brains() if is_built_in(name) and is_compiled(get_brain(name))]
SESSION = 2026
PAGE = "<!doctype html><meta charset=utf-8><title>runs</title><script src=run.js></script>\n"


def home_of(brain):
    """A task that a brain is at home on."""
    return "foraging_small-v1" if brain != "plate_follower" else "plate_chemotaxis_untrained-v1"


def worlds():
    """One task for each pair of a world's functions, and its number of agents; where several have it, the first."""
    found = {}
    for task in built_in_tasks().values():
        if len(task.phases) == 1 or task.assay:
            world = task.phases[0].world
            found.setdefault((function_key(world.reset), function_key(world.step)), (task.id, world.agents))
    return dict(found.values())


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


EXECUTE = """async ([run, watch]) => {
  const rows = [];
  const seen = { episode: ({ frames }) => rows.push(...frames.map((frame) => frame.rows.length / 8)) };
  const { recordHash, memoryHash, seconds, variant } = await nb.execute(nb.caseOf('case'), run, seen, { watch });
  return { recordHash, memoryHash, seconds, variant, rows };
}"""


def in_page(page, task, brain, run, config=None, watch=()):
    """The same run, executed by the page, which is given the session's seed and the run's number.

    ``rows`` are how many primitives the scene had in each frame of the episodes that were watched.
    """
    page.evaluate(case_script("case", case(task, brain, config), tables(task)))
    return page.evaluate(EXECUTE, [{"session": SESSION, "run": run}, list(watch)])


def hashes(found):
    """Both hashes of a run that a page has executed."""
    return {name: found[name] for name in ("recordHash", "memoryHash")}


def compared(page, task, brain, run=0, episodes=None, config=None, watch=()):
    """A run executed in both places: the hashes and seconds of ours, and what the page found."""
    task = get_task(task)
    task = shortened(task, episodes) if episodes else task
    return native(task, brain, run, config), in_page(page, task, brain, run, config, watch)
