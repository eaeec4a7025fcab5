"""Continual tasks: they have one body, padding that does nothing, and anchors where they belong."""

from typing import ClassVar

import numpy as np
import pytest

from nematodebench.brains.base import NoConfig
from nematodebench.brains.registry import get_brain
from nematodebench.engine.run import RunSpec, compile_for, execute, interface
from nematodebench.engine.seeds import run_seed
from nematodebench.errors import UsageError
from nematodebench.scoring import THRESHOLD_SHARES, AnchorKind, success_threshold
from nematodebench.tasks.anchoring import load_anchors
from nematodebench.tasks.continual import ENVIRONMENTS, ORDER, TASKS, continual_task, single_task
from nematodebench.tasks.registry import get_task

SINGLES = [task for task in TASKS if task.scoring.has_score]
PADDED = [task for task in TASKS if task.version == 1]
every_single = pytest.mark.parametrize("task", SINGLES, ids=lambda task: task.id)


@pytest.mark.parametrize("task", PADDED, ids=lambda task: task.id)
def test_every_first_version_has_the_widest_body(task):
    body = interface(task)
    assert (body.inputs, body.choices, body.effectors) == (28, 10, 0)
    assert len(task.inputs) == 28


def test_the_body_covers_the_range_of_every_world():
    body = interface(get_task("navigation-v1"))
    for world, _ in ENVIRONMENTS.values():
        for n, sensor in enumerate(world.sensors):
            assert body.low[n] <= sensor.low
            assert body.high[n] >= sensor.high


def test_episodes_of_a_continual_run():
    phases = get_task("continual-v1").phases
    assert [(phase.name, phase.episodes) for phase in phases] == [
        ("navigation", 20), ("pattern_memory", 30), ("prediction", 15), ("association", 25), ("gridworld", 30),
        ("realtime", 25),
    ]  # fmt: skip


def test_the_width_of_the_body_is_part_of_the_specification():
    assert get_task("gridworld-v1").spec()["body"] == {"inputs": 28, "actions": 10}


@every_single
def test_ceilings_are_analytic_only_where_a_true_maximum_exists(task):
    exact = task.id.startswith(("pattern_memory", "prediction-v1", "association"))
    anchors = load_anchors(task)
    assert anchors.ceiling.kind == (AnchorKind.ANALYTIC if exact else AnchorKind.REFERENCE_MEASURED)
    assert anchors.floor.kind == AnchorKind.NULL_MEASURED


@pytest.mark.parametrize(
    ("name", "null", "reference"),
    [
        ("navigation", -2.71, 47.6), ("pattern_memory", -0.85, 5.0), ("prediction", 36.8, None),
        ("association", -1.75, 50.0), ("gridworld", -0.90, 32.4), ("realtime", -2.6, 57.2),
    ],
)  # fmt: skip
def test_anchors_are_near_those_of_an_independent_port(name, null, reference):
    anchors = load_anchors(single_task(name))
    assert anchors.floor.value == pytest.approx(null, abs=0.2)
    assert reference is None or anchors.reference.value == pytest.approx(reference, abs=0.5)


@pytest.mark.parametrize("name", ORDER)
def test_the_null_passes_no_threshold(name):
    task, anchors = single_task(name).with_episodes(100), load_anchors(single_task(name))
    brain = get_brain("null_random")
    compile_for(task, brain)
    rewards = execute(RunSpec(task, "null_random", brain, NoConfig(), run_seed(5, 0))).records["train"][:, 0]
    limit = success_threshold(anchors.floor, anchors.ceiling, THRESHOLD_SHARES[name])
    assert (rewards >= limit).mean() <= (0.05 if name == "pattern_memory" else 0.0)


class Watcher:
    """Always takes the action it is told to, and keeps what it saw."""

    kind = "scripted"
    action = 9
    seen: ClassVar[list] = []

    def __init__(self, observation_space, action_space, config, seed):
        self.space = observation_space

    def begin_episode(self):
        pass

    def act(self, observation):
        assert self.space.contains(observation)
        Watcher.seen.append(observation)
        return self.action

    def learn(self, transition):
        pass


def test_inputs_beyond_a_worlds_own_are_0_also_after_a_wider_world():
    Watcher.seen = []
    task = continual_task(("navigation", "gridworld"), {"navigation": 2, "gridworld": 2})
    assert execute(RunSpec(task, "watcher", Watcher, {}, 1)).failure is None
    wide, narrow = np.array(Watcher.seen[:400]), np.array(Watcher.seen[400:])
    assert wide[:, 4:].any()
    assert narrow.shape == (220, 28)
    assert narrow[:, :4].any()
    assert not narrow[:, 4:].any()


def test_a_surplus_action_moves_nothing():
    Watcher.seen = []
    execute(RunSpec(continual_task(("gridworld", "realtime"), {"gridworld": 2, "realtime": 2}), "w", Watcher, {}, 1))
    grid, realtime = np.array(Watcher.seen[:110]), np.array(Watcher.seen[220:440])
    assert (grid == grid[0]).all()
    assert (realtime == realtime[0]).all()


@pytest.mark.parametrize(
    ("order", "episodes", "message"),
    [
        (("navigation", "gridwold"), {}, "Did you mean 'gridworld'"),
        (("navigation",), {}, "at least two environments"),
        (("navigation", "navigation"), {}, "each once"),
        (("navigation", "realtime"), {"navigation": 1}, "episodes of navigation is 1"),
        (("navigation", "realtime"), {"maze": 4}, "'maze' does not exist"),
    ],
)
def test_impossible_sequences_are_refused(order, episodes, message):
    with pytest.raises(UsageError, match=message):
        continual_task(order, episodes)
