"""Policies that were trained elsewhere: a stable-baselines3 zip and an ONNX file of the same network, scored.

python examples/score_policy.py
"""

import sys
import tempfile
from pathlib import Path

import gymnasium
import torch
from stable_baselines3 import PPO

import nematodebench as nb

TASK = "foraging_small-v2"


class Logits(torch.nn.Module):
    """The part of a PPO policy that chooses: from observations to one number for each action."""

    def __init__(self, policy: torch.nn.Module) -> None:
        super().__init__()
        self.layers, self.head = policy.mlp_extractor.policy_net, policy.action_net

    def forward(self, observation: torch.Tensor) -> torch.Tensor:
        """The largest number is the action."""
        return self.head(self.layers(observation))


def train(folder: Path, steps: int) -> list[Path]:
    """Trains in the usual way, somewhere else as far as NematodeBench is concerned, and saves the result twice."""
    env = gymnasium.make(f"nematodebench/{TASK}")
    model = PPO("MlpPolicy", env, n_steps=256, learning_rate=1e-3, gamma=0.95, seed=0, device="cpu")
    model.learn(steps)
    model.save(folder / "policy.zip")
    example = torch.zeros(1, *env.observation_space.shape)
    logits = Logits(model.policy).eval()
    torch.onnx.export(logits, (example,), folder / "policy.onnx", verbose=False, external_data=False)
    return [folder / "policy.zip", folder / "policy.onnx"]


def main(steps: int = 20_000, runs: int = 10, episodes: int | None = None) -> None:
    """Scores both files on the same worlds: they are the same policy, so they get the same score."""
    with tempfile.TemporaryDirectory() as name:
        for path in train(Path(name), steps):
            session = nb.score(path, TASK, runs=runs, episodes=episodes, seed=1)
            found = session.metadata().normalised
            print(session, "" if found is None else f"normalised {found.score:.3f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
