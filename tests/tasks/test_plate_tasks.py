"""Tasks on plates: what they fix, and that their lines are those of a ranked task."""

import pytest

from nematodebench.tasks.anchoring import load_anchors
from nematodebench.tasks.plate import TASKS
from nematodebench.tasks.ranked import MAX_BLIND, MAX_NULL, MIN_REFERENCE, lines_of

# budget, ticks of an episode, ticks that count, exact floor
TABLE = {
    "plate_chemotaxis-v1": (300_000, 600, 300, 0.0),
    "plate_aerotaxis-v1": (300_000, 600, 300, None),
    "plate_thermotaxis-v1": (500_000, 900, 400, 0.0),
}
# Found by an independent version: null, best blind policy.
INDEPENDENT = {"plate_chemotaxis-v1": (0, 0), "plate_aerotaxis-v1": (0.252, 0.377), "plate_thermotaxis-v1": (0, 0)}
every_task = pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)


def test_the_family_is_complete():
    assert [task.id for task in TASKS] == list(TABLE)


@every_task
def test_budget_horizon_window_and_floor(task):
    train, scored = task.phases
    assert (train.ticks, scored.world.ticks, scored.world.window, task.floor) == TABLE[task.id]
    assert (train.world, scored.episodes, task.score_key, task.ceiling) == (scored.world, 5, "index", 1.0)


@every_task
def test_chance_is_nothing_blindness_little_and_the_senses_are_enough(task):
    lines = lines_of(load_anchors(task))
    assert abs(lines.null) <= MAX_NULL
    assert lines.blind <= MAX_BLIND
    assert lines.reference >= MIN_REFERENCE
    assert lines.motionless <= 0.0


@every_task
def test_null_and_blind_are_near_what_an_independent_version_found(task):
    anchors, (null, blind) = load_anchors(task), INDEPENDENT[task.id]
    found = anchors.null or anchors.floor
    assert found.value == pytest.approx(null, abs=0.03)
    assert anchors.blind.value == pytest.approx(blind, abs=0.06)
