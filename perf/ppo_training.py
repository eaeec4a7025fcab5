"""PPO training steps a second: ours with 2 workers against stable-baselines3 in 2 processes.

Same environment, rollout 256, 4 epochs, minibatches of 64, hidden 64-64. Start-up and compilation are not counted on
either side. Wanted: at least 280 times.
"""

import multiprocessing
import time

from nematodebench.sessions.config import SessionConfig
from nematodebench.sessions.execution import run_plan
from nematodebench.sessions.plan import make_plan

TASK = "foraging_small-v1"
ROLLOUT, EPOCHS, MINIBATCH = 256, 4, 64
WANTED = 280.0
PEER_STEPS = 8192


def peer(steps: int, seed: int) -> float:
    """Seconds stable-baselines3 takes for so many training steps, at one thread."""
    import gymnasium
    import torch
    from stable_baselines3 import PPO

    torch.set_num_threads(1)
    env = gymnasium.make(f"nematodebench/{TASK}")
    model = PPO("MlpPolicy", env, n_steps=ROLLOUT, batch_size=MINIBATCH, n_epochs=EPOCHS, seed=seed, device="cpu")
    model.learn(ROLLOUT)
    started = time.perf_counter()
    model.learn(steps)
    return time.perf_counter() - started


def peer_rate() -> float:
    """Steps a second of two such processes together."""
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        seconds = pool.starmap(peer, [(PEER_STEPS, 0), (PEER_STEPS, 1)])
    return sum(PEER_STEPS / s for s in seconds)


def our_rate(seed: int) -> float:
    """Steps a second of a session with two workers."""
    config = {"hidden": [64, 64], "rollout": ROLLOUT, "epochs": EPOCHS, "minibatch": MINIBATCH}
    given = SessionConfig(task=TASK, brain="mlp_ppo", runs=24, seed=seed, config=config)
    session = run_plan(make_plan(given, workers=2))
    return session.steps / session.wall_seconds


def main() -> None:
    """Alternates the two, so that both see the same machine; prints medians and their ratio."""
    our_rate(0)
    pairs = [(our_rate(k), peer_rate()) for k in range(3)]
    ours, theirs = (sorted(values)[1] for values in zip(*pairs, strict=True))
    print(f"mlp_ppo, 2 workers:                {ours:12,.0f} training steps/s")
    print(f"stable-baselines3, 2 processes:    {theirs:12,.0f} training steps/s")
    print(f"ratio: {ours / theirs:.0f} x (wanted {WANTED:.0f} x){'' if ours / theirs >= WANTED else '  BELOW'}")


if __name__ == "__main__":
    main()
