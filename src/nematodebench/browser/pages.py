"""Files that execute runs, for a folder of pages: ``run.js``, the modules, and the page on which a newcomer trains."""

from pathlib import Path

from nematodebench.browser.modules import assignment, module_scripts, run_script
from nematodebench.browser.play import BRAINS, TASKS, play_data

__all__ = ["write_play_page", "write_scripts"]

_PLAY = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Play: train a brain in this page</title>
<style>
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 1.5rem auto; padding: 0 1rem; }
@media (prefers-color-scheme: dark) { body { background: #14161a; color: #f2f0ea; } }
</style>
<main>
<h1>Train a brain in this page</h1>
<p>Choose a task and a brain, move its sliders and press Train. Nothing is sent anywhere: the kernels of NematodeBench
run in your browser, with the bits they have everywhere else. The lines are chance, the best policy that ignores its
input, and the reference, each in the very worlds of your run.</p>
<nb-play data="play"></nb-play>
</main>
<script src="play-data.js"></script>
<script src="run.js"></script>
</html>
"""


def write_scripts(folder: Path) -> None:
    """Writes ``run.js`` and the modules, which it loads when a run is asked for."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in {**module_scripts(), "run.js": run_script()}.items():
        (folder / name).write_text(text, encoding="utf-8")


def write_play_page(folder: Path, tasks: tuple[str, ...] = TASKS, brains: tuple[str, ...] = BRAINS) -> Path:
    """Writes ``play.html`` with all it needs; returns its path."""
    write_scripts(folder)
    data, shared = play_data(tasks, brains)
    text = assignment("nbPlay", "play", data) + "".join(assignment("nbTables", *one) for one in shared.items())
    (folder / "play-data.js").write_text(text, encoding="utf-8")
    page = folder / "play.html"
    page.write_text(_PLAY, encoding="utf-8")
    return page
