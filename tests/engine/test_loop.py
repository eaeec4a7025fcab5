"""The run loop: compiled and interpreted alike, budgets, illegal actions, streams of agents and worlds."""

from dataclasses import replace

import numpy as np
import pytest

from nematodebench.brains.base import CompiledBrain
from nematodebench.brains.registry import get_brain
from nematodebench.engine import loop
from nematodebench.engine.run import RunSpec, compile_for, execute, interface
from nematodebench.engine.seeds import brain_seed
from nematodebench.interop.env import NematodeEnv
from nematodebench.kernels.abi import BrainMemory, Feedback
from nematodebench.kernels.memory import constant, counter, floats, size
from nematodebench.kernels.rng import RNG_WORDS, STREAM_BRAIN, STREAM_EXPLORATION, randint, set_stream, uniform
from nematodebench.measures.anchored import ANCHORED
from nematodebench.tasks.base import Phase, Task
from nematodebench.tasks.registry import get_task
from nematodebench.worlds.arrays import WorldArrays
from nematodebench.worlds.swarm.torus import Torus
from nematodebench.worlds.worm.foraging import Foraging

SEED = 2**63 + 5


class RecordingMemory(BrainMemory):
    choices = size()
    drawn = counter()
    numbers = floats(4096)


@RecordingMemory.kernel
def recording_act(brain, rng, action):
    """Acts at random and keeps every number it drew."""
    for n in range(action.size):
        drawn = np.float32(uniform(rng))
        brain.numbers[brain.drawn % brain.numbers.size] = drawn
        brain.drawn += 1
        action[n] = np.floor(drawn * np.float32(brain.choices)) if brain.choices > 0 else drawn


class StumblingMemory(BrainMemory):
    wanted = constant()
    at_step = size()
    steps = counter()


@StumblingMemory.kernel
def stumbling_act(brain, action):
    """Does what is wanted at one step, and 0 otherwise."""
    action[0] = np.float32(brain.wanted if brain.steps == brain.at_step else 0.0)
    brain.steps += 1


class Recording(CompiledBrain):
    name = "recording"
    kind = "scripted"
    memory = RecordingMemory
    act = staticmethod(recording_act)


class Stumbling(CompiledBrain):
    name = "stumbling"
    kind = "scripted"
    memory = StumblingMemory
    act = staticmethod(stumbling_act)
    at_step, wanted = 7, 0.0

    @classmethod
    def sizes(cls, config, body):
        return {"wanted": cls.wanted, "at_step": cls.at_step}


def one_phase(world, **length):
    return Task("loop-v1", "for tests", (Phase("train", world, **length),), "train", ANCHORED, "reward")


class Arguments:
    """The loop's arguments, spelled out; ``run`` gives its code, ``records`` what it wrote."""

    def __init__(self, task, brain, seed=SEED, **config):
        compile_for(task, brain)
        phase, body = task.phases[0], interface(task)
        world, agents, arrays = phase.world, phase.world.agents, WorldArrays(phase.world)
        layout = brain.layout(brain.config(**config), body)
        self.ints = np.tile(layout.ints, (agents, 1))
        self.mem = np.zeros((agents, max(1, layout.memory)), np.float32)
        self.brains = [brain.memory(layout.hyper, *own) for own in zip(self.ints, self.mem, strict=True)]
        control, plan = (np.zeros(block.count(), np.int64) for block in (loop.Control, loop.Plan))
        self.control, self.plan = loop.Control(control), loop.Plan(plan)
        self.plan.episodes, self.plan.ticks, self.plan.choices = phase.episodes, phase.ticks, body.choices
        self.records = np.full((phase.episodes or phase.ticks, len(phase.columns)), np.nan)
        rng, brain_out = np.zeros((agents, RNG_WORDS), np.uint64), np.zeros((agents, Feedback.count()))
        obs, action = np.zeros((agents, body.inputs), np.float32), np.zeros((agents, body.action_width), np.float32)
        for a in range(agents):
            set_stream(rng[a], np.uint64(seed), STREAM_BRAIN, 0, a)
            row = slice(a, a + 1)
            brain.init(layout.hyper, self.ints[a], self.mem[a], rng[a], obs[row], action[row], brain_out[a])
        self._arguments = (
            world.reset, world.step, world.reference or world.step, brain.begin_episode, brain.act, brain.learn,
            arrays.params, arrays.states[0], arrays.rng[0], action, obs, arrays.outs[0], layout.hyper, self.ints,
            self.mem, rng, brain_out, np.uint64(seed), np.uint64(seed), plan, control, self.records,
        )  # fmt: skip

    def run(self, run_phase):
        return run_phase(*self._arguments)

    def controls(self):
        return {name: getattr(self.control, name) for name in loop.Control.fields}


