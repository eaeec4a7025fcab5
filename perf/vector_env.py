"""Steps a second of the vector environment at 64 lanes, beside Gymnasium's own vector CartPole in the same run.

Random actions, automatic resets included, one Python call a step, one core. Rounds of both alternate and the best of
each counts, so that a busy machine disturbs neither more than the other.
"""

import time
from typing import Any

import gymnasium
import numpy as np

from nematodebench.interop.vector import NematodeVectorEnv

LANES = 64
ROUNDS = 40
CALLS = 512


def seconds_a_call(env: Any, actions: list[Any]) -> float:
    """Wall time of one step of all lanes, over one round."""
    step = env.step
    start = time.perf_counter()
    for _ in range(CALLS // len(actions)):
        for action in actions:
            step(action)
    return (time.perf_counter() - start) / CALLS


def main() -> None:
    """Measures and prints."""
    environments = {
        "foraging_small-v1, copy=False": NematodeVectorEnv("foraging_small-v1", LANES, copy=False),
        "foraging_small-v1, copy=True": NematodeVectorEnv("foraging_small-v1", LANES),
        "CartPole-v1": gymnasium.make_vec("CartPole-v1", LANES, vectorization_mode="vector_entry_point"),
    }
    rng = np.random.default_rng(0)
    best = dict.fromkeys(environments, np.inf)
    actions = {}
    for name, env in environments.items():
        env.reset(seed=0)
        choices = int(env.single_action_space.n)  # type: ignore[attr-defined]
        actions[name] = [rng.integers(0, choices, LANES) for _ in range(64)]
    for _ in range(ROUNDS):
        for name, env in environments.items():
            best[name] = min(best[name], seconds_a_call(env, actions[name]))
    cartpole = best["CartPole-v1"]
    for name, seconds in best.items():
        rate = LANES / seconds / 1e6
        print(f"{name:32s} {rate:7.2f} M steps/s  {seconds * 1e6:7.2f} us/call  {cartpole / seconds:6.1f} x CartPole-v1")


if __name__ == "__main__":
    main()
