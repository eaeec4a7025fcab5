"""The brains that learn: legal actions, updates at the right time, and that they do learn."""

import numpy as np
import pytest
from brain_trial import Trial, discrete, effectors, forage
from pydantic import ValidationError

from nematodebench.brains.registry import get_brain

LEARNERS = ["mlp_ppo", "mlp_reinforce", "mlp_dqn", "quantum_vqc", "q_table"]
NETWORKS = LEARNERS[:4]
SMALL = {
    "mlp_ppo": {"rollout": 16, "minibatch": 8, "epochs": 2},
    "mlp_reinforce": {"horizon": 16},
    "mlp_dqn": {"replay": 32, "minibatch": 8, "warmup": 8},
    "quantum_vqc": {"rollout": 16, "minibatch": 8, "epochs": 2},
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
    assert one.brains.mem.tobytes() == other.brains.mem.tobytes()


@pytest.mark.parametrize("name", LEARNERS)
def test_another_seed_is_another_run(name):
    _, one = forage(name, episodes=15)
    _, other = forage(name, episodes=15, seed=2)
    assert one.brains.mem.tobytes() != other.brains.mem.tobytes()


@pytest.mark.parametrize("name", LEARNERS)
def test_discrete_actions_are_whole_numbers_in_range(name):
    trial, numbers = Trial(name, discrete(), **SMALL[name]), np.random.default_rng(0)
    seen = set()
    for _ in range(100):
        seen.add(float(trial.act(numbers.uniform(-1, 1, 5))[0]))
        trial.learn(numbers.uniform(-1, 1, 5), numbers.normal())
    assert seen == {0.0, 1.0, 2.0, 3.0}


@pytest.mark.parametrize("name", LEARNERS)
def test_effectors_take_all_levels_between_0_and_1(name):
    trial, numbers = Trial(name, effectors(), levels=3, **SMALL[name]), np.random.default_rng(0)
    seen = [set(), set(), set()]
    for _ in range(100):
        for n, value in enumerate(trial.act(numbers.uniform(0, 1, 4))):
            seen[n].add(float(value))
        trial.learn(numbers.uniform(0, 1, 4), numbers.normal())
    assert seen == [{0.0, 0.5, 1.0}] * 3


@pytest.mark.parametrize("name", NETWORKS)
def test_broken_weights_give_an_illegal_action(name):
    trial = Trial(name, discrete(), **SMALL[name])
    trial.mem[:] = np.nan
    assert np.isnan(trial.act(np.zeros(5))[0])


@pytest.mark.parametrize("name", LEARNERS)
def test_an_unknown_parameter_is_an_error(name):
    with pytest.raises(ValidationError, match="learning_rat"):
        get_brain(name).config(learning_rat=0.1)


def test_ppo_updates_when_the_rollout_is_full():
    trial, numbers = Trial("mlp_ppo", discrete(), rollout=16, minibatch=8, epochs=3), np.random.default_rng(0)
    trial.play(15, numbers)
    assert trial.brain.net.adam.steps == 0
    trial.play(1, numbers)
    assert trial.brain.net.adam.steps == 3 * 2


@pytest.mark.parametrize(("steps", "updates"), [(4, 0), (5, 1), (10, 2), (12, 2)])
def test_reinforce_updates_when_an_episode_ends(steps, updates):
    trial = Trial("mlp_reinforce", discrete(), horizon=8)
    trial.play(steps, np.random.default_rng(0), end_every=5)
    assert trial.brain.net.adam.steps == updates


def test_reinforce_updates_when_the_horizon_is_reached():
    trial = Trial("mlp_reinforce", discrete(), horizon=8)
    trial.play(17, np.random.default_rng(0), end_every=1000)
    assert trial.brain.net.adam.steps == 2
    assert trial.brain.rollout.filled == 1


def test_reinforce_waits_for_a_batch_of_episodes():
    trial = Trial("mlp_reinforce", discrete(), horizon=100, batch_episodes=3)
    trial.play(14, np.random.default_rng(0), end_every=5)
    assert (trial.brain.net.adam.steps, trial.brain.episodes) == (0, 2)
    trial.learn(np.zeros(5), 1.0, terminated=True)
    assert (trial.brain.net.adam.steps, trial.brain.episodes) == (1, 0)


def test_dqn_trains_every_few_steps_after_the_warmup():
    trial = Trial("mlp_dqn", discrete(), replay=32, minibatch=8, warmup=20, train_every=4)
    trial.play(19, np.random.default_rng(0))
    assert trial.brain.updates == 0
    trial.play(21, np.random.default_rng(0))
    assert trial.brain.updates == 6


def test_dqn_renews_its_target_network():
    trial = Trial("mlp_dqn", discrete(), replay=32, minibatch=8, warmup=1, train_every=1, target_every=5)
    net, target = trial.brain.net, trial.brain.target
    numbers = np.random.default_rng(0)
    np.testing.assert_array_equal(net.parameters, target.parameters)
    trial.play(4, numbers)
    assert (net.parameters != target.parameters).any()
    trial.play(1, numbers)
    np.testing.assert_array_equal(net.parameters, target.parameters)


@pytest.mark.parametrize(("terminated", "truncated", "alive"), [(0, 0, 1), (0, 1, 1), (1, 0, 0)])
def test_dqn_forgets_the_future_only_at_a_termination(terminated, truncated, alive):
    trial = Trial("mlp_dqn", discrete())
    trial.act(np.zeros(5))
    trial.learn(np.ones(5), 1.0, terminated, truncated)
    assert trial.brain.replay.alive[0] == alive


@pytest.mark.parametrize("name", ["mlp_dqn", "q_table"])
def test_epsilon_falls_to_its_end(name):
    trial = Trial(name, discrete(), epsilon_start=1, epsilon_end=0, epsilon_steps=1000, learning_rate=0)
    taken = []
    for _ in range(1200):
        taken.append(trial.act(np.zeros(5))[0])
        trial.learn(np.zeros(5), 0.0)
    greedy = np.mean(np.array(taken[:1000]) == taken[-1])
    assert greedy == pytest.approx(0.5 + 0.5 / 4, abs=0.06)
    assert len(set(taken[1000:])) == 1


@pytest.mark.parametrize(("terminated", "truncated", "goal"), [(0, 0, 1 + 0.5 * 3), (0, 1, 1 + 0.5 * 3), (1, 0, 1)])
def test_q_table_update(terminated, truncated, goal):
    trial = Trial("q_table", discrete(), epsilon_start=0, epsilon_end=0, learning_rate=0.25, gamma=0.5)
    trial.act(np.ones(5))
    following = trial.brain.row
    trial.brain.table[following] = 1, 3, 2, 0
    trial.act(-np.ones(5))
    trial.learn(np.ones(5), 1.0, terminated, truncated)
    assert trial.brain.row != following
    assert trial.brain.choice == 0
    assert trial.brain.table[trial.brain.row, 0] == pytest.approx(0.25 * goal)


def test_q_table_gives_every_combination_of_cells_its_own_row():
    trial = Trial("q_table", effectors(inputs=2), bins=4, levels=2)
    centres = (np.arange(4) + 0.5) / 4
    rows = set()
    for x in centres:
        for y in centres:
            trial.act([x, y])
            rows.add(trial.brain.row)
    assert rows == set(range(16))
    assert trial.brain.table.shape == (16, 8)


@pytest.mark.parametrize("value", [-1e9, -1.0, 1.0, 1e9, np.inf, np.nan])
def test_q_table_keeps_values_out_of_range_inside_the_table(value):
    trial = Trial("q_table", discrete())
    trial.act(np.full(5, value))
    assert trial.brain.table.shape == (5**5, 4)
    assert 0 <= trial.brain.row < 5**5


def test_q_table_hashes_what_does_not_fit():
    trial, numbers = Trial("q_table", effectors(inputs=62), rows=1000), np.random.default_rng(0)
    rows = []
    for _ in range(2000):
        trial.act(numbers.uniform(0, 1, 62))
        rows.append(trial.brain.row)
    assert trial.brain.table.shape == (1000, 27)
    assert min(rows) >= 0
    assert max(rows) < 1000
    assert 800 < len(set(rows)) <= 1000


def test_q_table_refuses_too_many_joint_actions():
    with pytest.raises(ValueError, match="fewer levels"):
        Trial("q_table", effectors(outputs=10))