def executed(task, brain, seed=SEED, **config):
    compile_for(task, brain)
    return execute(RunSpec(task, brain.name, brain, brain.config(**config), seed))


@pytest.mark.parametrize(
    ("task", "brain", "config"),
    [
        (one_phase(Foraging(), episodes=4), "null_random", {}),
        (one_phase(Foraging(), episodes=3), "mlp_ppo", {"hidden": [8], "rollout": 64, "minibatch": 32}),
        (one_phase(Foraging(), ticks=777), "gradient_follower", {}),
        (one_phase(Torus(), ticks=150), "null_random", {}),
    ],
)
def test_the_interpreted_loop_does_the_same(task, brain, config):
    compiled, plain = (Arguments(task, get_brain(brain), **config) for _ in range(2))
    assert compiled.run(loop.compiled_run_phase()) == plain.run(loop.plain_run_phase()) > 0
    assert compiled.records.tobytes() == plain.records.tobytes()
    assert compiled.mem.tobytes() == plain.mem.tobytes()
    assert compiled.ints.tobytes() == plain.ints.tobytes()
    assert compiled.controls() == plain.controls()
    assert compiled.control.steps_done > 0


@pytest.mark.parametrize("ticks", [1, 50, 1000])
def test_a_budget_of_ticks_is_used_exactly(ticks):
    task = one_phase(Foraging(), ticks=ticks)
    result = executed(task, get_brain("null_random"))
    rows = result.records["train"]
    steps, terminated, truncated = rows[:, 1], rows[:, 2], rows[:, 3]
    assert task.phases[0].columns[1:4] == ("steps", "terminated", "truncated")
    assert steps.sum() == result.steps == ticks
    assert ((terminated + truncated) == 1.0).all()


def test_a_budget_cuts_the_last_episode_as_truncated():
    whole = executed(one_phase(Foraging(), episodes=3), get_brain("null_random")).records["train"]
    lengths = whole[:, 1]
    cut = executed(one_phase(Foraging(), ticks=int(lengths.sum()) - 1), get_brain("null_random")).records["train"]
    assert cut.shape[0] == 3
    assert cut[:2].tobytes() == whole[:2].tobytes()
    assert (cut[2, 1], cut[2, 2], cut[2, 3]) == (lengths[2] - 1, 0.0, 1.0)


def test_a_budget_that_ends_with_an_episode_leaves_it_as_it_was():
    whole = executed(one_phase(Foraging(), episodes=3), get_brain("null_random")).records["train"]
    exact = executed(one_phase(Foraging(), ticks=int(whole[:, 1].sum())), get_brain("null_random")).records["train"]
    assert exact.tobytes() == whole.tobytes()


@pytest.mark.parametrize("action", [-1.0, 4.0, 0.5, np.nan, np.inf, -np.inf])
def test_an_illegal_choice_ends_the_run_with_its_place(action):
    brain = type("Stumbles", (Stumbling,), {"wanted": action})
    arguments = Arguments(one_phase(Foraging(), episodes=5), brain)
    assert arguments.run(loop.compiled_run_phase()) == loop.ILLEGAL_ACTION
    assert (arguments.control.at_episode, arguments.control.at_step) == (0, 7)


