"""The bits of every compiled brain and every world in several environments, and the table that is committed of them.

    python scripts/bits_matrix.py                       names the environments that can be had here
    python scripts/bits_matrix.py --write               tries them all and writes docs/bits.json and docs/bits.md
    python scripts/bits_matrix.py --write --only NAME   tries some of them; what is known of the others stays
    python scripts/bits_matrix.py --write --missing     computes what an environment has not computed yet, and no more
    python scripts/bits_matrix.py --check               this environment against the table; exit code 1 if a bit differs

Environments are virtual ones under build/bits/ with the oldest and the newest versions that pyproject.toml allows, made
with whatever Pythons are installed, and this one on processors that QEMU emulates. ``make bits-matrix`` calls it. What
an environment has computed is kept beside it until the sources change, so an interrupted ``--write`` goes on there.
"""

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Collection
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
BUILD, DATA, PAGE = ROOT / "build" / "bits", ROOT / "docs" / "bits.json", ROOT / "docs" / "bits.md"
SEED, EPISODES, TASK = 2026, 20, "foraging_small-v2"
HERE = "this environment"
EMULATED = ("Haswell", "EPYC")
_PYTHONS = ("3.11", "3.12", "3.13", "3.14")
_FACTS = ("numpy", "numba", "llvmlite")


def cases() -> list[tuple[str, str]]:
    """Task and brain of every case: all compiled brains on one task, and one task of every world."""
    from nematodebench.brains.registry import get_brain, is_compiled, list_brains
    from nematodebench.errors import UsageError
    from nematodebench.tasks.registry import built_in_tasks, get_task

    def compiled(name: str) -> bool:
        try:
            return is_compiled(get_brain(name))
        except UsageError:  # it needs a library that is not installed, which no compiled brain does
            return False

    found = [(_task_for(name), name) for name in list_brains() if compiled(name)]
    seen = {phase.world.name for phase in get_task(TASK).phases}
    for name in built_in_tasks():
        worlds = {phase.world.name for phase in get_task(name).phases}
        if not worlds <= seen:
            found.append((name, "null_random"))
            seen |= worlds
    return found


def _task_for(brain: str) -> str:
    """The first task whose body the brain can use; for nearly all of them it is the same."""
    from nematodebench.errors import UsageError
    from nematodebench.sessions.config import SessionConfig
    from nematodebench.sessions.plan import make_plan
    from nematodebench.tasks.registry import built_in_tasks

    for name in (TASK, *built_in_tasks()):
        try:
            make_plan(SessionConfig(task=name, brain=brain, runs=1, seed=SEED))
        except UsageError:
            continue
        return name
    raise SystemExit(f"no task takes {brain}")


def compute(kept: Path | None = None, wanted: Collection[str] | None = None) -> dict[str, list[str]]:
    """The hashes of one run of every case: its records, and the memory that it left.

    Args:
        kept: A file that keeps what is known.
        wanted: The cases that are asked for; all if not given.
    """
    import nematodebench as nb
    from nematodebench.records.provenance import source_hash
    from nematodebench.tasks.registry import get_task

    found: dict[str, list[str]] = {}
    if kept is not None and kept.is_file():
        content = json.loads(kept.read_text())
        found = content["hashes"] if content["source"] == source_hash() else {}
    asked = [(task, brain) for task, brain in cases() if wanted is None or f"{task} {brain}" in wanted]
    for task, brain in asked:
        if f"{task} {brain}" in found:
            continue
        episodes = EPISODES if get_task(task).phases[0].episodes > EPISODES else None
        (run,) = nb.run(task, brain, runs=1, episodes=episodes, seed=SEED, workers=1).runs
        assert run.failure is None, (task, brain, run.failure)
        found[f"{task} {brain}"] = [run.record_hash, str(run.memory_hash)]
        if kept is not None:
            part = kept.with_suffix(".part")
            part.write_text(json.dumps({"source": source_hash(), "hashes": found}))
            part.replace(kept)
    return {case: found[case] for case in (f"{task} {brain}" for task, brain in asked)}


