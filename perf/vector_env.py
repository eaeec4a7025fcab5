"""Steps a second of the vector environment at 64 lanes, beside Gymnasium's own vector CartPole in the same run.

Random actions, automatic resets included, one Python call a step, one core. Rounds of about 2 ms alternate and the best
of each counts, so that a busy machine disturbs none more than the others.
"""

import time
from typing import Any

import gymnasium
import numpy as np

from nematodebench.interop.vector import NematodeVectorEnv

LANES = 64
ROUNDS = 200
CALLS = {True: 512, False: 32}
"""Calls a round: ours are that much shorter."""
WANTED, WANTED_RATE = 10.0, 13e6


def seconds_a_call(env: Any, actions: list[Any]) -> float:
    """Wall time of one step of all lanes, over one round."""
    step = env.step
    start = time.perf_counter()
    for action in actions:
        step(action)
    return (time.perf_counter() - start) / len(actions)


def main() -> None:
    """Alternates between the environments; prints the best round of each and the ratio."""
    environments: dict[str, Any] = {
        "foraging_small-v1, copy=False": NematodeVectorEnv("foraging_small-v1", LANES, copy=False),
        "foraging_small-v1, copy=True": NematodeVectorEnv("foraging_small-v1", LANES),
        "CartPole-v1": gymnasium.make_vec("CartPole-v1", LANES, vectorization_mode="vector_entry_point"),
    }
    rng = np.random.default_rng(0)
    best = dict.fromkeys(environments, np.inf)
    actions = {}
    for name, env in environments.items():
        env.reset(seed=0)
        calls = CALLS[isinstance(env, NematodeVectorEnv)]
        actions[name] = [rng.integers(0, env.single_action_space.n, LANES) for _ in range(calls)]
    for _ in range(ROUNDS):
        for name, env in environments.items():
            best[name] = min(best[name], seconds_a_call(env, actions[name]))
    for name, seconds in best.items():
        print(f"{name:30s} {LANES / seconds / 1e6:6.2f} M steps/s  ({seconds * 1e6:.2f} us a call)")
    rate = LANES / best["foraging_small-v1, copy=False"]
    ratio = rate * best["CartPole-v1"] / LANES
    below = "" if ratio >= WANTED and rate >= WANTED_RATE else "  BELOW"
    print(f"ratio: {ratio:.0f} x (wanted {WANTED:.0f} x and {WANTED_RATE / 1e6:.0f} M steps/s){below}")


if __name__ == "__main__":
    main()