@pytest.mark.parametrize("action", [-0.001, 1.001, np.nan, np.inf])
def test_an_illegal_effector_ends_the_run_with_its_place(action):
    brain = type("Stumbles", (Stumbling,), {"wanted": action, "at_step": 0})
    arguments = Arguments(one_phase(Torus(), episodes=1), brain)
    assert arguments.run(loop.compiled_run_phase()) == loop.ILLEGAL_ACTION
    assert (arguments.control.at_episode, arguments.control.at_step) == (0, 0)


@pytest.mark.parametrize("action", [0.0, 1.0, 2.0, 3.0])
def test_every_choice_of_the_body_is_legal(action):
    brain = type("Acts", (Stumbling,), {"wanted": action})
    assert Arguments(one_phase(Foraging(), episodes=2), brain).run(loop.compiled_run_phase()) == 2


def test_a_run_that_is_told_to_stop_ends_inside_its_episode():
    arguments = Arguments(one_phase(Foraging(), episodes=100), get_brain("null_random"))
    arguments.control.stop = loop.STOP
    assert arguments.run(loop.compiled_run_phase()) == loop.CANCELLED
    assert (arguments.control.at_episode, arguments.control.at_step) == (0, 1)
    assert np.isnan(arguments.records).all()


def test_agents_have_streams_of_their_own():
    arguments = Arguments(one_phase(Torus(), ticks=100), Recording)
    assert arguments.run(loop.compiled_run_phase()) == 1
    drawn = np.array([brain.numbers[: brain.drawn] for brain in arguments.brains])
    assert drawn.shape == (8, 300)
    assert np.unique(drawn[:, :8], axis=0).shape[0] == 8
    between = np.corrcoef(drawn) - np.eye(8)
    assert np.abs(between).max() < 5 / np.sqrt(300)


def test_an_agents_stream_does_not_depend_on_how_many_there_are():
    few, many = (Arguments(one_phase(replace(Torus(), n_agents=n), ticks=20), Recording) for n in (2, 8))
    for arguments in (few, many):
        arguments.run(loop.compiled_run_phase())
    for one, other in zip(few.brains, many.brains[:2], strict=True):
        assert one.drawn == other.drawn == 60
        assert one.numbers.tobytes() == other.numbers.tobytes()


@pytest.mark.parametrize("task", ["foraging_small-v1", "predator_small-v1", "cartpole-v1"])
def test_a_runs_world_is_the_gymnasium_environment_with_the_runs_seed(task):
    """The same actions bring the same episodes."""
    world = get_task(task).world
    phase = one_phase(world, episodes=3)
    rewards, steps, metrics = _replayed(world, phase)
    records = executed(phase, get_brain("null_random")).records["train"]
    np.testing.assert_array_equal(records[:, 0], rewards)
    np.testing.assert_array_equal(records[:, 1], steps)
    np.testing.assert_array_equal(records[:, 4:], metrics)


def _replayed(world, task):
    """The null brain's own draws, by the same streams, played in the environment."""
    env, rng = NematodeEnv(world), np.zeros(RNG_WORDS, np.uint64)
    rows = []
    for episode in range(task.phases[0].episodes):
        env.reset(seed=SEED if episode == 0 else None)
        set_stream(rng, np.uint64(brain_seed(SEED)), STREAM_EXPLORATION, episode, 0)
        total, steps, ended, info = 0.0, 0, False, {}
        while not ended:
            if env.action_space.shape:
                action = np.array([uniform(rng) for _ in range(env.action_space.shape[0])], np.float32)
            else:
                action = int(randint(rng, env.action_space.n))
            _, reward, terminated, truncated, info = env.step(action)
            total, steps, ended = total + reward, steps + 1, terminated or truncated
        rows.append((total, steps, [info[name] for name in world.metrics]))
    return ([row[n] for row in rows] for n in range(3))
