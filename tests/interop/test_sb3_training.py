"""Somebody else's learner learns on our environment."""

import numpy as np
import pytest
import torch

from nematodebench.interop.env import NematodeEnv

stable_baselines3 = pytest.importorskip("stable_baselines3")

TASK = "foraging_small-v1"
EPISODES = 30


def foods(policy):
    """Foods found in each of some episodes the learner never saw."""
    env = NematodeEnv(TASK)
    found = []
    for episode in range(EPISODES):
        obs, _ = env.reset(seed=90_000) if episode == 0 else env.reset()
        ended = False
        while not ended:
            obs, _, terminated, truncated, info = env.step(policy(obs))
            ended = terminated or truncated
        found.append(info["foods"])
    return np.array(found)


@pytest.mark.slow
def test_ppo_of_stable_baselines3_beats_the_null():
    torch.set_num_threads(1)
    model = stable_baselines3.PPO(
        "MlpPolicy", NematodeEnv(TASK), n_steps=256, batch_size=64, learning_rate=1e-3, gamma=0.95, seed=0,
        device="cpu",
    )  # fmt: skip
    model.learn(4096)
    numbers = np.random.default_rng(0)
    null = foods(lambda obs: int(numbers.integers(4)))
    trained = foods(lambda obs: int(model.predict(obs, deterministic=False)[0]))
    error = np.hypot(null.std(ddof=1), trained.std(ddof=1)) / np.sqrt(EPISODES)
    assert trained.mean() > 2 * null.mean()
    assert trained.mean() - null.mean() > 5 * error
