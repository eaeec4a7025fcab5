"""World `predator`: hunting, hits, healing, death."""

import numpy as np
import pytest
from harness_worm import FORWARD, LEFT, RIGHT, STAY, UP, Arena, digest, random_steps

from nematodebench.worlds.worm.foraging import Foraging
from nematodebench.worlds.worm.predator import Predator


def hunted(*predators, **parameters):
    """A worm at the centre of a 20 x 20 grid, one food in the corner, predators where they are wanted."""
    arena = Arena(Predator(foods=1, predators=len(predators), **parameters))
    arena.put_foods((0, 0))
    arena.predators[:] = predators
    return arena


@pytest.mark.parametrize(
    ("start", "after"),
    [
        ((14, 11), (13, 11)),
        ((6, 9), (7, 9)),
        ((11, 14), (11, 13)),
        ((9, 6), (9, 7)),
        ((13, 13), (12, 13)),
        ((7, 13), (8, 13)),
        ((12, 8), (11, 8)),
        ((10, 10), (10, 10)),
    ],
)
def test_a_chase_closes_the_larger_distance_first_and_x_if_equal(start, after):
    arena = hunted(start)
    arena.step(STAY).step(STAY)
    assert tuple(arena.predators[0]) == after


def test_predators_move_every_second_step():
    arena = hunted((14, 10))
    places = [arena.step(STAY).predators[0, 0] for _ in range(6)]
    assert places == [14, 13, 13, 12, 12, 11]


def test_predators_chase_the_worm_where_it_is_after_its_move():
    arena = hunted((11, 12))
    arena.step(STAY).step(FORWARD)
    # from (10, 10) the larger distance would be y; from (10, 11) both are 1 and x comes first
    assert tuple(arena.predators[0]) == (10, 12)


@pytest.mark.parametrize(("start", "chased"), [((16, 10), True), ((17, 10), False)])
def test_the_chase_begins_at_the_detection_distance(start, chased):
    seen = set()
    for seed in range(30):
        arena = hunted(start)
        arena.begin(seed)
        arena.put_foods((0, 0))
        arena.predators[:] = start
        arena.step(STAY).step(STAY)
        seen.add(tuple(arena.predators[0] - start))
    assert seen == ({(-1, 0)} if chased else {(0, 1), (1, 0), (0, -1), (-1, 0)})


def test_a_step_off_the_grid_is_no_step():
    seen = set()
    for seed in range(40):
        arena = hunted((0, 0))
        arena.begin(seed)
        arena.predators[:] = (0, 0)
        arena.step(STAY).step(STAY)
        seen.add(tuple(arena.predators[0]))
    assert seen == {(0, 0), (1, 0), (0, 1)}


def test_predators_start_farther_than_their_detection():
    arena = Arena(Predator(predators=4, detection=8))
    for episode in range(200):
        arena.begin(1, episode)
        assert (np.abs(arena.predators - arena.place).sum(axis=1) > 8).all()
        assert ((arena.predators >= 0) & (arena.predators < 20)).all()


@pytest.mark.parametrize("hunters", [1, 2, 3])
def test_each_predator_on_the_cell_deals_its_damage(hunters):
    arena = hunted(*[(10, 10)] * hunters)
    arena.step(STAY)
    assert arena.sense("health") == pytest.approx(1 - 0.2 * hunters)
    assert arena.sense("contact") == 1.0
    assert arena.reward == pytest.approx(-0.005 - 0.5 * hunters)


def test_a_predator_deals_damage_at_the_end_of_every_step():
    arena = hunted((10, 10))
    assert [round(arena.step(STAY).sense("health"), 6) for _ in range(3)] == [0.8, 0.6, 0.4]


def test_walking_away_before_the_end_of_the_step_avoids_the_hit():
    arena = hunted((10, 10))
    arena.step(FORWARD)
    assert (arena.sense("contact"), arena.sense("health")) == (0.0, 1.0)


def test_a_worm_walking_onto_a_predator_is_hit():
    arena = hunted((10, 11))
    assert arena.step(FORWARD).sense("contact") == 1.0


def test_food_heals():
    arena = hunted((19, 19))
    arena.put_foods((10, 11))
    arena.state.health = 50
    assert arena.step(FORWARD).sense("health") == pytest.approx(0.6)


