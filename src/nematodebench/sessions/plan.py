"""Plans of sessions. Everything that can be wrong with a session before its first run is found here."""

import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nematodebench.brains.configs import dump_config
from nematodebench.brains.registry import BrainType, canonical_name, get_brain, is_compiled
from nematodebench.engine.executors import ExecutorName, choose_executor, default_workers
from nematodebench.engine.isolation.host import Foreign
from nematodebench.engine.python_brain import global_generators_kept, spaces_of
from nematodebench.engine.run import resolve_config
from nematodebench.engine.saved_start import check_keeping, check_start
from nematodebench.engine.seeds import run_seed, session_seed
from nematodebench.engine.spec import Keeping, RunSpec, interface
from nematodebench.errors import UsageError
from nematodebench.imports import written_by_user
from nematodebench.records.checkpoint import Checkpoint
from nematodebench.sessions.begun import remember_sources
from nematodebench.sessions.config import SessionConfig, config_text
from nematodebench.sessions.recording import brain_source_hash
from nematodebench.tasks.base import Task
from nematodebench.tasks.registry import get_task

__all__ = ["Plan", "check_body", "dump_config", "make_plan", "resized", "session_config"]


@dataclass(frozen=True)
class Plan:
    """Everything that a session is going to do."""

    task: Task
    brain_name: str
    brain: BrainType | Foreign
    config: Any
    seed: int
    runs: int
    workers: int
    executor: ExecutorName
    config_name: str
    config_text: str
    start: Checkpoint | None = None
    """The saved brain that every run begins with; None for fresh brains."""
    checkpoint: int = 0
    """Every so many episodes the brain of a run is kept; 0 for never."""
    keeping: Keeping | None = None
    """Where brains are kept, once the session has a folder."""
    limit: float | None = None
    """Seconds that a run may take; one that takes longer has failed."""
    brain_sha256: str | None = None
    """Of the file of a brain from outside the package, as it was when the plan was made."""

    def specs(self) -> list[RunSpec]:
        """The runs, in order."""
        return [
            RunSpec(
                self.task,
                self.brain_name,
                self.brain,
                self.config,
                run_seed(self.seed, k),
                k,
                self.start,
                self.keeping,
                self.limit,
            )
            for k in range(self.runs)
        ]


def make_plan(
    given: SessionConfig,
    *,
    workers: int | None = None,
    executor: str | None = None,
    config_name: str = "",
    text: str = "",
    foreign: Foreign | None = None,
    start: Checkpoint | None = None,
    checkpoint: int = 0,
    limit: float | None = None,
) -> Plan:
    """Makes a plan of a config and checks everything that can be checked before the first run.

    Args:
        given: The config.
        workers: Runs at a time; all cores if not given.
        executor: Where runs are executed; by the kind of brain if not given.
        config_name: Name of the config's file.
        text: Content of the config's file.
        foreign: The brain, if its code is not to be imported here: the config has to be complete then, and is taken
            as it is.
        start: The saved brain that runs begin with.
        checkpoint: Every so many episodes the brain of a run is kept; 0 for never.
        limit: Seconds that a run may take; None for as long as it takes.
    """
    given = given.model_copy(update={"brain": canonical_name(given.brain)})
    task = get_task(given.task).with_episodes(given.episodes)
    brain: BrainType | Foreign = get_brain(given.brain) if foreign is None else foreign
    config = dict(given.config) if isinstance(brain, Foreign) else resolve_config(given.brain, brain, given.config)
    count = default_workers(brain) if workers is None else workers
    for what, number in (("workers", count), ("checkpoint", checkpoint)):
        if not isinstance(number, int) or number < (what == "workers"):
            raise UsageError(f"{what} is {number!r}: give a whole number, at least {int(what == 'workers')}.")
    if limit is not None and not (isinstance(limit, int | float) and 0.0 < limit < math.inf):
        raise UsageError(f"The time limit of a run is {limit} s: give a number above 0")
    seed = session_seed(given.seed)
    resolved = given.model_copy(update={"task": task.id, "config": dump_config(config)})
    name = config_name or f"{_file_name(given.brain)}_{task.category}.yml"
    plan = Plan(
        task=task,
        brain_name=given.brain,
        brain=brain,
        config=config,
        seed=seed,
        runs=given.runs,
        workers=count,
        executor=choose_executor(brain, executor, count),
        config_name=name,
        config_text=text or config_text(resolved),
        start=start,
        checkpoint=checkpoint,
        limit=limit,
        brain_sha256=brain_source_hash(brain),
    )
    remember_sources(plan)
    check_body(plan)
    check_saved(plan)
    return plan


def _file_name(brain: str) -> str:
    """A brain's name as part of a file's name; of a path only what the file is called."""
    place, _, name = brain.rpartition(":")
    return re.sub(r"[^\w.-]", "_", f"{Path(place).stem}_{name}" if place.endswith(".py") else brain)


def session_config(plan: Plan) -> SessionConfig:
    """The config that makes a plan."""
    return SessionConfig(
        task=plan.task.id,
        brain=plan.brain_name,
        config=dump_config(plan.config),
        runs=plan.runs,
        episodes=plan.task.episodes_override or None,
        seed=plan.seed,
    )


def resized(plan: Plan, runs: int, seed: int) -> Plan:
    """The same plan with another number of runs, or another seed. Run k of a seed is the same in all of them."""
    given = session_config(plan).model_copy(update={"runs": runs, "seed": seed})
    return make_plan(
        given, workers=plan.workers, executor=plan.executor, config_name=plan.config_name, start=plan.start,
        limit=plan.limit,
    )  # fmt: skip


def check_body(plan: Plan) -> None:
    """Lets a brain refuse a body that it cannot control, before anything runs."""
    if isinstance(plan.brain, Foreign):
        return
    body, check = interface(plan.task), getattr(plan.brain, "check_body", None)
    if is_compiled(plan.brain) or check is not None:
        try:
            if check is None:
                plan.brain.layout(plan.config, body)
            else:
                with global_generators_kept():  # a brain that is built for the check may seed those of the user
                    check(*spaces_of(body), plan.config)
        except UsageError:
            raise
        except Exception as error:
            line = None if isinstance(error, ValueError) else written_by_user(error.__traceback__)
            place = "" if line is None else f"{line.filename}, line {line.lineno}: {type(error).__name__}: "
            raise UsageError(f"Brain {plan.brain_name!r} cannot run on {plan.task.id}: {place}{error}") from error


def check_saved(plan: Plan) -> None:
    """Refuses a saved brain that cannot begin these runs, and brains that cannot be kept."""
    if plan.checkpoint < 0:
        raise UsageError(f"checkpoint is {plan.checkpoint}: give a number of episodes, at least 1")
    if plan.start is not None:
        check_start(plan.specs()[0], plan.start)
    if plan.checkpoint:
        check_keeping(plan.specs()[0])
