"""World `foraging`: body, food, ends, rewards."""

import numpy as np
import pytest
from harness_worm import DOWN, EAST, FORWARD, LEFT, RIGHT, STAY, UP, WEST, Arena, digest, random_steps

from nematodebench.worlds.worm.foraging import Foraging

LARGE = Foraging(
    side=100, foods=20, target=20, spacing=10, exclusion=15, decay=5, max_steps=2000, satiety=500, satiety_gain=90
)


def lonely(**parameters):
    """A worm at the centre of a 20 x 20 grid with one food in the corner."""
    arena = Arena(Foraging(foods=1, **parameters))
    arena.put_foods((0, 0))
    return arena


def test_an_episode_starts_at_the_centre_facing_up():
    arena = Arena(Foraging())
    assert (*arena.place, arena.heading) == (10, 10, UP)


ANYWHERE = Foraging(
    foods=2, spacing=5, exclusion=6, max_steps=300, satiety=60, satiety_gain=20, shaping=0.0, random_start=True
)


def test_a_random_start_is_any_cell_and_any_heading():
    arena, cells, headings = Arena(ANYWHERE), [], []
    for episode in range(4000):
        arena.begin(1, episode)
        cells.append(tuple(arena.place))
        headings.append(arena.heading)
        assert (np.hypot(*(arena.foods - arena.place).T) >= 6.0).all()
    assert len(set(cells)) == 400
    assert np.bincount(headings) == pytest.approx([1000] * 4, abs=130)


def test_a_random_start_is_drawn_before_the_food():
    """An independent reading of the stream: column, row and heading, then the cells of the food."""
    from nematodebench.kernels.rng import RNG_WORDS, STREAM_WORLD, randint, set_stream

    for seed in range(20):
        words = np.zeros(RNG_WORDS, np.uint64)
        set_stream(words, np.uint64(seed), STREAM_WORLD, 0, 0)
        x, y, heading = (int(randint(words, n)) for n in (20, 20, 4))
        foods = []
        while len(foods) < 2:
            cell = np.array([randint(words, 20), randint(words, 20)])
            if np.hypot(*(cell - (x, y))) >= 6.0 and all(np.hypot(*(cell - other)) >= 5.0 for other in foods):
                foods.append(cell)
        arena = Arena(ANYWHERE, seed)
        assert (*arena.place, arena.heading) == (x, y, heading)
        assert np.array_equal(arena.foods, foods)


def test_optimal_is_the_way_from_the_start_cell():
    arena = Arena(ANYWHERE, seed=3)
    start, cell = arena.place.copy(), (19, 19)
    arena.put_foods((0, 0), cell)
    arena.put_worm(*cell)
    arena.step(STAY)
    assert arena.state.optimal == np.abs(start - cell).sum()


def test_without_shaping_nothing_tells_that_food_is_nearer():
    arena = Arena(ANYWHERE)
    arena.put_worm(10, 10)
    arena.put_foods((10, 12), (0, 0))
    assert arena.step(FORWARD).reward == pytest.approx(-0.005)
    assert arena.step(FORWARD).reward == pytest.approx(2.0 - 0.005)


def test_concentration_sensing_has_neither_change_nor_side():
    arena = Arena(Foraging(sensing="concentration", foods=1, decay=8.0))
    assert [sensor.name for sensor in arena.world.sensors] == ["concentration", "satiety", "touch"]
    arena.put_foods((10, 15))
    arena.step(FORWARD)
    c = np.exp(-4.0 / 8.0)
    assert arena.obs[0] == pytest.approx([c / (1 + c), 199 / 200, 0.0], rel=1e-6)


@pytest.mark.parametrize(
    ("action", "place", "heading"),
    [(FORWARD, (11, 10), EAST), (LEFT, (10, 11), UP), (RIGHT, (10, 9), DOWN), (STAY, (10, 10), EAST)],
)
def test_moves_are_relative_to_the_heading(action, place, heading):
    arena = lonely()
    arena.put_worm(10, 10, EAST)
    arena.step(action)
    assert (*arena.place, arena.heading) == (*place, heading)


@pytest.mark.parametrize(
    ("start", "action"), [((5, 19, UP), FORWARD), ((0, 5, UP), LEFT), ((19, 5, UP), RIGHT), ((5, 0, WEST), LEFT)]
)
def test_a_blocked_move_changes_neither_place_nor_heading_and_touches(start, action):
    arena = lonely()
    arena.put_worm(*start)
    arena.step(action)
    assert (*arena.place, arena.heading) == start
    assert arena.sense("touch") == 1.0


