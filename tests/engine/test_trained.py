"""Trained brains: taken from a run, saved and loaded, they act, learn and remember with the same bits."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from brains_for_tests import Fine, GlobalRandom, HoldsAnIterator
from test_lanes import one_phase
from torch_policies import Ppo

import nematodebench as nb
from nematodebench.brains.registry import get_brain, list_brains
from nematodebench.engine.run import RunSpec, compile_for, execute, interface
from nematodebench.engine.trained import from_checkpoint, trained
from nematodebench.errors import UsageError
from nematodebench.kernels.abi import Outcome
from nematodebench.kernels.rng import STREAM_WORLD, set_stream
from nematodebench.records.checkpoint import Checkpoint, read_checkpoint
from nematodebench.tasks.registry import get_task
from nematodebench.worlds.arrays import WorldArrays
from nematodebench.worlds.swarm.torus import Torus
from nematodebench.worlds.worm.foraging import Foraging

TASK = get_task("foraging_small-v1").with_episodes(3)
BRAINS = ["mlp_ppo", "mlp_dqn", "q_table", "spiking_rstdp", "echo_state", "torch_reinforce"]


def spec(brain, task=TASK, seed=11):
    kind = get_brain(brain) if isinstance(brain, str) else brain
    compile_for(task, kind)
    config = kind.config() if hasattr(kind, "config") else {}
    return RunSpec(task, brain if isinstance(brain, str) else brain.__name__, kind, config, seed)


def played(brain, episodes=2, steps=150):
    """What a brain does with made-up experience, in which it learns."""
    generator, inputs = np.random.default_rng(5), len(brain.header.body.sensors)
    done = []
    for _ in range(episodes):
        seen = generator.random((steps + 1, inputs), dtype=np.float32)
        brain.begin_episode(seen[0])
        for n in range(steps):
            done.append(np.asarray(brain.act(seen[n])).tolist())
            ends = n == steps - 1
            brain.learn(nb.Transition(seen[n], done[-1], float(generator.normal()), seen[n + 1], ends, False))
    return done, brain.memory_hash()


@pytest.mark.parametrize("brain", [*BRAINS, Fine, GlobalRandom, Ppo])
def test_a_saved_and_loaded_brain_goes_on_with_the_same_bits(brain, tmp_path):
    asked = spec(brain)
    result, left = trained(asked)
    assert result.record_hash == execute(asked).record_hash
    assert left.memory_hash() == result.memory_hash
    path = left.save(tmp_path / "brain.safetensors")
    again = from_checkpoint(read_checkpoint(path), asked.brain, "brain")
    assert again.checkpoint().content == path.read_bytes()
    assert again.memory_hash() == result.memory_hash
    assert played(again) == played(left)


def test_a_brain_that_goes_on_does_what_the_run_would_have_done():
    """A run of four episodes is one of three, whose brain is given the fourth by hand."""
    world = Foraging()
    asked = spec("q_table", one_phase(world, episodes=3))
    _, left = trained(asked)
    _, longer = trained(replace(asked, task=one_phase(world, episodes=4)))
    arrays = WorldArrays(world)
    action, obs = np.zeros((1, 1), np.float32), np.zeros((1, interface(asked.task).inputs), np.float32)
    set_stream(arrays.rng[0], np.uint64(asked.seed), STREAM_WORLD, 3, 0)
    every = (arrays.params, arrays.states[0], arrays.rng[0], action, obs, arrays.outs[0])
    world.reset(*every)
    left.begin_episode(obs)
    outcome, over = Outcome(arrays.outs[0]), False
    while not over:
        before = obs[0].copy()
        action[0, 0] = left.act(before)
        world.step(*every)
        over = bool(outcome.terminated or outcome.truncated)
        left.learn(
            nb.Transition(before, 0, outcome.reward[0], obs[0], bool(outcome.terminated), bool(outcome.truncated))
        )
    assert left.memory_hash() == longer.memory_hash()
    assert left.header.episode == longer.header.episode == 4


def test_the_memory_has_names():
    _, left = trained(spec("q_table"))
    assert left.memory["table"].dtype == np.float32
    left.memory["table"][:] = 0  # a copy
    assert left.memory["table"].any()


def test_the_generators_of_the_user_stay_as_they_are():
    np.random.seed(3)
    wanted = np.random.random(4)
    np.random.seed(3)
    _, left = trained(spec(GlobalRandom))
    drawn = [np.random.random()]
    left.act(np.zeros(len(left.header.body.sensors)))
    drawn += [np.random.random() for _ in range(3)]
    assert drawn == wanted.tolist()


def test_a_library_that_a_brain_does_not_use_makes_no_difference(monkeypatch):
    """Torch may be imported where a brain is saved and not where it is loaded, or the other way round."""
    asked = spec(GlobalRandom)
    with_torch = trained(asked)[1].checkpoint()
    again = from_checkpoint(with_torch, GlobalRandom, "brain").checkpoint()
    monkeypatch.delitem(sys.modules, "torch")
    without = trained(asked)[1].checkpoint()
    assert with_torch.content == without.content == again.content


def test_what_cannot_be_saved_is_one_line_with_the_way_out(tmp_path):
    _, left = trained(spec(HoldsAnIterator))
    with pytest.raises(UsageError, match=r"'file' is a .*list_iterator, which is no data\. Give it the methods"):
        left.save(tmp_path / "brain")
    assert not list(tmp_path.iterdir())


def test_an_observation_of_another_size_is_refused():
    _, left = trained(spec("q_table"))
    with pytest.raises(UsageError, match="The observation has 99 numbers: brain 'q_table' senses"):
        left.act(np.zeros(99))


def test_agents_have_brains_of_their_own(tmp_path):
    task = one_phase(Torus(), ticks=60)
    asked = spec("mlp_reinforce", task)
    result, left = trained(asked)
    again = from_checkpoint(read_checkpoint(left.save(tmp_path / "brain")), asked.brain, "brain")
    assert again.header.agents == task.world.agents > 1
    assert again.memory_hash() == result.memory_hash
    names = {name: left.memory_of(0)[name].tobytes() != left.memory_of(1)[name].tobytes() for name in left.memory}
    assert any(names.values())


@pytest.mark.slow
@pytest.mark.parametrize("brain", [name for name in list_brains() if name not in BRAINS])
def test_every_brain_can_be_saved(brain, tmp_path):
    asked = spec(brain, TASK if brain != "plate_follower" else get_task("plate_chemotaxis_untrained-v1"))
    result, left = trained(asked)
    again = from_checkpoint(read_checkpoint(left.save(tmp_path / "brain")), asked.brain, "brain")
    assert again.memory_hash() == result.memory_hash
    assert played(again) == played(left)


def test_a_file_of_another_version_of_the_brain_does_not_fit():
    asked = spec("q_table")
    saved = trained(asked)[1].checkpoint()
    other = Checkpoint(saved.header, {f"{name}_": array for name, array in saved.arrays.items()})
    with pytest.raises(UsageError, match="does not fit the brain 'q_table' as it is here: its memory has"):
        from_checkpoint(other, asked.brain, "brain")


def test_a_file_brings_no_code(tmp_path):
    """A file that names a class of some module: nobody imports it unasked."""
    _, left = trained(spec(Fine))
    saved = left.checkpoint()
    marker = tmp_path / "imported"
    (tmp_path / "evil.py").write_text(f"open({str(marker)!r}, 'w')\nclass Evil: pass\n")
    named = saved.header.model_copy(update={"brain": f"{tmp_path}/evil.py:Evil"})
    Checkpoint(named, saved.arrays).write(tmp_path / "brain")
    with pytest.raises(UsageError, match="holds a brain from outside this package"):
        nb.load_brain(tmp_path / "brain")
    assert not marker.exists()


def test_a_loaded_brain_is_the_same_in_another_process(tmp_path):
    _, left = trained(spec("mlp_ppo"))
    path = left.save(tmp_path / "brain")
    code = f"import nematodebench as nb, json; print(json.dumps(nb.load_brain({str(path)!r}).memory_hash()))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path.cwd())
    assert json.loads(found.stdout) == left.memory_hash()
