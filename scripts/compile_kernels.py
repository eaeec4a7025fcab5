"""Compiles kernels into a folder, for a wheel that brings them: ``compile_kernels.py FOLDER [--task T] [--brain B]``.

Without names all built-in tasks and compiled brains are compiled, which takes minutes. ``make wheel`` calls it.
"""

import argparse
import os
from pathlib import Path


def main() -> None:
    """Compiles what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--task", action="append", help="only these tasks")
    parser.add_argument("--brain", action="append", help="only these brains")
    given = parser.parse_args()
    given.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.environ["NEMATODEBENCH_CACHE_DIR"] = str(given.folder.resolve())  # before anything is imported that asks for it
    compile_into(given.task, given.brain)
    for path in given.folder.glob("*.json"):  # the list of tasks is a cache as well, and no kernel
        path.unlink()
    files = list(given.folder.rglob("*.nbc"))
    print(f"{len(files)} compiled functions, {sum(file.stat().st_size for file in files) / 1e6:.1f} MB")


def compile_into(tasks: list[str] | None, brains: list[str] | None) -> None:
    """Compiles the tasks with the policy that acts at random, and the brains on a task that takes them."""
    from nematodebench.brains.registry import get_brain, is_compiled, list_brains
    from nematodebench.engine.compiling import fill_cache
    from nematodebench.notices import listening
    from nematodebench.sessions.execution import run
    from nematodebench.tasks.registry import built_in_tasks, get_task

    with listening(print):
        for name in brains or [name for name in list_brains() if is_compiled(get_brain(name))]:
            fill_cache(get_task(next(iter(tasks or ["foraging_small-v2"]))), get_brain(name))
        for name in tasks or built_in_tasks():
            run(name, "null_random", runs=1, seed=0)  # what Python calls itself is compiled when it is called


if __name__ == "__main__":
    main()
