"""What a swarm costs as it grows: agent steps a second and nanoseconds for a pair of agents, 8 to 512 of them.

Every agent looks at every other, so a tick takes O(n^2): the time for a pair must not rise with their number. (It falls
at first, because what an agent pays for itself, its rays and their noise, is spread over more pairs.) The square grows
with the agents, so that they stand as close as in the tasks. Physics and senses alone, one core, random effectors that
change every tick; rounds of all sizes alternate and the best of each counts.
"""

import time
from typing import Any

import numpy as np

from nematodebench.kernels.jit import F32M, F64, U64, kernel
from nematodebench.kernels.rng import uniform
from nematodebench.worlds.arrays import WorldArrays
from nematodebench.worlds.base import World
from nematodebench.worlds.swarm.forage import Forage
from nematodebench.worlds.swarm.torus import Torus

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
    """A world with its arrays at the beginning of an episode."""

    def __init__(self, world: World) -> None:
        self.agents, self.arrays = world.agents, WorldArrays(world)
        self.arrays.compile()
        self.arrays.begin(seed=1, episode=0)
        self.move(1)

    def move(self, count: int) -> None:
        """Some ticks of all agents."""
        arrays = self.arrays
        ticks(
            arrays.world.step, count, arrays.params, arrays.states[0], arrays.rng[0], arrays.action[0], arrays.obs[0],
            arrays.outs[0],
        )  # fmt: skip

    @property
    def pairs(self) -> int:
        """Who looks at whom."""
        return self.agents * (self.agents - 1)

    def seconds_a_tick(self) -> float:
        """Wall time of one tick of all agents, over one round."""
        count = max(PAIRS // self.pairs, 1)
        start = time.perf_counter()
        self.move(count)
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
