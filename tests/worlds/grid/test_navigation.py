"""World `navigation`: moves, things on cells, rays, presets."""

import numpy as np
import pytest
from grid_walks import DANGER, EMPTY, FOOD, OBSTACLE, grid, lay, rays
from harness_continual import Trial, mean_reward, null, run_episodes

from nematodebench.worlds.grid.navigation import Navigation

UP, RIGHT, DOWN, LEFT = range(4)


def test_start():
    trial = Trial(Navigation())
    cells = grid(trial)
    state = trial.state
    assert (state.x, state.y, state.step, state.eaten, state.hurt) == (6.0, 6.0, 0.0, 0.0, 0.0)
    assert ((cells == FOOD).sum(), (cells == DANGER).sum(), (cells == OBSTACLE).sum()) == (5, 3, 0)
    assert cells[6, 6] == EMPTY


def test_things_are_everywhere_but_on_the_agent():
    cells = sum(grid(Trial(Navigation(), seed)) != EMPTY for seed in range(2000))
    assert cells[6, 6] == 0
    cells = np.delete(cells.ravel(), 6 * 12 + 6)
    assert cells.sum() == 8 * 2000
    expected = 8 * 2000 / 143
    assert ((cells - expected) ** 2 / expected).sum() < 142 + 5 * np.sqrt(2 * 142)


@pytest.mark.parametrize(
    ("action", "place"), [(UP, (3.0, 5.0)), (RIGHT, (4.0, 4.0)), (DOWN, (3.0, 3.0)), (LEFT, (2.0, 4.0))]
)
def test_moves(action, place):
    trial = lay(Trial(Navigation()), 3, 4).step(action)
    assert trial.place == place
    assert trial.reward == -0.01


@pytest.mark.parametrize(("x", "y", "action"), [(0, 5, LEFT), (11, 5, RIGHT), (5, 0, DOWN), (5, 11, UP)])
def test_the_edge_blocks(x, y, action):
    trial = lay(Trial(Navigation()), x, y).step(action)
    assert trial.place == (x, y)
    assert trial.reward == -0.01


def test_an_obstacle_blocks():
    trial = lay(Trial(Navigation.hard()), 5, 5, obstacle=[(6, 5)]).step(RIGHT)
    assert trial.place == (5, 5)
    assert trial.reward == -0.02


@pytest.mark.parametrize("action", range(4, 10))
def test_surplus_actions_stay_and_pay(action):
    trial = lay(Trial(Navigation()), 5, 5).step(action)
    assert trial.place == (5, 5)
    assert trial.reward == -0.01


def test_food_is_eaten_and_reappears_elsewhere():
    trial = lay(Trial(Navigation()), 5, 5, food=[(6, 5)]).step(RIGHT)
    assert trial.reward == pytest.approx(0.99)
    assert (grid(trial) == FOOD).sum() == 1
    assert grid(trial)[5, 6] == EMPTY
    assert trial.metrics == {"foods": 1.0, "dangers": 0.0}


def test_danger_hurts_every_step_and_stays():
    trial = lay(Trial(Navigation()), 5, 5, danger=[(6, 5)])
    assert trial.step(RIGHT).reward == pytest.approx(-0.51)
    assert trial.step(9).reward == pytest.approx(-0.51)
    assert grid(trial)[5, 6] == DANGER
    assert trial.metrics == {"foods": 0.0, "dangers": 2.0}


def test_rays_by_hand():
    trial = lay(Trial(Navigation()), 4, 5, food=[(4, 9), (4, 11), (7, 8), (9, 6)], danger=[(4, 8), (1, 5)]).step(LEFT)
    assert [trial.sense(f"food_{way}") for way in ("up", "up_right", "right")] == [0.0, 0.0, 0.0]
    trial.step(RIGHT)
    assert trial.sense("food_up") == np.float32(1 - 4 / 12)
    assert trial.sense("food_up_right") == np.float32(1 - 3 / 12)
    assert trial.sense("danger_up") == np.float32(1 - 3 / 12)
    assert trial.sense("danger_left") == np.float32(1 - 3 / 12)
    assert trial.sense("wall_left") == np.float32(1 - 5 / 12)
    assert trial.sense("wall_up") == np.float32(1 - 7 / 12)
    assert trial.sense("wall_down_left") == np.float32(1 - 5 / 12)


