"""The work behind ``nematodebench check``: the suite of :mod:`nematodebench.testing`, then timed episodes."""

import os
import tempfile
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from nematodebench.brains.configs import dump_config, resolve_config
from nematodebench.brains.registry import BrainType, canonical_name, get_brain, is_built_in, is_compiled
from nematodebench.cli.show import print_json, print_table
from nematodebench.engine.executors import default_workers
from nematodebench.engine.interpreted import wrong_index
from nematodebench.engine.run import RunSpec, compile_for, execute, interface
from nematodebench.engine.seeds import run_seed
from nematodebench.errors import UsageError
from nematodebench.kernels.abi import BRAIN
from nematodebench.kernels.jit import first_class
from nematodebench.notices import tell
from nematodebench.sessions.config import parse_assignments
from nematodebench.tasks.base import Task
from nematodebench.tasks.registry import get_task, list_tasks

__all__ = ["check_brain"]

_TASKS = ("foraging_small-v2", "predator_small-v2", "pong-v2", "cartpole-v2", "torus-v1")
_SUITE = """
from nematodebench.brains.registry import get_brain
from nematodebench.testing import BrainSuite

class TestContract(BrainSuite):
    brain = get_brain({name!r})
    config = {config!r}
"""
_ENOUGH = 0.05
"""Seconds that a measurement takes at least: one episode of a compiled brain is too short to be timed."""
_MANY = 50
_INDICES = "every index is inside its array (in the interpreter)"
_TRIAL_SECONDS = 10.0
"""Processor time of the steps in the interpreter."""


@dataclass(frozen=True)
class Part:
    """One test of the contract."""

    what: str
    outcome: str
    why: str


@dataclass(frozen=True)
class Cost:
    """What a task takes: steps a second of one run, seconds of an episode, and of a session at most."""

    task: str
    steps_per_second: float = 0.0
    episode_seconds: float = 0.0
    session_seconds: float = 0.0
    problem: str = ""


def check_brain(name: str, tasks: str | None, assign: list[str], runs: int, *, json: bool) -> bool:
    """Prints how a brain does; returns whether it keeps the contract."""
    name = canonical_name(name)
    brain = get_brain(name)
    given = dump_config(resolve_config(name, brain, parse_assignments(assign)))
    wanted = list(_TASKS) if tasks is None else list_tasks() if tasks == "all" else tasks.split(",")
    chosen = [get_task(task.strip()) for task in wanted]
    _compile_first(brain)
    tell(f"checking that {name} keeps the contract")
    contract = [*_contract(name, given), *_indices(name, brain, given, chosen)]
    costs = [_cost(name, brain, given, task, runs) for task in chosen]
    if json:
        print_json({"contract": list(map(asdict, contract)), "costs": list(map(asdict, costs)), "runs": runs})
    else:
        print_table(["contract", "outcome", "reason"], [[part.what, part.outcome, part.why] for part in contract])
        workers = default_workers(brain)
        print(f"\ncost of a session of {runs} runs, {workers} at a time\n")
        print_table(["task", "steps/s of a run", "an episode", "a session, at most"], [_row(cost) for cost in costs])
    return all(part.outcome != "FAILED" for part in contract)


def _compile_first(brain: BrainType) -> None:
    """What cannot be compiled is told once, not by every test."""
    if is_compiled(brain):
        for part in (brain.init, brain.begin_episode, brain.act, brain.learn):
            first_class(part, BRAIN)


def _indices(name: str, brain: BrainType, given: dict[str, Any], tasks: list[Task]) -> list[Part]:
    """Whether the first steps in the interpreter, which checks every index, go well."""
    if not is_compiled(brain) or is_built_in(name):
        return []
    config = resolve_config(name, brain, given)
    task = next((one for one in tasks if not _refusal(brain, config, one)), None)
    if task is None:
        return [Part(_INDICES, "left out", "refuses the bodies of all tasks")]
    wrong = wrong_index(task, name, brain, config, _TRIAL_SECONDS)
    if wrong is None:
        return [Part(_INDICES, "left out", "the brain cannot be tried in the interpreter")]
    return [Part(_INDICES, "FAILED" if wrong else "passed", wrong)]