@pytest.mark.parametrize("action", [LEFT, STAY])
def test_touch_is_over_when_the_next_move_is_not_blocked(action):
    arena = lonely()
    arena.put_worm(5, 19, UP)
    assert arena.step(FORWARD).step(action).sense("touch") == 0.0


def test_four_right_turns_close_a_square():
    arena = lonely()
    for _ in range(4):
        arena.step(RIGHT)
    assert (*arena.place, arena.heading) == (10, 10, UP)


def test_food_is_eaten_on_its_cell_and_reappears_elsewhere():
    arena = lonely()
    arena.put_foods((10, 11))
    arena.step(FORWARD)
    assert arena.state.eaten == 1
    assert tuple(arena.foods[0]) != (10, 11)


def test_reward_of_eating_is_two_plus_shaping_minus_the_step():
    arena = lonely()
    arena.put_foods((10, 11))
    assert arena.step(FORWARD).reward == pytest.approx(2.0 + 0.5 - 0.005)


def test_reward_after_eating_is_shaped_by_the_new_food():
    arena = lonely()
    arena.put_foods((10, 11))
    arena.step(FORWARD)
    distance = np.abs(arena.foods[0] - arena.place).sum()
    arena.step(FORWARD)
    shaped = 0.5 * (distance - np.abs(arena.foods[0] - arena.place).sum())
    assert arena.reward == pytest.approx(shaped - 0.005)


def test_reward_of_touching_a_wall():
    arena = lonely()
    arena.put_worm(5, 19, UP)
    assert arena.step(FORWARD).reward == pytest.approx(-0.005 - 0.02)


@pytest.mark.parametrize("world", [Foraging(), LARGE, Foraging(sensing="klinotaxis")], ids=lambda w: w.sensing)
def test_reward_follows_its_formula(world):
    nearest, eaten = None, 0.0
    for arena in random_steps(world, 1500, seed=4):
        if nearest is not None and arena.state.steps > 1:
            bites = arena.state.eaten - eaten
            now = 0.0 if bites else np.abs(arena.foods - arena.place).sum(axis=1).min()
            expected = 2.0 * bites + 0.5 * (nearest - now) - 0.005 - 0.02 * arena.sense("touch")
            starved = arena.terminated and arena.termination == "starved"
            assert arena.reward == pytest.approx(expected - 10.0 * starved, abs=1e-12)
        nearest, eaten = np.abs(arena.foods - arena.place).sum(axis=1).min(), arena.state.eaten


def test_satiety_falls_by_one_a_step():
    arena = lonely()
    assert arena.step(STAY).step(STAY).satiety == 198
    assert arena.sense("satiety") == pytest.approx(0.99)


def test_food_never_lifts_satiety_above_its_maximum():
    arena = lonely()
    arena.put_foods((10, 11))
    assert arena.step(FORWARD).satiety == 200


def test_food_adds_its_gain_when_hungry():
    arena = lonely()
    arena.put_foods((10, 11))
    arena.state.satiety = 100
    assert arena.step(FORWARD).satiety == 139


def test_an_empty_worm_starves():
    arena = lonely(satiety=3)
    for _ in range(3):
        assert not arena.ended
        arena.step(STAY)
    assert (arena.terminated, arena.termination, arena.metrics["success"]) == (True, "starved", 0.0)
    assert arena.reward == pytest.approx(-10.005)


def test_food_in_the_last_moment_saves():
    arena = lonely(satiety=1)
    arena.put_foods((10, 11))
    assert not arena.step(FORWARD).ended


def test_the_target_ends_the_episode_before_hunger_does():
    arena = lonely(satiety=1, satiety_gain=0, target=1)
    arena.put_foods((10, 11))
    arena.step(FORWARD)
    assert (arena.terminated, arena.termination, arena.metrics["success"]) == (True, "target", 1.0)
    assert arena.reward > 0


def test_hunger_ends_the_episode_before_time_does():
    assert lonely(satiety=1, max_steps=1).step(STAY).termination == "starved"


@pytest.mark.parametrize(("foods", "success"), [(0, 0.0), (1, 1.0)])
def test_alive_at_the_end_of_time_is_a_success_with_at_least_one_food(foods, success):
    arena = lonely(max_steps=2)
    arena.put_foods((10, 11) if foods else (0, 0))
    arena.step(FORWARD).step(STAY)
    assert (arena.truncated, arena.terminated, arena.termination) == (True, False, "max_steps")
    assert (arena.metrics["success"], arena.metrics["foods"]) == (success, foods)


def test_starving_is_no_success_however_much_was_eaten():
    arena = lonely(satiety=2, satiety_gain=0)
    arena.put_foods((10, 11))
    arena.step(FORWARD).step(STAY)
    assert (arena.metrics["foods"], arena.metrics["success"]) == (1, 0.0)


