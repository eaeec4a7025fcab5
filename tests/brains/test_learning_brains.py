"""The brains that learn: legal actions, updates at the right time, and that they do learn."""

import numpy as np
import pytest
from brain_life import Life, discrete, effectors, forage
from pydantic import ValidationError

from nematodebench.brains.classical import mlp_dqn, mlp_reinforce, q_table
from nematodebench.brains.parts import actor_critic as ac
from nematodebench.brains.registry import get_brain

LEARNERS = ["mlp_ppo", "mlp_reinforce", "mlp_dqn", "q_table"]
NETWORKS = LEARNERS[:3]
SMALL = {
    "mlp_ppo": {"rollout": 16, "minibatch": 8, "epochs": 2},
    "mlp_reinforce": {"horizon": 16},
    "mlp_dqn": {"replay": 32, "minibatch": 8, "warmup": 8},
    "q_table": {},
}


@pytest.mark.parametrize("name", LEARNERS)
def test_learns_to_forage(name):
    successes, _ = forage(name)
    assert successes[-125:].mean() >= 0.9


@pytest.mark.parametrize("name", LEARNERS)
def test_a_run_repeats_bit_for_bit(name):
    (first, one), (second, other) = forage(name, episodes=15), forage(name, episodes=15)
    assert first.tobytes() == second.tobytes()
    assert one.mem.tobytes() == other.mem.tobytes()


@pytest.mark.parametrize("name", LEARNERS)
def test_another_seed_is_another_run(name):
    _, one = forage(name, episodes=15)
    _, other = forage(name, episodes=15, seed=2)
    assert one.mem.tobytes() != other.mem.tobytes()


@pytest.mark.parametrize("name", LEARNERS)
def test_discrete_actions_are_whole_numbers_in_range(name):
    life, numbers = Life(name, discrete(), **SMALL[name]), np.random.default_rng(0)
    seen = set()
    for _ in range(100):
        seen.add(float(life.act(numbers.uniform(-1, 1, 5))[0]))
        life.learn(numbers.uniform(-1, 1, 5), numbers.normal())
    assert seen == {0.0, 1.0, 2.0, 3.0}


@pytest.mark.parametrize("name", LEARNERS)
def test_effectors_take_all_levels_between_0_and_1(name):
    life, numbers = Life(name, effectors(), levels=3, **SMALL[name]), np.random.default_rng(0)
    seen = [set(), set(), set()]
    for _ in range(100):
        for n, value in enumerate(life.act(numbers.uniform(0, 1, 4))):
            seen[n].add(float(value))
        life.learn(numbers.uniform(0, 1, 4), numbers.normal())
    assert seen == [{0.0, 0.5, 1.0}] * 3


@pytest.mark.parametrize("name", NETWORKS)
def test_broken_weights_give_an_illegal_action(name):
    life = Life(name, discrete(), **SMALL[name])
    life.mem[:] = np.nan
    assert np.isnan(life.act(np.zeros(5))[0])


@pytest.mark.parametrize("name", LEARNERS)
def test_an_unknown_parameter_is_an_error(name):
    with pytest.raises(ValidationError, match="learning_rat"):
        get_brain(name).config(learning_rat=0.1)


def test_ppo_updates_when_the_rollout_is_full():
    life, numbers = Life("mlp_ppo", discrete(), rollout=16, minibatch=8, epochs=3), np.random.default_rng(0)
    life.live(15, numbers)
    assert life.ints[ac.NET + 9] == 0
    life.live(1, numbers)
    assert life.ints[ac.NET + 9] == 3 * 2


@pytest.mark.parametrize(("steps", "updates"), [(4, 0), (5, 1), (10, 2), (12, 2)])
def test_reinforce_updates_when_a_life_ends(steps, updates):
    life = Life("mlp_reinforce", discrete(), horizon=8)
    life.live(steps, np.random.default_rng(0), end_every=5)
    assert life.ints[ac.NET + 9] == updates


def test_reinforce_updates_when_the_horizon_is_reached():
    life = Life("mlp_reinforce", discrete(), horizon=8)
    life.live(17, np.random.default_rng(0), end_every=1000)
    assert life.ints[ac.NET + 9] == 2
    assert life.ints[ac.FILLED] == 1


def test_reinforce_waits_for_a_batch_of_episodes():
    life = Life("mlp_reinforce", discrete(), horizon=100, batch_episodes=3)
    life.live(14, np.random.default_rng(0), end_every=5)
    assert (life.ints[ac.NET + 9], life.ints[mlp_reinforce.EPISODES]) == (0, 2)
    life.learn(np.zeros(5), 1.0, terminated=True)
    assert (life.ints[ac.NET + 9], life.ints[mlp_reinforce.EPISODES]) == (1, 0)


