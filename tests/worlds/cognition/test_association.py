"""World `association`: one permutation a run, judged answers."""

import numpy as np
import pytest
from harness_continual import MOST, Trial, mean_reward, null, run_episodes

from nematodebench.worlds.cognition.association import Association


def answers(seed, episode=0):
    return tuple(Trial(Association(), seed, episode).state.answers)


def test_the_answers_are_the_same_in_all_episodes_of_a_run():
    assert len({answers(3, episode) for episode in (0, 1, 2, 24, 10**6)}) == 1


def test_the_answers_differ_between_runs_as_permutations_do():
    drawn = [answers(seed) for seed in range(1200)]
    assert all(sorted(one) == list(range(6)) for one in drawn)
    assert 500 < len(set(drawn)) < 650  # 720 there are; 720 (1 - exp(-1200/720)) = 584 to be expected
    counts = np.array([np.bincount(column, minlength=6) for column in np.array(drawn, int).T])
    assert counts == pytest.approx(np.full((6, 6), 200), abs=65)


def test_stimuli_are_new_in_every_episode():
    sequences = []
    for episode in range(3):
        trial = Trial(Association(), 3, episode)
        sequences.append([trial.step(0).state.stimulus for _ in range(50)])
    assert sequences[0] != sequences[1] != sequences[2] != sequences[0]


def test_stimuli_are_equally_likely():
    trial, seen = Trial(Association()), []
    for episode in range(24):
        trial.begin(1, episode)
        while not trial.done:
            seen.append(trial.obs[0, :6].argmax())
            trial.step(0)
    assert np.bincount(seen) == pytest.approx([200] * 6, abs=65)


def test_answers_are_judged():
    trial, generator = Trial(Association(), 2), np.random.default_rng(2)
    rights = []
    for step in range(1, 51):
        stimulus = trial.obs[0, :6].argmax()
        assert trial.obs[0, :6].sum() == 1.0
        right = trial.state.answers[stimulus]
        answer = right if generator.random() < 0.5 else generator.integers(10)
        rights.append(answer == right)
        assert trial.step(answer).reward == (1.0 if rights[-1] else -0.15)
        assert trial.sense("time") == np.float32(step / 50)
        assert trial.sense("accuracy") == np.float32(np.mean(rights[-10:]))
    assert trial.metrics == {"right": sum(rights)}


@pytest.mark.parametrize("action", range(6, 10))
def test_surplus_actions_are_wrong(action):
    trial = Trial(Association())
    assert all(trial.step(action).reward == -0.15 for _ in range(50))


def test_the_reference_reaches_the_maximum():
    assert (run_episodes(Association(), Association.reference, 20)[0][:, 1] == 50.0).all()


def test_null_reward_is_that_of_a_chance_of_a_tenth():
    mean, error = mean_reward(Association(), null, 4000)
    assert mean == pytest.approx(50 * (0.1 - 0.9 * 0.15), abs=4 * error)


def learn_table(seed, episodes=25):
    """Mean reward of one that remembers what was wrong and what was right, over a run."""
    trial, generator = Trial(Association()), np.random.default_rng(seed)
    untried = [list(generator.permutation(MOST)) for _ in range(6)]
    total = 0.0
    for episode in range(episodes):
        trial.begin(seed, episode)
        while not trial.done:
            tries = untried[trial.obs[0, :6].argmax()]
            total += trial.step(tries[0]).reward
            if trial.reward < 0.0:
                tries.pop(0)
    return total / episodes


def test_what_a_table_learner_gets():
    runs = np.array([learn_table(seed) for seed in range(20)])
    assert runs.mean() == pytest.approx(48.8, abs=4 * runs.std(ddof=1) / np.sqrt(20) + 0.05)
