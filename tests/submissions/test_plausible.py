"""Episodes that really happened are plausible on every task, and invented ones are not."""

import math

import numpy as np
import pytest

from nematodebench.brains.registry import get_brain
from nematodebench.calibration.reference import reference_runs
from nematodebench.engine.run import RunSpec, compile_for, execute
from nematodebench.submissions.plausible import implausible
from nematodebench.tasks.registry import all_tasks, get_task
from nematodebench.worlds.ranges import Range, ranges_of

TASKS = sorted(all_tasks())
WORLDS = {phase.world.name: (task, phase) for task in map(get_task, TASKS) for phase in task.phases}


@pytest.mark.parametrize("name", WORLDS)
def test_every_metric_and_the_reward_of_every_world_have_a_range(name):
    world = WORLDS[name][1].world
    assert {*world.metrics, "reward"} <= set(ranges_of(world))


def honest(phase, steps=None):
    """An episode with the smallest values that are allowed."""
    ranges = ranges_of(phase.world)
    row = dict.fromkeys(phase.columns, 0.0)
    row |= {column: max(0.0, one.low) for column, one in ranges.items() if column in row}
    return row | {"steps": steps or phase.world.horizon, "terminated": 0.0, "truncated": 1.0}


def found(phase, row):
    return implausible(phase, [np.array([[row[column] for column in phase.columns]])])


def beyond(declared: Range, steps: float) -> float:
    return min(declared.high, declared.per_step * steps) + 1.0


@pytest.mark.parametrize(
    ("name", "column"),
    [(name, column) for name, (_, phase) in WORLDS.items() for column, one in ranges_of(phase.world).items()
     if min(one.high, one.per_step) < math.inf],
)  # fmt: skip
def test_a_value_that_no_episode_can_have_is_named(name, column):
    phase = WORLDS[name][1]
    row = honest(phase)
    assert found(phase, row) is None
    row[column] = beyond(ranges_of(phase.world)[column], row["steps"])
    assert f": {column} is" in found(phase, row)


def genuine(task, brain):
    if brain == "reference":
        return reference_runs(task, [3, 4], 1)
    kind = get_brain(brain)
    compile_for(task, kind)
    return [execute(RunSpec(task, brain, kind, kind.config(), seed)).records for seed in (3, 4)]


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in TASKS if not name.startswith(("foraging_large", "predator_large"))])
def test_what_happened_is_plausible(name):
    """The large worlds differ from the small ones in their size alone, and take longest."""
    full = get_task(name)
    task = full.with_episodes(3) if full.phases[0].episodes else full
    brains = ["null_random", "motionless", *(["reference"] if task.world.reference is not None else [])]
    for brain in brains:
        runs = genuine(task, brain)
        for phase in task.phases:
            rows = [run[phase.name] for run in runs if phase.name in run]
            assert implausible(phase, rows) is None, brain