@pytest.mark.parametrize(
    "world", [Navigation(), Navigation.easy(), Navigation.hard()], ids=["standard", "easy", "hard"]
)
def test_inputs_follow_from_the_map(world):
    trial, generator = Trial(world, 3), np.random.default_rng(3)
    for step in range(1, 150):
        trial.step(generator.integers(10))
        state = trial.state
        more = [state.x / world.side, state.y / world.side, step / 200, min(state.eaten / world.foods, 1.0)]
        assert trial.obs[0] == pytest.approx(np.array(rays(trial) + more, np.float32), rel=1e-6)


def test_an_obstacle_hides_what_is_behind_it():
    trial = lay(Trial(Navigation.hard()), 5, 5, obstacle=[(8, 5)], food=[(9, 5)]).step(9)
    assert trial.sense("food_right") == 0.0
    assert trial.sense("wall_right") == np.float32(1 - 3 / 15)


def test_found_saturates_at_one():
    trial = Trial(Navigation(), 1)
    while trial.state.eaten < 7:
        trial.refer()
    assert trial.sense("found") == 1.0


def test_the_reference_goes_around_a_danger():
    trial = lay(Trial(Navigation()), 0, 0, food=[(2, 0)], danger=[(1, 0)])
    rewards = [trial.refer().reward for _ in range(4)]
    assert rewards == pytest.approx([-0.01, -0.01, -0.01, 0.99])


def test_the_reference_goes_through_a_danger_if_there_is_no_other_way():
    trial = lay(Trial(Navigation()), 5, 5, food=[(0, 0)], danger=[(1, 0), (0, 1)])
    for _ in range(10):
        trial.refer()
    assert trial.metrics == {"foods": 1.0, "dangers": 1.0}


def test_the_reference_stays_if_no_food_can_be_reached():
    trial = lay(Trial(Navigation.hard()), 5, 5, food=[(0, 0)], obstacle=[(1, 0), (0, 1)]).refer()
    assert trial.action[0, 0] == 4.0


def test_the_reference_changes_nothing_but_its_own_room():
    trial = Trial(Navigation(), 2)
    names = set(trial.state.fields) - {"queue", "notes"}
    known = {name: np.copy(getattr(trial.state, name)) for name in names}
    trial.ask_reference()
    assert all((getattr(trial.state, name) == known[name]).all() for name in names)


def test_reference_reward():
    mean, error = mean_reward(Navigation(), Navigation.reference, 300)
    assert mean == pytest.approx(47.6, abs=4 * error + 0.05)
    assert (run_episodes(Navigation(), Navigation.reference, 300)[0][:, 3] == 0.0).all()


def test_null_reward():
    mean, error = mean_reward(Navigation(), null, 4000)
    assert mean == pytest.approx(-2.71, abs=4 * error)


def test_presets():
    assert Navigation.easy() == Navigation(12, 8, 1, 0, 200, 0.01, 0.3)
    assert Navigation.hard() == Navigation(15, 3, 6, 5, 200, 0.02, 0.8)


def test_hard_is_harder_than_standard_and_easy_easier():
    for policy in (null, Navigation.reference):
        easy, standard, hard = (
            mean_reward(world, policy, 300)[0] for world in (Navigation.easy(), Navigation(), Navigation.hard())
        )
        assert easy > standard > hard


def test_a_grid_without_room_is_refused():
    with pytest.raises(ValueError, match="too small"):
        Navigation(side=3, foods=6, dangers=3).pack()
