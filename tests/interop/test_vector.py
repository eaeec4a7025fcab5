"""The vector environment: the scalar one, many times over, bit for bit."""

import copy
import pickle

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from nematodebench.errors import UsageError
from nematodebench.interop.env import NematodeEnv
from nematodebench.interop.vector import NematodeVectorEnv
from nematodebench.tasks.registry import all_tasks
from nematodebench.worlds.worm.foraging import Foraging
from nematodebench.worlds.worm.predator import Predator

SINGLE = {name: task.world for name, task in all_tasks().items() if task.world.agents == 1}
LANES = 5


def assert_same(ours, theirs):
    """Equal arrays, and equal infos: keys, values and types, also inside of dictionaries and object arrays."""
    assert type(ours) is type(theirs)
    if isinstance(ours, dict):
        assert ours.keys() == theirs.keys()
        for key in ours:
            assert_same(ours[key], theirs[key])
    elif ours.dtype == object:
        for one, other in zip(ours, theirs, strict=True):
            assert_same(one, other) if one is not None else None
            assert (one is None) == (other is None)
    else:
        assert ours.dtype == theirs.dtype and np.array_equal(ours, theirs)


def compare(world, steps, seed, mode=AutoresetMode.NEXT_STEP):
    ours = NematodeVectorEnv(world, LANES, autoreset_mode=mode)
    theirs = SyncVectorEnv([lambda: NematodeEnv(world)] * LANES, autoreset_mode=mode)
    assert ours.action_space == theirs.action_space and ours.observation_space == theirs.observation_space
    theirs.action_space.seed(seed)
    for one, other in zip(ours.reset(seed=seed), theirs.reset(seed=seed), strict=True):
        assert_same(one, other)
    episodes = 0
    for _ in range(steps):
        actions = theirs.action_space.sample()
        for one, other in zip(ours.step(actions), theirs.step(actions), strict=True):
            assert_same(one, other)
        episodes += bool(ours._ended.any())
    return episodes


@pytest.mark.parametrize("seed", [0, 1, 12345])
@pytest.mark.parametrize("world", [Foraging(), Predator()], ids=["foraging", "predator"])
def test_lanes_equal_gymnasiums_own_vector_of_scalar_environments(world, seed):
    assert compare(world, 2000, seed) > 5


@pytest.mark.parametrize("name", sorted(SINGLE))
def test_lanes_of_every_world_equal_scalar_environments(name):
    compare(SINGLE[name], 300, 4)


def test_lanes_can_begin_anew_in_the_same_step():
    assert compare(Foraging(satiety=30), 300, 3, AutoresetMode.SAME_STEP) > 20


def test_a_lane_that_ended_ignores_its_next_action_and_pays_nothing():
    env = NematodeVectorEnv(Foraging(satiety=2), 1)
    env.reset(seed=0)
    stay = np.array([3])
    env.step(stay)
    assert env.step(stay)[2][0]
    obs, rewards, terminations, _, infos = env.step(stay)
    fresh = NematodeEnv(Foraging(satiety=2))
    fresh.reset(seed=0)
    assert np.array_equal(obs[0], fresh.reset()[0])
    assert (rewards[0], terminations[0], infos) == (0.0, False, {})


def test_lanes_are_seeded_one_after_another():
    lanes, _ = NematodeVectorEnv(Foraging(), 3).reset(seed=40)
    for lane in range(3):
        assert np.array_equal(lanes[lane], NematodeEnv(Foraging()).reset(seed=40 + lane)[0])


def test_a_list_of_seeds_is_honoured():
    lanes, _ = NematodeVectorEnv(Foraging(), 3).reset(seed=[9, 1, 9])
    assert np.array_equal(lanes[0], lanes[2])
    assert np.array_equal(lanes[1], NematodeEnv(Foraging()).reset(seed=1)[0])


def test_reset_without_a_seed_goes_on_to_the_next_episode():
    env, single = NematodeVectorEnv(Foraging(), 2), NematodeEnv(Foraging())
    env.reset(seed=3)
    single.reset(seed=4)
    assert np.array_equal(env.reset()[0][1], single.reset()[0])


