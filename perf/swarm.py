"""What a swarm costs as it grows: agent steps a second and nanoseconds for a pair of agents, 8 to 512 of them.

Every agent looks at every other, so a tick takes O(n^2): the time for a pair must not rise with their number. (It falls
at first, because what an agent pays for itself, its rays and their noise, is spread over more pairs.) The square grows
with the agents, so that they stand as close as in the tasks. Physics and senses alone, one core, random effectors that
change every tick; rounds of all sizes alternate and the best of each counts.
"""

import time
from typing import Any

import numpy as np

from nematodebench.kernels.abi import WORLD
from nematodebench.kernels.jit import F32M, F64, U64, first_class, kernel
from nematodebench.kernels.rng import RNG_WORDS, STREAM_WORLD, set_stream, uniform
from nematodebench.worlds.base import World
from nematodebench.worlds.swarm.swarm import Forage, Torus

AGENTS, USUAL, SIDE = (8, 64, 512), 8, 15.0
ROUNDS, PAIRS = 25, 2_000_000
"""Pairs seen in a round, whatever the number of agents."""


@kernel()
def ticks(step: Any, count: int, params: F64, state: F64, rng: U64, action: F32M, obs: F32M, out: F64) -> None:
    """Lets the swarm move at random."""
    for _ in range(count):
        for a in range(action.shape[0]):
            for n in range(action.shape[1]):
                action[a, n] = np.float32(uniform(rng))
        step(params, state, rng, action, obs, out)


class Swarm:
    """A world and the arrays it lives in."""

    def __init__(self, world: World) -> None:
        self.agents, self.step = world.agents, first_class(world.step, WORLD)
        rng = np.zeros(RNG_WORDS, dtype=np.uint64)
        set_stream(rng, np.uint64(1), STREAM_WORLD, 0, 0)
        action, obs = (np.zeros((self.agents, n), np.float32) for n in (world.actions.n, len(world.sensors)))
        self.life = (world.pack(), np.zeros(world.state_size), rng, action, obs, np.zeros(world.out_size))
        world.reset(*self.life)
        ticks(self.step, 1, *self.life)

    @property
    def pairs(self) -> int:
        """Who looks at whom."""
        return self.agents * (self.agents - 1)

    def seconds_a_tick(self) -> float:
        """Wall time of one tick of all agents, over one round."""
        count = max(PAIRS // self.pairs, 1)
        start = time.perf_counter()
        ticks(self.step, count, *self.life)
        return (time.perf_counter() - start) / count


def main() -> None:
    """Alternates between the sizes; prints the best round of each."""
    sides = {n: SIDE * float(np.sqrt(n / USUAL)) for n in AGENTS}
    swarms = {(kind.name, n): Swarm(kind(n_agents=n, side=sides[n])) for kind in (Torus, Forage) for n in AGENTS}
    best = dict.fromkeys(swarms, np.inf)
    for _ in range(ROUNDS):
        for key, swarm in swarms.items():
            best[key] = min(best[key], swarm.seconds_a_tick())
    for (name, n), seconds in best.items():
        pair = 1e9 * seconds / swarms[name, n].pairs
        rises = "  RISES" if pair > 1e9 * best[name, AGENTS[0]] / swarms[name, AGENTS[0]].pairs else ""
        print(f"{name:7s} {n:4d} agents  {1e-6 * n / seconds:6.2f} M agent steps/s  {pair:6.2f} ns a pair{rises}")


if __name__ == "__main__":
    main()
