"""Algorithms of stable-baselines3 as brains: their own training, bit for bit, in our run loop."""

import pickle

import numpy as np
import pytest
import torch

import nematodebench as nb
from nematodebench.adapters.sb3_brain import SB3Brain
from nematodebench.engine.python_brain import Transition, seed_everything, spaces_of
from nematodebench.engine.python_restore import restore
from nematodebench.engine.python_state import collect
from nematodebench.engine.run import interface
from nematodebench.errors import UsageError
from nematodebench.interop.env import NematodeEnv
from nematodebench.sessions.config import SessionConfig
from nematodebench.sessions.execution import run_plan
from nematodebench.sessions.plan import make_plan
from nematodebench.tasks.registry import get_task

stable_baselines3 = pytest.importorskip("stable_baselines3")
PPO, A2C, DQN, SAC = (getattr(stable_baselines3, name) for name in ("PPO", "A2C", "DQN", "SAC"))
TASK, EFFECTORS = "foraging_small-v2", "wall-v2"
SETTINGS = {
    "PPO": {"n_steps": 32, "batch_size": 16, "n_epochs": 2},
    "A2C": {"n_steps": 8},
    "DQN": {"buffer_size": 500, "learning_starts": 20, "train_freq": 4, "batch_size": 8, "target_update_interval": 40},
    "SAC": {"buffer_size": 500, "learning_starts": 20, "batch_size": 8, "train_freq": (4, "step")},
}
SAME = [("PPO", TASK), ("PPO", EFFECTORS), ("A2C", TASK), ("DQN", TASK), ("SAC", EFFECTORS)]


def parameters(model):
    return {name: value.clone() for name, value in model.policy.state_dict().items()}


def trained_by_the_library(algorithm, task, steps):
    seed_everything(7)
    model = algorithm("MlpPolicy", NematodeEnv(task), seed=7, device="cpu", **SETTINGS[algorithm.__name__])
    before = parameters(model)
    return before, parameters(model.learn(steps))


def trained_by_us(algorithm, task, steps):
    """The brain drives the same environment as the library's own loop: the first seed, then reset after reset."""
    env = NematodeEnv(task)
    brain_class = nb.adapters.sb3(algorithm, **SETTINGS[algorithm.__name__])
    seed_everything(7)
    brain = brain_class(env.observation_space, env.action_space, brain_class.config(total_timesteps=steps), 7)
    observation, _ = env.reset(seed=7)
    for _ in range(steps):
        action = brain.act(observation)
        following, reward, terminated, truncated, _ = env.step(action)
        brain.learn(Transition(observation, action, float(reward), following, terminated, truncated))
        observation = env.reset()[0] if terminated or truncated else following
    return parameters(brain.model)


@pytest.mark.parametrize(("name", "task"), SAME)
def test_the_parameters_are_those_of_the_librarys_own_loop(name, task):
    algorithm = getattr(stable_baselines3, name)
    before, wanted = trained_by_the_library(algorithm, task, 640)
    found = trained_by_us(algorithm, task, 640)
    assert any(not torch.equal(before[key], wanted[key]) for key in wanted)
    for key, value in wanted.items():
        assert torch.equal(value, found[key]), key


def session(brain, task=TASK, seed=1, **config):
    from nematodebench.brains.registry import name_of

    given = SessionConfig(task=task, brain=name_of(brain), config=config, runs=2, episodes=2, seed=seed)
    done = run_plan(make_plan(given, workers=1, executor="threads"))
    assert not done.failed_runs, done.failed_runs[0].failure
    return done


def bits(done):
    return [(run.record_hash, run.memory_hash) for run in done.runs]


@pytest.mark.parametrize("name", ["PPO", "DQN"])
def test_the_same_seed_gives_the_same_bits(name):
    brain = nb.adapters.sb3(getattr(stable_baselines3, name), **SETTINGS[name])
    first = bits(session(brain))
    assert first == bits(session(brain))
    assert first[0] != first[1]
    assert first != bits(session(brain, seed=2))


def test_an_algorithm_as_it_comes_is_found_by_its_name_and_by_other_processes():
    assert nb.adapters.sb3(PPO) is nb.adapters.PPO
    given = {"n_steps": 64, "batch_size": 32}
    named = nb.run(TASK, "nematodebench.adapters:PPO", runs=2, episodes=2, seed=1, config=given, workers=1)
    assert named.plan.executor == "processes"
    assert bits(named) == bits(session(nb.adapters.sb3(PPO), **given))


def test_effectors_may_be_levels():
    made = nb.adapters.sb3(PPO, levels=3)
    spaces = spaces_of(interface(get_task(EFFECTORS)))
    brain = made(*spaces, made.config(), 1)
    seen = {tuple(brain.act(np.array([x, 0.5], dtype=np.float32)).tolist()) for x in np.linspace(0, 1, 200)}
    assert len(seen) == 9
    assert {value for action in seen for value in action} == {0.0, 0.5, 1.0}