def test_a_lane_without_a_seed_among_seeded_ones_goes_on():
    env, single = NematodeVectorEnv(Foraging(), 2), NematodeEnv(Foraging())
    env.reset(seed=3)
    single.reset(seed=4)
    lanes, _ = env.reset(seed=[8, None])
    assert np.array_equal(lanes[0], NematodeEnv(Foraging()).reset(seed=8)[0])
    assert np.array_equal(lanes[1], single.reset()[0])


def test_unseeded_lanes_differ():
    lanes, _ = NematodeVectorEnv(Foraging(), 8).reset()
    assert len({lane.tobytes() for lane in lanes}) == 8


def test_the_number_of_seeds_must_be_that_of_lanes():
    with pytest.raises(UsageError, match="2 seeds for 3 lanes"):
        NematodeVectorEnv(Foraging(), 3).reset(seed=[1, 2])


def test_what_a_step_returns_stays_as_it_was():
    env = NematodeVectorEnv(Foraging(satiety=3), 2)
    env.reset(seed=0)
    kept = [env.step(np.array([0, 1])) for _ in range(8)]
    copies = [[part.copy() for part in parts] for parts in kept]
    env.step(np.array([2, 2]))
    for parts, before in zip(kept, copies, strict=True):
        for part, expected in zip(parts, before, strict=True):
            assert_same(part, expected)


def test_without_copies_values_are_the_same_in_reused_arrays():
    copying, sharing = NematodeVectorEnv(Foraging(satiety=9), 4), NematodeVectorEnv(Foraging(satiety=9), 4, copy=False)
    copying.reset(seed=1)
    first = sharing.reset(seed=1)[0]
    copying.action_space.seed(0)
    for _ in range(50):
        actions = copying.action_space.sample()
        shared = sharing.step(actions)
        assert shared[0] is first
        for one, other in zip(copying.step(actions), shared, strict=True):
            assert_same(one, other)


@pytest.mark.parametrize("kind", [list, tuple, lambda a: a.astype(np.int32), lambda a: np.repeat(a, 2)[::2]])
def test_actions_may_come_in_other_clothes(kind):
    actions = np.array([0, 1, 2])
    results = []
    for given in (actions, kind(actions)):
        env = NematodeVectorEnv(Foraging(), 3)
        env.reset(seed=2)
        results.append(env.step(given)[0])
    assert np.array_equal(*results)


@pytest.mark.parametrize(
    "actions", [np.array([0, 4]), np.array([-1, 0]), np.array([0, 1, 2]), [0.0, 1.0], np.array([[0], [1]]), None]
)
def test_illegal_actions_are_an_error_and_move_no_lane(actions):
    env = NematodeVectorEnv(Foraging(), 2)
    env.reset(seed=2)
    before = env._arrays.states.copy()
    with pytest.raises(UsageError, match="not in MultiDiscrete"):
        env.step(actions)
    assert np.array_equal(env._arrays.states, before)


def test_the_autoreset_mode_is_in_the_metadata():
    assert NematodeVectorEnv(Foraging()).metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    same = NematodeVectorEnv(Foraging(), autoreset_mode="SameStep")
    assert same.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    assert NematodeVectorEnv.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP


def test_lanes_that_never_begin_anew_are_refused():
    with pytest.raises(UsageError, match="NEXT_STEP or SAME_STEP"):
        NematodeVectorEnv(Foraging(), autoreset_mode=AutoresetMode.DISABLED)


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_a_copy_lives_on_by_itself(duplicate):
    env = NematodeVectorEnv(Foraging(satiety=6), 3)
    env.reset(seed=0)
    twin = duplicate(env)
    actions = [np.array([0, 1, 2]), np.array([3, 3, 3])] * 10
    lived = [env.step(action) for action in actions]
    for action, expected in zip(actions, lived, strict=True):
        for one, other in zip(twin.step(action), expected, strict=True):
            assert_same(one, other)


def test_every_lane_is_rendered():
    env = NematodeVectorEnv(Foraging(), 3, render_mode="rgb_array")
    env.reset(seed=0)
    images = env.render()
    assert [image.shape[1:] for image in images] == [(400, 3)] * 3
    assert not np.array_equal(images[0], images[1])