def test_optimal_and_travelled_are_those_of_the_first_food():
    arena = lonely(max_steps=8)
    arena.put_foods((11, 12))
    for action in (LEFT, RIGHT, FORWARD, RIGHT, FORWARD, STAY, FORWARD, FORWARD):
        arena.step(action)
    # (9, 10), (9, 11), (9, 12), (10, 12), (11, 12): five moves to what is three cells away
    assert (arena.metrics["travelled"], arena.metrics["optimal"], arena.metrics["foods"]) == (5, 3, 1)


def test_without_food_travelled_is_the_whole_way():
    arena = lonely(max_steps=4)
    arena.step(FORWARD).step(STAY).step(LEFT).step(FORWARD)
    assert (arena.metrics["travelled"], arena.metrics["optimal"]) == (3, 0)


def test_blocked_moves_and_staying_are_no_travel():
    arena = lonely(max_steps=3)
    arena.put_worm(5, 19, UP)
    arena.step(FORWARD).step(STAY).step(FORWARD)
    assert arena.metrics["travelled"] == 0


def far_apart(cells, limit):
    distances = np.hypot(*(cells[:, None] - cells[None]).transpose(2, 0, 1))
    return (distances[~np.eye(len(cells), dtype=bool)] >= limit).all()


@pytest.mark.parametrize("world", [Foraging(), LARGE], ids=["small", "large"])
def test_new_food_keeps_its_distances(world):
    arena = Arena(world)
    for episode in range(100):
        arena.begin(3, episode)
        assert (np.hypot(*(arena.foods - arena.place).T) >= world.exclusion).all()
        assert far_apart(arena.foods, world.spacing)
        assert ((arena.foods >= 0) & (arena.foods < world.side)).all()


def test_food_that_reappears_keeps_its_distances():
    arena = Arena(Foraging(target=10_000, satiety_gain=200))
    rng = np.random.default_rng(1)
    for _ in range(500):
        n = rng.integers(5)
        arena.put_worm(*arena.foods[n])
        before = arena.state.eaten
        arena.step(STAY)
        assert arena.state.eaten == before + 1
        assert np.hypot(*(arena.foods[n] - arena.place)) >= 5.0
        assert (np.hypot(*(np.delete(arena.foods, n, axis=0) - arena.foods[n]).T) >= 3.0).all()


def test_food_is_spread_over_all_allowed_cells():
    arena = Arena(Foraging(side=9, foods=1, exclusion=3, spacing=1))
    seen = set()
    for episode in range(2000):
        arena.begin(0, episode)
        seen.add(tuple(arena.foods[0].astype(int)))
    grid = {(x, y) for x in range(9) for y in range(9) if (x - 4) ** 2 + (y - 4) ** 2 >= 9}
    assert seen == grid


def test_where_spacing_is_impossible_foods_still_lie_on_different_cells():
    world = Foraging(side=10, foods=12, spacing=9.0, exclusion=2.0)
    arena = Arena(world)
    for episode in range(50):
        arena.begin(0, episode)
        assert len({tuple(cell) for cell in arena.foods}) == 12
        assert (np.hypot(*(arena.foods - arena.place).T) >= 2.0).all()


def test_an_episode_is_its_stream():
    one, two = Arena(Foraging(), seed=5, episode=3), Arena(Foraging(), seed=8, episode=1)
    two.begin(5, 3)
    for action in (FORWARD, LEFT, LEFT, RIGHT):
        assert np.array_equal(one.step(action).obs, two.step(action).obs)


@pytest.mark.parametrize(("seed", "episode"), [(6, 3), (5, 4)])
def test_another_seed_or_episode_is_another_world(seed, episode):
    assert not np.array_equal(Arena(Foraging(), 5, 3).foods, Arena(Foraging(), seed, episode).foods)


@pytest.mark.parametrize(
    ("world", "expected"),
    [
        (Foraging(), "efb58484dfdbf8f6"),
        (LARGE, "ef2f351eabda1db7"),
        (Foraging(sensing="klinotaxis"), "5886dfd3ace925ea"),
        (Foraging(sensing="temporal"), "d50e3c0cc7f39657"),
    ],
    ids=["small", "large", "klinotaxis", "temporal"],
)
def test_behaviour_is_frozen(world, expected):
    assert digest(world) == expected


def test_text_shows_worm_and_food():
    arena = lonely()
    rows = arena.world.text(arena.state).splitlines()
    assert len(rows) == 20 and rows[9][10] == "^" and rows[19][0] == "o"
