"""Runs side by side: a Python brain goes through the very episodes that the run loop would have taken it through."""

import numpy as np
import pytest

from nematodebench.engine import loop
from nematodebench.engine.python_brain import PythonBrains
from nematodebench.engine.run import RunSpec, compile_for, execute, interface
from nematodebench.engine.seeds import brain_seed
from nematodebench.kernels.rng import RNG_WORDS
from nematodebench.measures.anchored import ANCHORED
from nematodebench.tasks.base import Phase, Task
from nematodebench.worlds.arrays import WorldArrays
from nematodebench.worlds.swarm.torus import Torus
from nematodebench.worlds.worm.foraging import Foraging

SEED = 2**63 + 5


class Wanderer:
    """Acts at random, and remembers all that it was told."""

    def __init__(self, observation_space, action_space, config, seed):
        self.generator = np.random.default_rng(seed)
        self.space, self.told = action_space, []

    def begin_episode(self):
        self.told.append(b"begin")

    def act(self, observation):
        n = getattr(self.space, "n", 0)
        return int(self.generator.integers(n)) if n else self.generator.random(self.space.shape[0])

    def learn(self, step):
        told = (step.observation, step.action, step.reward, step.next_observation, step.terminated, step.truncated)
        self.told += [np.asarray(part).tobytes() for part in told]

    def memory(self):
        return b"".join(self.told)


def one_phase(world, **length):
    return Task("lanes-v1", "for tests", (Phase("train", world, **length),), "train", ANCHORED, "reward")


def interpreted(task):
    """The records and the memory that the run loop itself brings."""
    phase, body = task.phases[0], interface(task)
    world, arrays, agents = phase.world, WorldArrays(phase.world), phase.world.agents
    brains = PythonBrains(Wanderer, {}, body, brain_seed(SEED), agents, learning=True)
    words, control = (np.zeros(block.count(), dtype=np.int64) for block in (loop.Plan, loop.Control))
    plan = loop.Plan(words)
    plan.episodes, plan.ticks, plan.choices = phase.episodes, phase.ticks, body.choices
    records = np.empty((phase.episodes or phase.ticks, len(phase.columns)))
    code = loop.plain_run_phase()(
        world.reset, world.step, world.step, *brains.functions, arrays.params, arrays.states[0], arrays.rng[0],
        arrays.action[0], arrays.obs[0], arrays.outs[0], brains.hyper, brains.ints, brains.mem,
        np.zeros((agents, RNG_WORDS), np.uint64), brains.out, np.uint64(SEED), np.uint64(brain_seed(SEED)), words,
        control, records,
    )  # fmt: skip
    return records[:code], brains.memory_hash()


@pytest.mark.parametrize(
    "task",
    [one_phase(Foraging(), episodes=2), one_phase(Foraging(), ticks=333), one_phase(Torus(), ticks=60)],
    ids=["episodes", "ticks", "agents"],
)
def test_a_python_brain_meets_what_the_run_loop_shows(task):
    compile_for(task, Wanderer)
    result = execute(RunSpec(task, "wanderer", Wanderer, {}, SEED))
    records, memory = interpreted(task)
    assert result.failure is None
    assert result.records["train"].tobytes() == records.tobytes()
    assert result.memory_hash == memory
    assert result.steps == records[:, 1].sum()