def test_food_never_lifts_health_above_its_maximum():
    arena = hunted((19, 19))
    arena.put_foods((10, 11))
    arena.state.health = 95
    assert arena.step(FORWARD).sense("health") == 1.0


def test_a_worm_without_health_is_killed():
    arena = hunted((10, 10))
    arena.state.health = 20
    arena.step(STAY)
    assert (arena.terminated, arena.termination, arena.metrics["health"]) == (True, "killed", 0.0)
    assert arena.metrics["success"] == 0.0
    assert arena.reward == pytest.approx(-0.005 - 0.5 - 10.0)


def test_health_does_not_fall_below_zero():
    arena = hunted((10, 10), (10, 10))
    arena.state.health = 20
    assert arena.step(STAY).metrics["health"] == 0.0


def test_the_target_ends_the_episode_before_death_does():
    arena = hunted((10, 11), target=1, heal=0.0)
    arena.put_foods((10, 11))
    arena.state.health = 20
    arena.step(FORWARD)
    assert (arena.termination, arena.metrics["success"]) == ("target", 1.0)
    assert arena.reward == pytest.approx(2.0 + 0.5 - 0.005 - 0.5)


def test_death_comes_before_starvation():
    arena = hunted((10, 10), satiety=1)
    arena.state.health = 20
    assert arena.step(STAY).termination == "killed"


def test_health_is_full_at_the_start_and_contact_none():
    arena = Arena(Predator())
    assert (arena.sense("health"), arena.sense("contact")) == (1.0, 0.0)


def test_health_is_reported_at_every_end():
    ends = [arena.metrics["health"] == arena.state.health for arena in random_steps(Predator(), 3000) if arena.ended]
    assert len(ends) > 5 and all(ends)


def test_inputs_and_metrics_extend_those_of_foraging():
    hunter, forager = Predator(), Foraging()
    assert hunter.sensors[:5] == forager.sensors and len(hunter.sensors) == 10
    assert hunter.metrics == (*forager.metrics, "health")


def test_without_predators_it_is_foraging():
    free, plain = Arena(Predator(predators=0), seed=2), Arena(Foraging(foods=6, satiety=250, satiety_gain=32), seed=2)
    for action in np.random.default_rng(0).integers(0, 4, 200):
        assert np.array_equal(free.step(action).obs[0, :5], plain.step(action).obs[0])
        assert free.reward == plain.reward


def test_behaviour_is_frozen():
    assert digest(Predator()) == "ad8d00e0363d8752"


def test_text_shows_the_predators():
    arena = hunted((3, 4))
    arena.put_worm(10, 10, UP)
    assert arena.world.text(arena.state).splitlines()[15][3] == "X"


def ask(arena):
    arena.arrays.refer(arena.arrays.rng[0].copy())
    return int(arena.arrays.action[0, 0, 0])


def test_the_reference_takes_the_shortest_way_to_food():
    arena = Arena(Foraging(foods=1))
    for cell, expected in [((10, 15), FORWARD), ((6, 10), LEFT), ((14, 9), RIGHT)]:
        arena.put_worm(10, 10, UP)
        arena.put_foods(cell)
        assert ask(arena) == expected


def test_the_reference_turns_round_for_food_behind_it():
    arena = Arena(Foraging(foods=1))
    arena.put_worm(10, 10, UP)
    arena.put_foods((10, 8))
    steps = 0
    while arena.state.eaten == 0:
        arena.step(ask(arena))
        steps += 1
    assert steps == 4


def test_the_reference_of_the_hunted_keeps_from_a_predators_cell():
    arena = hunted((10, 11))
    arena.put_foods((10, 14))
    assert ask(arena) != FORWARD
    assert ask(arena.step(STAY)) in (LEFT, RIGHT)
    far = hunted((10, 16))
    far.put_foods((10, 14))
    assert ask(far) == FORWARD


def test_a_hunted_worm_starts_anywhere_and_its_predators_far_from_it():
    arena = Arena(Predator(predators=4, random_start=True, shaping=0.0, foods=2))
    places = set()
    for episode in range(300):
        arena.begin(1, episode)
        places.add(tuple(arena.place))
        assert (np.abs(arena.predators - arena.place).sum(axis=1) > 6).all()
    assert len(places) > 180