def test_dqn_trains_every_few_steps_after_the_warmup():
    life = Life("mlp_dqn", discrete(), replay=32, minibatch=8, warmup=20, train_every=4)
    life.live(19, np.random.default_rng(0))
    assert life.ints[mlp_dqn.UPDATES] == 0
    life.live(21, np.random.default_rng(0))
    assert life.ints[mlp_dqn.UPDATES] == 6


def test_dqn_renews_its_target_network():
    life = Life("mlp_dqn", discrete(), replay=32, minibatch=8, warmup=1, train_every=1, target_every=5)
    net, target = mlp_dqn.NET, life.ints[mlp_dqn.TARGET]

    def weights(base):
        return life.mem[life.ints[base + 2] :][: life.ints[base + 3]]

    numbers = np.random.default_rng(0)
    np.testing.assert_array_equal(weights(net), weights(target))
    life.live(4, numbers)
    assert (weights(net) != weights(target)).any()
    life.live(1, numbers)
    np.testing.assert_array_equal(weights(net), weights(target))


@pytest.mark.parametrize(("terminated", "truncated", "alive"), [(0, 0, 1), (0, 1, 1), (1, 0, 0)])
def test_dqn_forgets_the_future_only_at_death(terminated, truncated, alive):
    life = Life("mlp_dqn", discrete())
    life.act(np.zeros(5))
    life.learn(np.ones(5), 1.0, terminated, truncated)
    assert life.mem[life.ints[mlp_dqn.ALIVE]] == alive


@pytest.mark.parametrize("name", ["mlp_dqn", "q_table"])
def test_epsilon_falls_to_its_end(name):
    life = Life(name, discrete(), epsilon_start=1, epsilon_end=0, epsilon_steps=1000, learning_rate=0)
    taken = []
    for _ in range(1200):
        taken.append(life.act(np.zeros(5))[0])
        life.learn(np.zeros(5), 0.0)
    greedy = np.mean(np.array(taken[:1000]) == taken[-1])
    assert greedy == pytest.approx(0.5 + 0.5 / 4, abs=0.06)
    assert len(set(taken[1000:])) == 1


@pytest.mark.parametrize(("terminated", "truncated", "goal"), [(0, 0, 1 + 0.5 * 3), (0, 1, 1 + 0.5 * 3), (1, 0, 1)])
def test_q_table_update(terminated, truncated, goal):
    life = Life("q_table", discrete(), epsilon_start=0, epsilon_end=0, learning_rate=0.25, gamma=0.5)
    life.act(np.ones(5))
    following = life.ints[q_table.CELL]
    life.mem[following : following + 4] = 1, 3, 2, 0
    life.act(-np.ones(5))
    life.learn(np.ones(5), 1.0, terminated, truncated)
    assert life.mem[life.ints[q_table.CELL]] == pytest.approx(0.25 * goal)


def test_q_table_gives_every_combination_of_cells_its_own_row():
    life = Life("q_table", effectors(inputs=2), bins=4, levels=2)
    centres = (np.arange(4) + 0.5) / 4
    cells = set()
    for x in centres:
        for y in centres:
            life.act([x, y])
            cells.add(int(life.ints[q_table.CELL]))
    assert cells == set(range(0, 16 * 8, 8))


@pytest.mark.parametrize("value", [-1e9, -1.0, 1.0, 1e9, np.inf, np.nan])
def test_q_table_keeps_values_out_of_range_inside_the_table(value):
    life = Life("q_table", discrete())
    life.act(np.full(5, value))
    assert 0 <= life.ints[q_table.CELL] <= life.mem.size - 4


def test_q_table_hashes_what_does_not_fit():
    life, numbers = Life("q_table", effectors(inputs=62), rows=1000), np.random.default_rng(0)
    cells = []
    for _ in range(2000):
        life.act(numbers.uniform(0, 1, 62))
        cells.append(int(life.ints[q_table.CELL]))
    assert life.mem.size == 1000 * 27
    assert {cell % 27 for cell in cells} == {0}
    assert max(cells) <= life.mem.size - 27
    assert 800 < len(set(cells)) <= 1000


def test_q_table_refuses_too_many_joint_actions():
    with pytest.raises(ValueError, match="fewer levels"):
        Life("q_table", effectors(outputs=10))
