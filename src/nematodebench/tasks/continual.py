"""Continual tasks: one brain goes through six small worlds, one after another; each is also a task of its own.

The continual task has one body for all worlds, with as many inputs as the widest and as many actions as the richest. A
world leaves inputs beyond its own at 0 and takes actions beyond its own as doing nothing (or as a wrong answer); no
label says which world it is. Of the tasks with a single world, version 1 has that body too: continual scores are read
against their anchors, so the floor of each is the null policy over all actions of that body. Later versions have the
body of their own world, and their floor is the null policy over that world's actions.

A third version has the numbers of its own world too, where a walk with closed eyes got much in the second one. On a
square with an even number of cells on each side the best such walk is known: any closed walk through all cells.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from nematodebench.errors import UsageError, unknown_name
from nematodebench.measures.anchored import ANCHORED
from nematodebench.measures.descriptive import DESCRIPTIVE
from nematodebench.tasks.base import Phase, Task
from nematodebench.worlds.base import World
from nematodebench.worlds.cognition.association import Association
from nematodebench.worlds.cognition.pattern_memory import PatternMemory
from nematodebench.worlds.cognition.prediction import Prediction
from nematodebench.worlds.grid.gridworld import Gridworld
from nematodebench.worlds.grid.navigation import Navigation
from nematodebench.worlds.grid.realtime import Realtime

__all__ = ["ENVIRONMENTS", "ORDER", "TASKS", "continual_task", "probe_name", "single_task"]


ENVIRONMENTS: dict[str, tuple[World, int]] = {
    "navigation": (Navigation(), 20),
    "pattern_memory": (PatternMemory(), 30),
    "prediction": (Prediction(), 15),
    "association": (Association(), 25),
    "gridworld": (Gridworld(), 30),
    "realtime": (Realtime(), 25),
}
"""World and episodes of each environment, in the order of a continual run."""

ORDER = tuple(ENVIRONMENTS)
_BODY = tuple(world for world, _ in ENVIRONMENTS.values())


def _alone(named: str, summary: str, world: World, episodes: int, ceiling: float | None = None) -> Task:
    """One world in its own body, scored while it learns; without an analytic ceiling the reference is measured."""
    phases = (Phase("train", world, episodes=episodes),)
    return Task(named, summary, phases, "train", ANCHORED, "reward", ceiling=ceiling)


def _single(name: str, summary: str, world: World, episodes: int, ceiling: float | None) -> Task:
    """The first version of a task with a single world, in the body of the continual task."""
    return replace(_alone(f"{name}-v1", summary, world, episodes, ceiling), body=_BODY)


def _with_own_body(task: Task) -> Task:
    """The next version of a task with a single world, in the body of that world.

    The noise of `prediction` keeps everybody from its largest possible reward (the reference gets 0.898 of the way), so
    there the reference is the ceiling.
    """
    ceiling = None if task.category == "prediction" else task.ceiling
    return replace(task, id=f"{task.category}-v{task.version + 1}", body=(), ceiling=ceiling)


def single_task(environment: str) -> Task:
    """The task that has one environment alone in the continual body: its anchors, what is learned from nothing."""
    return next(task for task in TASKS if task.id == f"{environment}-v1")


def probe_name(learned: str, tested: str) -> str:
    """Name of the phase in which a copy is tested on one environment after another was learned."""
    return f"{learned}>{tested}"


def _test(learned: str, tested: str, episodes: int) -> Phase:
    return Phase(probe_name(learned, tested), ENVIRONMENTS[tested][0], episodes, learns=False)


def continual_task(
    order: Sequence[str] = ORDER, episodes: Mapping[str, int] | None = None, probe_episodes: int = 0
) -> Task:
    """One brain through several environments; with probes a copy is tested on all of them after each.

    Args:
        order: Names of environments, each at most once.
        episodes: Other numbers of episodes, by environment.
        probe_episodes: Episodes of every test; 0 for none.
    """
    for name in [*order, *(episodes or {})]:
        if name not in ENVIRONMENTS:
            raise unknown_name("environment", name, ENVIRONMENTS)
    if len(order) < 2 or len(set(order)) < len(order):
        raise UsageError("A continual run needs at least two environments, each once.")
    lengths = {name: (episodes or {}).get(name, ENVIRONMENTS[name][1]) for name in order}
    for name, length in lengths.items():
        if length < 2:
            raise UsageError(f"episodes of {name} is {length}: give at least 2")
    phases: list[Phase] = []
    for name in order:
        phases.append(Phase(name, ENVIRONMENTS[name][0], episodes=lengths[name]))
        if probe_episodes:
            phases += [_test(name, tested, probe_episodes) for tested in order]
    changed = tuple(order) != ORDER or bool(episodes) or probe_episodes > 0
    return replace(_CONTINUAL, phases=tuple(phases), scored=order[0], episodes_override=int(changed))


_CONTINUAL = Task(
    "continual-v1",
    "one brain through six environments; `nematodebench continual BRAIN` scores it",
    tuple(Phase(name, world, episodes=episodes) for name, (world, episodes) in ENVIRONMENTS.items()),
    ORDER[0],
    DESCRIPTIVE,
    "",
    body=_BODY,
)

_SINGLES = (
    _single("navigation", "find food among dangers by eight rays", Navigation(), 20, None),
    _single("navigation_easy", "as navigation, more food, one mild danger", Navigation.easy(), 20, None),
    _single("navigation_hard", "as navigation on a larger grid with obstacles, less food", Navigation.hard(), 20, None),
    _single("pattern_memory", "recall five symbols of four in order", PatternMemory(), 30, 5.0),
    _single("pattern_memory_easy", "recall three symbols of two in order", PatternMemory.easy(), 30, 3.0),
    _single("pattern_memory_hard", "recall seven symbols of six in order", PatternMemory.hard(), 30, 7.0),
    _single("prediction", "predict the next value of a noisy sine", Prediction(), 15, 100.0),
    _single("association", "learn which of six answers belongs to which stimulus", Association(), 25, 50.0),
    _single("gridworld", "find one food after another on five by five cells", Gridworld(), 30, None),
    _single("realtime", "find food among dangers with eight moves and nothing but rays", Realtime(), 25, None),
)

_WIDE = Navigation(side=14, foods=6, dangers=1, danger_cost=0.3)

_THIRD = (
    _alone("navigation_easy-v3", "as navigation on a larger grid, more food, one mild danger", _WIDE, 100),
    _alone("gridworld-v3", "find one food after another on eight by eight cells", Gridworld(8, 200), 100),
)

TASKS = (*_SINGLES, _CONTINUAL, *(_with_own_body(task) for task in _SINGLES), *_THIRD)