def test_the_twin_that_never_learns_does_not_explore_either():
    brain = nb.adapters.sb3(DQN)
    config = brain.without_learning(brain.config())
    assert (config.learning_starts, config.exploration_initial_eps) == (0, brain.config().exploration_final_eps)
    assert brain.without_learning(brain.config()).exploration_final_eps == 0.05


def test_settings_are_defaults_of_the_config():
    brain = nb.adapters.sb3(PPO, n_steps=128, learning_rate=1, policy_kwargs={"net_arch": [8]})
    fields = brain.config.model_fields
    assert (fields["n_steps"].default, fields["learning_rate"].default) == (128, 1)
    assert fields["learning_rate"].annotation is float
    assert brain.settings == {"policy_kwargs": {"net_arch": [8]}}
    assert not {"seed", "device", "use_sde", "policy_kwargs", "rollout_buffer_class"} & set(fields)
    config = brain.config(n_steps=32)
    assert pickle.loads(pickle.dumps(config)).model_dump() == config.model_dump()


class Named(SB3Brain):
    """A subclass in a module: other processes import it."""

    algorithm = PPO
    config = nb.adapters.sb3(PPO).config


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (lambda: nb.adapters.sb3(PPO, n_stepps=3), "PPO has no parameter 'n_stepps'. Did you mean 'n_steps'"),
        (lambda: nb.adapters.sb3(PPO, seed=3), "seed of PPO is decided by the run loop: leave it out"),
        (lambda: nb.adapters.sb3(dict), "is no algorithm of stable-baselines3: give a class like PPO"),
        (lambda: nb.run(EFFECTORS, nb.adapters.sb3(DQN), runs=1), "cannot run on wall-v2: DQN: The algorithm only"),
        (lambda: nb.run(TASK, nb.adapters.sb3(SAC), runs=1), "cannot run on foraging_small-v2: SAC"),
        (lambda: nb.run(TASK, nb.adapters.sb3(PPO), runs=1, config={"levels": 3}), "levels are for effectors"),
        (lambda: nb.run(TASK, nb.adapters.sb3(PPO), runs=1, config={"lr": 3}), "has no parameter 'lr'"),
    ],
)
def test_mistakes_are_one_line(action, message):
    with pytest.raises(UsageError) as error:
        action()
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_the_check_of_a_body_leaves_the_generators_of_the_user_alone():
    given = SessionConfig(task=TASK, brain="nematodebench.adapters:PPO", runs=1)
    before = np.random.get_state()[1].tolist(), torch.get_rng_state().tolist()
    make_plan(given, workers=1, executor="threads")
    assert (np.random.get_state()[1].tolist(), torch.get_rng_state().tolist()) == before


def test_a_named_subclass_is_a_brain():
    assert len(bits(session(Named, n_steps=64, batch_size=32))) == 2


@pytest.mark.parametrize(("name", "task"), SAME)
def test_a_saved_brain_acts_and_learns_as_the_one_that_was_saved(name, task):
    """Networks, optimisers, a buffer that is partly filled, counters and the numbers that actions are drawn from."""
    made = nb.adapters.sb3(getattr(stable_baselines3, name), **SETTINGS[name])
    env = NematodeEnv(task)

    def lived(brain, steps):
        observation, done = env.reset(seed=3)[0], []
        brain.begin_episode()
        for _ in range(steps):
            action = brain.act(observation)
            following, reward, terminated, truncated, _ = env.step(action)
            brain.learn(Transition(observation, action, float(reward), following, terminated, truncated))
            done.append(np.asarray(action).tolist())
            observation = following
            if terminated or truncated:
                observation = env.reset()[0]
                brain.begin_episode()
        return done

    spaces = spaces_of(interface(get_task(task)), 7)
    seed_everything(7)
    brain = made(*spaces, made.config(), 7)
    lived(brain, 75)
    state = collect(brain)
    twin = made(*spaces_of(interface(get_task(task)), 7), made.config(), 7)
    restore(twin, state)
    seed_everything(8)
    wanted = lived(brain, 150)
    seed_everything(8)
    assert lived(twin, 150) == wanted
    assert brain.memory() == twin.memory()
    other = made(*spaces_of(interface(get_task(task)), 9), made.config(), 9)
    before = other.model.action_space.np_random.bit_generator.state
    restore(other, state)
    assert other.model.action_space.np_random.bit_generator.state == before


@pytest.mark.slow
def test_the_brain_of_a_run_is_saved_loaded_and_trained_further(tmp_path):
    done = nb.run(TASK, "nematodebench.adapters:A2C", runs=1, episodes=2, seed=1, config={"n_steps": 8}, workers=1)
    done.runs[0].brain().save(tmp_path / "a2c.safetensors")
    again = nb.load_brain(tmp_path / "a2c.safetensors", brain="nematodebench.adapters:A2C")
    assert nb.run(TASK, again, runs=1, episodes=2, seed=2, workers=1).runs[0].failure is None