def computed(level: str | None, kept: Path | None, wanted: Collection[str] | None) -> dict[str, Any]:
    """What the program prints when it computes: hashes, and the facts of its environment."""
    import importlib.metadata

    if level is not None:  # code for a lesser processor, before anything is compiled
        from nematodebench.kernels import processor

        setattr(processor, "cpu_level", lambda: level)  # noqa: B010
    from nematodebench.kernels.target import code_generation

    facts = {name: importlib.metadata.version(name) for name in _FACTS}
    facts |= {"python": platform.python_version(), "code": code_generation()}
    return {"facts": facts, "hashes": compute(kept, wanted)}


def bounds() -> dict[str, str]:
    """The oldest versions of NumPy and Numba, exactly, as pyproject.toml allows them."""
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    lowest = {}
    for text in listed:
        name, low = re.match(r"([\w-]+)>=([\d.]+)", text).groups()  # type: ignore[union-attr]
        lowest[name] = f"{name}=={low}.0" if low.count(".") == 1 else f"{name}=={low}"
    return {name: lowest[name] for name in ("numpy", "numba")}


def pythons() -> dict[str, str]:
    """Programs of the Pythons that are installed, by version."""
    found = {}
    for version in _PYTHONS:
        kept = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python{version}"))
        program = str(kept[-1]) if kept else shutil.which(f"python{version}")
        if program and subprocess.run([program, "-c", "pass"], capture_output=True, check=False).returncode == 0:
            found[version] = program
    return found


def environments() -> dict[str, dict[str, Any]]:
    """Everything that can be tried here: the name, and how."""
    low, there = bounds(), pythons()
    oldest, newest = next(iter(there)), list(there)[-1]
    made = {
        f"newest libraries, Python {newest}": {"python": there[newest], "install": ["numpy>=2,<3", "numba<1"]},
        f"oldest libraries, Python {oldest}": {"python": there[oldest], "install": list(low.values())},
        f"oldest Numba, Python {newest}": {"python": there[newest], "install": ["numpy>=2", low["numba"]]},
    }
    here: dict[str, dict[str, Any]] = {HERE: {}} | made
    plain: dict[str, dict[str, Any]] = {f"{HERE}, code for any x86-64": {"level": "x86-64"}}
    emulator = shutil.which("qemu-x86_64")
    emulated = {f"emulated {cpu}": {"before": [emulator, "-cpu", cpu]} for cpu in EMULATED if emulator}
    return here | emulated | plain


def place(name: str) -> Path:
    """Where an environment lives, and what it has computed beside it."""
    return BUILD / re.sub(r"[^\w.]+", "-", name)


def installed(name: str, how: dict[str, Any]) -> str:
    """The Python of an environment, which is made if it is not there."""
    if "python" not in how:
        return sys.executable
    folder = place(name)
    program = str(folder / "bin" / "python")
    if not (folder / ".done").exists():
        subprocess.run([how["python"], "-m", "venv", "--clear", str(folder)], check=True)
        others = ["scipy", "polars<2", "pydantic", "pyyaml", "typer", "rich", "gymnasium", "cryptography", "pillow"]
        subprocess.run([program, "-m", "pip", "install", "--quiet", *how["install"], *others], check=True)
        (folder / ".done").touch()
    return program


