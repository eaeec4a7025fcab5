"""PPO of stable-baselines3 as a brain, trained and measured like any other.

nematodebench run association-v2 examples/sb3_brain.py:SmallPPO --runs 10
"""

from stable_baselines3 import PPO

import nematodebench as nb


class SmallPPO(nb.adapters.sb3(PPO, n_steps=128, batch_size=64, learning_rate=1e-3, policy_kwargs={"net_arch": [32]})):
    """Two settings are parameters of the brain, which --set can change; policy_kwargs are handed on as they are."""


def main() -> None:
    """Two short runs from one seed, and where they stand between chance and the ceiling."""
    session = nb.run("association-v2", SmallPPO, runs=2, seed=1, config={"n_epochs": 4})
    print(session)
    print(f"normalised score: {session.metadata().normalised.score:.3f}")


if __name__ == "__main__":
    main()
