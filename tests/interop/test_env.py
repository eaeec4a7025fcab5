"""The scalar Gymnasium environment."""

import sys
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.utils.env_match import check_environments_match
from stable_baselines3.common.env_checker import check_env as sb3_check_env

from nematodebench.errors import UsageError
from nematodebench.interop.env import NematodeEnv
from nematodebench.kernels.abi import WORLD
from nematodebench.kernels.jit import first_class
from nematodebench.kernels.rng import RNG_WORDS, STREAM_WORLD, set_stream
from nematodebench.tasks.registry import all_tasks
from nematodebench.worlds.arrays import WorldArrays
from nematodebench.worlds.worm.foraging import Foraging

SINGLE = sorted(name for name, task in all_tasks().items() if task.world.agents == 1)
MANY = sorted(name for name, task in all_tasks().items() if task.world.agents > 1)


def spec_of(name):
    """As ``register_all`` registers it, for tasks whose anchors are not measured yet, too."""
    return gymnasium.envs.registration.EnvSpec(
        f"nematodebench/{name}", entry_point="nematodebench.interop.env:NematodeEnv", kwargs={"task": name}
    )


@pytest.mark.parametrize("name", SINGLE)
def test_gymnasium_has_nothing_to_say_against_it(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gymnasium.make(spec_of(name)).unwrapped)


@pytest.mark.parametrize("name", SINGLE)
def test_stable_baselines3_has_nothing_to_say_against_it(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        if all_tasks()[name].world.actions.__class__.__name__ == "Effectors":
            # It would like actions in [-1, 1]; effectors are in [0, 1] by definition.
            warnings.filterwarnings("ignore", message=".*symmetric and normalized.*")
        sb3_check_env(NematodeEnv(name))


@pytest.mark.parametrize("name", SINGLE)
def test_observations_stay_in_the_space(name):
    env = NematodeEnv(name)
    env.action_space.seed(1)
    env.reset(seed=1)
    for _ in range(300):
        obs, _, terminated, truncated, _ = env.step(env.action_space.sample())
        assert env.observation_space.contains(obs)
        if terminated or truncated:
            env.reset()


def test_an_environment_of_a_task_is_that_of_its_world():
    pair = (NematodeEnv(task, render_mode="ansi") for task in ("foraging_small-v1", Foraging()))
    check_environments_match(*pair, num_steps=500, seed=3)


@pytest.mark.parametrize("name", MANY)
def test_a_world_of_many_agents_names_the_way_out(name):
    with pytest.raises(UsageError, match="PettingZoo"):
        NematodeEnv(name)


def world_observation(world, seed, episode):
    """The first observation of an episode, from the world's own function and the stream that a run gives it."""
    arrays, rng = WorldArrays(world), np.zeros(RNG_WORDS, dtype=np.uint64)
    set_stream(rng, np.uint64(seed), STREAM_WORLD, episode, 0)
    reset = first_class(world.reset, WORLD)
    reset(arrays.params, arrays.states[0], rng, arrays.action[0], arrays.obs[0], arrays.outs[0])
    return arrays.obs[0, 0]


def test_the_kth_reset_since_seeding_is_episode_k_of_a_run():
    env = NematodeEnv(Foraging())
    for seed in (7, 2**64 - 1):
        for episode in range(3):
            obs, _ = env.reset(seed=seed) if episode == 0 else env.reset()
            assert np.array_equal(obs, world_observation(env.world, seed, episode))


def test_seeding_sets_gymnasiums_own_generator_too():
    env = NematodeEnv(Foraging())
    env.reset(seed=5)
    first = env.np_random.random()
    env.reset(seed=5)
    assert env.np_random.random() == first and env.np_random_seed == 5


def test_without_a_seed_every_environment_differs():
    seen = {NematodeEnv(Foraging()).reset()[0].tobytes() for _ in range(5)}
    assert len(seen) == 5


def test_an_episode_ends_with_the_worlds_metrics():
    env = NematodeEnv(Foraging(satiety=3))
    env.reset(seed=0)
    infos = [env.step(3)[4] for _ in range(3)]
    assert infos[:2] == [{}, {}]
    assert infos[2] == {
        "success": 0.0, "foods": 0.0, "travelled": 0.0, "optimal": 0.0, "satiety": 0.0, "termination": 3.0,
    }  # fmt: skip


@pytest.mark.parametrize("action", [4, -1, 1.0, np.array([1, 2]), np.nan])
def test_an_action_outside_of_the_space_is_an_error(action):
    env = NematodeEnv(Foraging())
    env.reset(seed=0)
    with pytest.raises(UsageError, match="Discrete"):
        env.step(action)


@pytest.mark.parametrize("action", [2, np.int64(2), np.array(2), np.array([2], dtype=np.int32)])
def test_an_action_may_be_any_whole_number(action):
    env = NematodeEnv(Foraging())
    env.reset(seed=0)
    expected = env.step(2)[0]
    env.reset(seed=0)
    assert np.array_equal(env.step(action)[0], expected)


def test_it_renders_pictures_and_text():
    env = NematodeEnv(Foraging(), render_mode="rgb_array")
    env.reset(seed=0)
    first = env.render()
    assert first.dtype == np.uint8 and first.shape[1:] == (400, 3)
    assert np.array_equal(env.render(), first), "looking twice at one moment gives one picture"
    env.step(0)
    assert not np.array_equal(env.render(), first)
    env = NematodeEnv(Foraging(), render_mode="ansi")
    env.reset(seed=0)
    assert env.render().count("o") == 5


def test_the_trail_does_not_depend_on_how_often_somebody_looks():
    often, once = (NematodeEnv(Foraging(), render_mode="rgb_array") for _ in range(2))
    for env in (often, once):
        env.reset(seed=0)
    for action in (0, 1, 0, 2, 0):
        often.step(action)
        often.render()
        once.step(action)
    assert np.array_equal(often.render(), once.render())


def test_a_window_shows_every_step(monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    pygame = pytest.importorskip("pygame")
    env = NematodeEnv(Foraging(), render_mode="human")
    env.reset(seed=0)
    before = pygame.image.tobytes(pygame.display.get_surface(), "RGB")
    env.step(0)
    assert env.render() is None
    assert pygame.image.tobytes(pygame.display.get_surface(), "RGB") != before
    env.close()
    assert pygame.display.get_surface() is None


def test_a_window_without_pygame_is_one_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "pygame", None)
    with pytest.raises(UsageError, match=r"pip install 'nematodebench\[window\]'"):
        NematodeEnv(Foraging(), render_mode="human").reset(seed=0)


def test_an_unknown_render_mode_is_one_line():
    with pytest.raises(UsageError, match=r"'film' does not exist\. There are: rgb_array, ansi, human"):
        NematodeEnv(Foraging(), render_mode="film")


def test_rendering_before_the_first_reset_is_one_line():
    with pytest.raises(UsageError, match="before the first reset"):
        NematodeEnv(Foraging(), render_mode="rgb_array").render()