def _refusal(brain: BrainType, config: Any, task: Task) -> str:
    """Why a compiled brain cannot control the body of a task; empty where it can."""
    try:
        if is_compiled(brain):
            brain.layout(config, interface(task))
    except ValueError as refusal:
        return f"refuses this body: {refusal}"
    return ""


class _Reports:
    """Collects what the tests say, as a plugin of pytest."""

    def __init__(self) -> None:
        self.parts: list[Part] = []

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Called for every stage of every test."""
        if report.when == "call" or report.outcome != "passed":
            what = report.nodeid.rpartition("::test_")[2].replace("_", " ").replace("[", " (").replace("]", ")")
            self.parts.append(Part(what, *_told(report)))

    def pytest_collectreport(self, report: Any) -> None:
        """Called when the tests have been looked for."""
        if report.failed:
            self.parts.append(Part("can be imported", "FAILED", _last_line(str(report.longrepr))))


def _told(report: Any) -> tuple[str, str]:
    if report.outcome == "skipped":
        return "left out", str(report.longrepr[2]).removeprefix("Skipped: ")
    crash = getattr(report.longrepr, "reprcrash", None)
    return ("passed", "") if report.outcome == "passed" else ("FAILED", _last_line(str(getattr(crash, "message", ""))))


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    return lines[0][:200] if lines else ""


def _contract(name: str, config: dict[str, Any]) -> list[Part]:
    """Every test of the suite for this brain."""
    try:
        import pytest
    except ImportError as error:
        raise UsageError("check needs pytest, which is not installed: pip install pytest.") from error
    reports = _Reports()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"test_{Path(folder).name}.py"  # a process imports a module of one name once
        file.write_text(_SUITE.format(name=name, config=config), encoding="utf-8")
        without = [f"-pno:{plugin}" for plugin in ("terminal", "cacheprovider", "xdist")]
        pytest.main(
            [*without, "--import-mode=importlib", "--rootdir", folder, "-c", os.devnull, str(file)], plugins=[reports]
        )
    return reports.parts


def _cost(name: str, brain: BrainType, config: dict[str, Any], task: Task, runs: int) -> Cost:
    """Times an episode, or as many as can be timed, and scales it up to a session."""
    resolved = resolve_config(name, brain, config)
    if refusal := _refusal(brain, resolved, task):
        return Cost(task.id, problem=refusal)
    compile_for(task, brain)
    tell(f"timing an episode of {task.id}")
    seconds, steps, episodes = 0.0, 0, 1
    while seconds < _ENOUGH and episodes <= _MANY:
        short = replace(task, phases=tuple(replace(phase, episodes=episodes, ticks=0) for phase in task.phases))
        try:
            result = execute(RunSpec(short, name, brain, resolved, run_seed(0, 0)))
        except (UsageError, ValueError) as error:
            return Cost(task.id, problem=str(error))
        if result.failure is not None:
            return Cost(task.id, problem=result.failure.message)
        seconds, steps, done = result.seconds, result.steps, episodes
        episodes *= _MANY
    rate = steps / max(seconds, 1e-9)
    most = sum(one.ticks or one.episodes * one.world.horizon for one in task.phases)
    return Cost(task.id, rate, seconds / done, most * runs / rate / default_workers(brain))


def _row(cost: Cost) -> list[str]:
    if cost.problem:
        return [cost.task, "-", "-", cost.problem]
    return [cost.task, f"{cost.steps_per_second:,.0f}", _time(cost.episode_seconds), _time(cost.session_seconds)]


def _time(seconds: float) -> str:
    for unit, size in (("h", 3600.0), ("min", 60.0), ("s", 1.0), ("ms", 1e-3)):
        if seconds >= size * (1 if unit == "s" else 2) or unit == "ms":
            return f"{seconds / size:.3g} {unit}"
    raise AssertionError
