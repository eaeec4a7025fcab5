"""World `bit_memory`: the cue, the distractors, the question."""

import numpy as np
import pytest
from harness_continual import Trial, run_episodes

from nematodebench.kernels.rng import RNG_WORDS, STREAM_WORLD, randint, set_stream
from nematodebench.worlds.cognition.bit_memory import BitMemory


def port(delay, seed, episode, answer):
    """An independent version of one trial: all observations with the rewards that followed them."""
    words = np.zeros(RNG_WORDS, np.uint64)
    set_stream(words, np.uint64(seed), STREAM_WORLD, episode, 0)
    bits = [int(randint(words, 2)) for _ in range(1 + delay)]
    shown = [[1 - bit, bit, int(tick == 0), 0] for tick, bit in enumerate(bits)]
    reward = 1.0 if answer == bits[0] else -1.0
    return [*shown, [0, 0, 0, 1]], [0.0] * (delay + 1) + [reward]


@pytest.mark.parametrize("delay", [0, 1, 4, 16, 64])
def test_a_trial_is_that_of_an_independent_version(delay):
    trial = Trial(BitMemory(delay))
    for episode in range(40):
        answer = episode % 2
        trial.begin(7, episode)
        shown, rewards = port(delay, 7, episode, answer)
        for tick, (expected, reward) in enumerate(zip(shown, rewards, strict=True)):
            assert not trial.done
            assert list(trial.obs[0]) == expected
            # Only the answer counts: what is done before it is the opposite.
            assert trial.step(answer if tick == delay + 1 else 1 - answer).reward == reward
        assert trial.done
        assert trial.metrics == {"accuracy": 1.0 if rewards[-1] > 0 else 0.0}


def test_the_question_is_always_the_same():
    trial, questions = Trial(BitMemory(4)), set()
    for episode in range(50):
        trial.begin(1, episode)
        for _ in range(5):
            trial.step(0)
        questions.add(trial.obs.tobytes())
    assert len(questions) == 1


def test_bits_are_fair_and_distractors_know_nothing_of_them():
    trial, seen = Trial(BitMemory(1)), []
    for episode in range(4000):
        trial.begin(2, episode)
        first = trial.obs[0, 1]
        seen.append((first, trial.step(0).obs[0, 1]))
    assert np.histogram2d(*np.array(seen).T, bins=2)[0].ravel() == pytest.approx([1000] * 4, abs=130)


def test_the_reference_is_always_right():
    results, _ = run_episodes(BitMemory(16), BitMemory.reference, 50)
    assert (results[:, 1] == 1.0).all()


def test_text():
    trial = Trial(BitMemory(2))
    assert trial.world.text(trial.state).startswith("step 0 remember")
    for _ in range(3):
        trial.step(0)
    assert trial.world.text(trial.state).endswith("now go")
