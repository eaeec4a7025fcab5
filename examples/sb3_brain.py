"""PPO of stable-baselines3 as a brain, trained and measured like any other.

nematodebench run association-v2 examples/sb3_brain.py:SmallPPO --runs 10
"""

from stable_baselines3 import PPO

from nematodebench.adapters import sb3

Small = sb3(PPO, n_steps=64, batch_size=32, learning_rate=1e-2, gamma=0.5, policy_kwargs={"net_arch": [32]})


class SmallPPO(Small):
    """Numbers are parameters of the brain, which --set can change; policy_kwargs are handed on as they are."""
