"""A phase in segments: pauses come when they were asked for, and the run has the bits of one without any."""

import pytest
from test_lanes import Wanderer, one_phase

from nematodebench.brains.registry import get_brain
from nematodebench.engine.run import RunSpec, compile_for, execute
from nematodebench.engine.segments import Pause
from nematodebench.measures.anchored import ANCHORED
from nematodebench.tasks.base import Phase, Task
from nematodebench.worlds.swarm.torus import Torus
from nematodebench.worlds.worm.foraging import Foraging

WITH_PROBES = Task(
    "segments-v1",
    "for tests",
    (
        Phase("train", Foraging(), episodes=5),
        Phase("test", Foraging(), episodes=3, learns=False),
        Phase("more", Foraging(), ticks=300),
    ),
    "train",
    ANCHORED,
    "reward",
)
TASKS = {
    "episodes": one_phase(Foraging(), episodes=7),
    "ticks": one_phase(Foraging(), ticks=700),
    "agents": one_phase(Torus(), ticks=100),
    "probes": WITH_PROBES,
}


def spec(task, brain):
    kind = Wanderer if brain == "wanderer" else get_brain(brain)
    compile_for(task, kind)
    return RunSpec(task, brain, kind, {} if kind is Wanderer else kind.config(), 77)


def bits(result):
    assert result.failure is None, result.failure
    return result.record_hash, result.memory_hash, result.steps, result.descriptors


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("brain", ["mlp_ppo", "wanderer"])
def test_a_run_in_segments_has_the_bits_of_a_run_in_one(task, brain):
    asked = spec(TASKS[task], brain)
    whole = bits(execute(asked))
    for every in (1, 2, 7, 100):
        assert bits(execute(asked, pauses=[Pause(every, lambda segment: None)])) == whole


@pytest.mark.parametrize("brain", ["q_table", "wanderer"])
def test_everybody_is_called_after_as_many_episodes_as_they_asked_for_and_at_the_end(brain):
    twos, threes = [], []
    pauses = [
        Pause(2, lambda segment: twos.append((segment.first, len(segment.records), segment.last))),
        Pause(3, lambda segment: threes.append((segment.first, len(segment.records), segment.last))),
    ]
    execute(spec(TASKS["episodes"], brain), pauses=pauses)
    assert twos == [(0, 2, False), (2, 4, False), (4, 6, False), (6, 7, True)]
    assert threes == [(0, 3, False), (3, 6, False), (6, 7, True)]


@pytest.mark.parametrize("brain", ["q_table", "wanderer"])
def test_a_segment_holds_the_rows_that_are_recorded(brain):
    rows = {}

    def keep(segment):
        rows.setdefault(segment.phase.name, []).extend(segment.records[segment.first :].tolist())

    result = execute(spec(WITH_PROBES, brain), pauses=[Pause(2, keep)])
    assert rows == {name: matrix.tolist() for name, matrix in result.records.items()}


@pytest.mark.parametrize("brain", ["q_table", "wanderer"])
def test_a_pause_can_end_the_run(brain):
    def stop(segment):
        segment.control.stop = 1

    result = execute(spec(TASKS["episodes"], brain), pauses=[Pause(3, stop)])
    assert result.failure is not None
    assert "interrupted" in result.failure.message


def test_what_a_pause_raises_ends_the_run_as_a_failure():
    def fail(segment):
        raise ValueError("the disk is full")

    result = execute(spec(TASKS["episodes"], "q_table"), pauses=[Pause(3, fail)])
    assert result.failure is not None
    assert "the disk is full" in result.failure.message
