"""Planned walks: what they know without senses, and what they cost."""

import numpy as np
import pytest

from nematodebench.calibration import blind
from nematodebench.calibration.anchors import measure_blind
from nematodebench.calibration.walks import plan_size, plan_walks
from nematodebench.engine.seeds import run_seed
from nematodebench.tasks.anchoring import load_anchors
from nematodebench.tasks.registry import get_task
from nematodebench.worlds.arrays import WorldArrays


def seeds(count, session=3):
    return [run_seed(session, k) for k in range(count)]


def reward_of(world, walk, seed):
    """What a walk earns, by stepping the world itself."""
    arrays = WorldArrays(world)
    arrays.compile()
    arrays.begin(seed, 0)
    total = 0.0
    for _, choice in walk:
        arrays.action[0, 0, 0] = choice
        arrays.step()
        total += arrays.outcome().reward[0]
    assert arrays.done()
    return total


@pytest.mark.parametrize("name", ["gridworld-v2", "navigation_hard-v2"])
def test_the_best_walk_comes_first_and_lasts_as_long_as_an_episode(name):
    world, begun = get_task(name).world, seeds(12)
    plan = plan_walks(world, begun, 6)
    rewards = [np.mean([reward_of(world, walk, seed) for seed in begun]) for walk in plan.walks]
    assert {len(walk) for walk in plan.walks} == {world.horizon}
    assert rewards == sorted(rewards, reverse=True)
    assert len(set(plan.walks)) == len(plan.walks) == 6


def test_a_plan_in_one_world_earns_what_the_reference_earns_that_sees_the_food():
    world, (seed,) = get_task("gridworld-v2").world, seeds(1)
    arrays = WorldArrays(world)
    arrays.compile()
    arrays.begin(seed, 0)
    seen, stream = 0.0, np.zeros_like(arrays.rng[0])
    while not arrays.done():
        arrays.refer(stream)
        arrays.step()
        seen += arrays.outcome().reward[0]
    assert reward_of(world, plan_walks(world, [seed], 300).walks[0], seed) >= seen


def test_a_plan_is_the_same_from_the_same_seeds():
    world = get_task("gridworld-v2").world
    first, again, other = (
        plan_walks(world, seeds(8), 4),
        plan_walks(world, seeds(8), 4),
        plan_walks(world, seeds(8, 4), 4),
    )
    assert first == again != other


def test_worlds_that_end_early_earn_no_more():
    world = get_task("foraging_small-v2").world
    plan = plan_walks(world, seeds(4), 3)
    assert 0 < max(len(walk) for walk in plan.walks) <= world.horizon
    assert plan.ticks <= world.horizon * 4 * 3 * (WorldArrays(world).choices + 1)


@pytest.mark.parametrize("name", ["gridworld-v2", "navigation-v2", "foraging_large-v2"])
def test_a_plan_keeps_to_its_ticks_and_to_its_room(name):
    world = get_task(name).world
    width, worlds = plan_size(world, 2_000_000)
    arrays = WorldArrays(world)
    assert width == 2 or worlds * width * (arrays.choices + 1) * world.horizon <= 2_000_000
    assert plan_size(world, 10**12)[0] * plan_size(world, 10**12)[1] * arrays.states.shape[1] <= 1 << 25


def test_the_search_plans_what_families_and_evolution_do_not_find():
    """They got 0.175 of the way from chance to the reference; the walk that is stored gets 0.249."""
    task = get_task("gridworld-v2")
    found = blind.search(task, seed=5, workers=1, budget=40_000)
    anchors = load_anchors(task)
    value = measure_blind(task, found.cycle, 20, 1, workers=1).value
    assert (value - anchors.floor.value) / (anchors.ceiling.value - anchors.floor.value) > 0.21
    assert found.episodes <= 1.2 * 40_000


def test_bodies_with_effectors_have_no_walks():
    assert WorldArrays(get_task("pong-v2").world).choices == 0