def tried(name: str, how: dict[str, Any], wanted: Collection[str] | None = None) -> dict[str, Any]:
    """What an environment computes: all cases, or those that are wanted."""
    BUILD.mkdir(parents=True, exist_ok=True)
    kept = ["--kept", f"{place(name)}.json"]
    words = [*how.get("before", []), installed(name, how), str(Path(__file__)), "--compute", *kept]
    words += ["--level", how["level"]] if "level" in how else []
    words += [] if wanted is None else ["--cases", *wanted]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "NEMATODEBENCH_CACHE_DIR": str(BUILD / "cache")}
    done = subprocess.run(words, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    content: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return content


def known() -> dict[str, Any]:
    """The table as it is."""
    content: dict[str, Any] = json.loads(DATA.read_text()) if DATA.is_file() else {"hashes": {}, "environments": {}}
    return content


def differences(wanted: dict[str, list[str]], found: dict[str, list[str]]) -> list[str]:
    """Cases of the table that came out otherwise, or did not come out."""
    return [case for case in wanted if wanted[case] != found.get(case)]


def with_new_cases(table: dict[str, Any], found: dict[str, list[str]]) -> dict[str, Any]:
    """The table after this environment was tried, which the others are held against.

    What others have computed stays as long as every case that they know has the same hashes; they lack the new ones.
    """
    if any(found.get(case) != hashes for case, hashes in table["hashes"].items()):
        return {"hashes": found, "environments": {}}
    new = [case for case in found if case not in table["hashes"]]
    others = {name: {**one, "lacks": [*one["lacks"], *new]} for name, one in table["environments"].items()}
    return {"hashes": found, "environments": others}


def row(table: dict[str, Any], name: str, how: dict[str, Any], missing: bool) -> dict[str, Any]:
    """What is to be written of an environment, which is tried; ``missing`` leaves out what it has computed before."""
    before = table["environments"].get(name)
    if missing and before is not None and name != HERE:
        found = tried(name, how, before["lacks"])
        if all(before[key] == value for key, value in found["facts"].items()):
            lacked = {case: table["hashes"][case] for case in before["lacks"]}
            different = [*before["different"], *differences(lacked, found["hashes"])]
            return {**found["facts"], "different": different, "lacks": []}
    found = tried(name, how)
    if name == HERE:
        table |= with_new_cases(table, found["hashes"])
    return {**found["facts"], "different": differences(table["hashes"], found["hashes"]), "lacks": []}


def write(only: list[str] | None, missing: bool) -> int:
    """Tries environments, and writes the table and the page; returns whether any bit differs."""
    table = known()
    for name, how in environments().items():
        complete = name in table["environments"] and not table["environments"][name]["lacks"]
        if (only is not None and name not in only) or (missing and complete and name != HERE):
            continue
        print(f"{name} ...", flush=True)
        one = table["environments"][name] = row(table, name, how, missing)
        print(f"{name}: {computed_by(table, one)} cases, {len(one['different'])} different", flush=True)
        DATA.write_text(json.dumps(table, indent=1) + "\n")
        PAGE.write_text(page(table))
    return int(any(one["different"] for one in table["environments"].values()))


def computed_by(table: dict[str, Any], one: dict[str, Any]) -> int:
    """How many cases of the table an environment has computed."""
    return len(table["hashes"]) - len(one["lacks"])


def page(table: dict[str, Any]) -> str:
    """The table as a page."""
    count = len(table["hashes"])
    text = [
        "# The same bits everywhere",
        "",
        f"One run of each of {count} cases gives one hash of its records and one of the memory it left. The cases are",
        f"every compiled brain on {TASK}, and a task of every world with a policy that acts at random; the session",
        f"seed is {SEED}. The table says in which environments they were computed, and how many came out otherwise.",
        "`make bits-matrix` measures it anew, and the proofs compare it with the environment they run in.",
        "Cases that came later were computed later (`--missing`): then an environment keeps what it computed at an",
        "earlier commit, as long as this environment still gives the same hashes for all of it.",
        "",
        "| environment | Python | NumPy | Numba | llvmlite | code for | cases | different |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, one in table["environments"].items():
        cells = [name, *(one[key] for key in ("python", "numpy", "numba", "llvmlite", "code")), computed_by(table, one)]
        text.append(f"| {' | '.join(map(str, cells))} | {len(one['different'])} |")
    text += ["", "Emulated processors execute the machine code that was compiled for the level in the table.", ""]
    text += ["| case | records | memory |", "|---|---|---|"]
    text += [f"| {case} | `{one[0][:16]}` | `{one[1][:19]}` |" for case, one in table["hashes"].items()]
    return "\n".join([*text, "", "The whole hashes are in [bits.json](bits.json).", ""])


def check() -> int:
    """Compares this environment with the table; says which cases are newer than it."""
    wanted, found = known()["hashes"], compute()
    other, new = differences(wanted, found), [case for case in found if case not in wanted]
    print(f"{len(wanted)} cases, {len(other)} different {' '.join(other)}")
    if new:
        print(f"not in the table: {', '.join(new)}. Run: make bits-matrix")
    return int(bool(other))


def main() -> int:
    """Does what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--only", nargs="+", help="names of environments")
    parser.add_argument("--missing", action="store_true", help="only cases that an environment has not computed yet")
    parser.add_argument("--cases", nargs="*", help=argparse.SUPPRESS)
    parser.add_argument("--compute", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--level", help=argparse.SUPPRESS)
    parser.add_argument("--kept", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.compute:
        print(json.dumps(computed(given.level, given.kept, given.cases)))
        return 0
    if given.write:
        return write(given.only, given.missing)
    if given.check:
        return check()
    print("\n".join(environments()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
