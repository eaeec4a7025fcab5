"""A world may learn to record more: what was stored before is measured and hashed with the columns it has."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

from nematodebench.brains.registry import get_brain
from nematodebench.engine.run import RunSpec, execute, record_hash
from nematodebench.errors import UsageError
from nematodebench.sessions.rerun import with_columns_of
from nematodebench.tasks.base import Phase, Task
from nematodebench.tasks.registry import get_task
from nematodebench.worlds.worm.foraging import Foraging

TASK = get_task("foraging_small-v1").with_episodes(5)
OLD = {phase.name: phase.columns for phase in TASK.phases}


@dataclass(frozen=True)
class Grown(Foraging):
    """Records one metric more, between those it had."""

    name: ClassVar[str] = "foraging"
    metrics: ClassVar[tuple[str, ...]] = ("success", "foods", "hurry", "travelled", "optimal", "satiety", "termination")


GROWN: Task = replace(TASK, phases=(Phase("train", Grown(), episodes=5), TASK.phases[1]))


@pytest.fixture(scope="module")
def stored() -> dict[str, np.ndarray]:
    brain = get_brain("null_random")
    return execute(RunSpec(TASK, "null_random", brain, brain.config(), 7)).records


def grown(records: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The same run as the grown world records it."""
    return {**records, "train": np.insert(records["train"], 6, 0.5, axis=1)}


def test_the_hash_of_stored_records_can_still_be_computed(stored: dict[str, np.ndarray]) -> None:
    assert GROWN.phases[0].columns != TASK.phases[0].columns
    assert record_hash(GROWN.as_recorded(OLD), stored) == record_hash(TASK, stored)


def test_stored_records_measure_what_they_did(stored: dict[str, np.ndarray]) -> None:
    assert GROWN.as_recorded(OLD).measure([stored]) == TASK.measure([stored])


def test_a_run_of_today_is_compared_on_the_columns_that_were_recorded(stored: dict[str, np.ndarray]) -> None:
    recorded, today = GROWN.as_recorded(OLD), grown(stored)
    assert GROWN.phases[0].columns.index("hurry") == 6
    brain = get_brain("null_random")
    result = replace(execute(RunSpec(TASK, "null_random", brain, brain.config(), 7)), records=today, record_hash="")
    compared = with_columns_of(recorded, result, GROWN)
    assert compared.record_hash == record_hash(TASK, stored)
    assert with_columns_of(GROWN, result, GROWN) is result


def test_records_of_today_need_no_selection() -> None:
    assert TASK.as_recorded(OLD) == TASK
    assert TASK.as_recorded({}) == TASK


def test_recorded_columns_are_no_part_of_the_specification() -> None:
    assert GROWN.as_recorded(OLD).spec() == GROWN.spec() == TASK.spec()


@pytest.mark.parametrize("columns", [("reward", "charm"), ("reward", "reward")])
def test_columns_that_the_world_does_not_record_are_refused(columns: tuple[str, ...]) -> None:
    with pytest.raises(UsageError, match="does not record"):
        TASK.as_recorded({"train": columns})


def test_a_column_that_the_score_needs_must_be_there(stored: dict[str, np.ndarray]) -> None:
    some = TASK.as_recorded({"train": ["reward", "steps", "terminated", "truncated", "foods"]})
    with pytest.raises(UsageError, match="do not record 'success', which the score needs"):
        some.measure([some.selected(stored, TASK)])
