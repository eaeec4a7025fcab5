"""Closed walks: where they lead, and whether a search knows them."""

from pathlib import Path

import numpy as np
import pytest

from nematodebench.calibration.proposals import Proposals
from nematodebench.calibration.recipes import read_recipe, recipe_cycle
from nematodebench.calibration.tours import tours
from nematodebench.engine.run import interface
from nematodebench.tasks.anchoring import load_anchors
from nematodebench.tasks.registry import get_task

RECIPES = Path(__file__).parents[2] / "configs" / "blind"
STEPS = ((0, 1), (1, 0), (0, -1), (-1, 0))


def cells_of(cycle, side):
    """The cells that a walk from the middle comes to, in their order."""
    x = y = side // 2
    cells = []
    for ticks, choice in cycle:
        for _ in range(int(ticks)):
            x, y = x + STEPS[int(choice)][0], y + STEPS[int(choice)][1]
            cells.append((x, y))
    return cells


def test_every_walk_comes_to_every_cell_once_and_home_again():
    walks = tours(4, 400)
    assert len(walks) == len(set(walks)) == 8 * len(range(4, 21, 2))
    for walk in walks:
        side = int(sum(ticks for ticks, _ in walk) ** 0.5)
        cells = cells_of(walk, side)
        assert sorted(cells) == [(x, y) for x in range(side) for y in range(side)]
        assert cells[-1] == (side // 2, side // 2)


def test_there_are_none_for_other_bodies_and_for_short_episodes():
    assert not tours(2, 400)
    assert not tours(0, 400)
    assert not tours(4, 15)
    assert len(tours(8, 16)) == 8


@pytest.mark.parametrize("name", ["navigation-v2", "navigation_easy-v2"])
def test_a_search_begins_with_the_stored_walk(name):
    task = get_task(name)
    walk = recipe_cycle(read_recipe(RECIPES / f"{name}.yml"), task)
    proposals = Proposals(interface(task), task.world.horizon, np.random.default_rng(1))
    assert walk in proposals.opening(100, listed=True)
    assert walk not in proposals.opening(100, listed=False)


def test_a_task_that_a_closed_walk_plays_above_the_bound_is_not_ranked():
    task = get_task("navigation_easy-v2")
    anchors = load_anchors(task)
    share = (anchors.blind.value - anchors.floor.value) / (anchors.ceiling.value - anchors.floor.value)
    assert share > 0.25
    page = (RECIPES.parents[1] / "docs" / "tasks" / "navigation_easy-v2.md").read_text(encoding="utf-8")
    assert "**Not ranked:**" in page
    assert "the best blind policy gets 0.251, more than 0.25" in page


def expected_reward(side, horizon, cells):
    """What a walk through these cells is expected to earn on a gridworld: the chance of food on each, added up.

    Without cells it is the agent that jumps to where food is most likely in every step.
    """
    chance = np.full((side, side), 1.0 / (side * side - 1))
    chance[side // 2, side // 2] = 0.0
    total = 0.0
    for step in range(horizon):
        cell = cells[step % len(cells)] if cells else np.unravel_index(chance.argmax(), chance.shape)
        found = chance[cell]
        total += found - 0.01 * (1.0 - found)
        chance += found / (side * side - 1)
        chance[cell] = 0.0
    return total


def test_no_walk_is_expected_to_beat_a_closed_one_and_the_stored_line_is_one():
    task = get_task("gridworld-v3")
    side, horizon = task.world.side, task.world.horizon
    best = expected_reward(side, horizon, [])
    walks = [walk for walk in tours(4, horizon) if sum(ticks for ticks, _ in walk) == side * side]
    assert len(walks) == 8
    assert all(abs(expected_reward(side, horizon, cells_of(walk, side)) - best) < 1e-9 for walk in walks)
    anchors = load_anchors(task)
    assert abs(anchors.blind.value - best) < 4.0 * anchors.blind.se
    assert (best - anchors.floor.value) / (anchors.ceiling.value - anchors.floor.value) < 0.2
