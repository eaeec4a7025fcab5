"""Targets that cost nothing: scores drawn from the seed, with and without an effect of the parameters."""

import hashlib

import numpy as np

from nematodebench.search.space import Dimension

SPACE = (
    Dimension("rate", "float", 1e-4, 1e-1, True, "high", 1e-2),
    Dimension("units", "int", 1, 64, False, "medium", 8),
    Dimension("switch", "bool", 0.0, 1.0, False, "low", True),
)


def _noise(config, seed):
    """One fixed number for every config and seed, like a run's."""
    text = f"{sorted(config.items())}/{seed}".encode()
    return np.random.default_rng(int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little")).normal()


class Nothing:
    """No parameter matters; a third of the noise belongs to the seed, as in paired runs."""

    def effect(self, config):
        return 0.0

    def run(self, config, seeds):
        return [self.effect(config) + _noise(config, seed) + 0.5 * _noise({}, seed) for seed in seeds]

    def values(self, results):
        return np.array(results)


class Matters(Nothing):
    """The score has its peak at rate 1e-3, one decade from the default."""

    def effect(self, config):
        return -2.0 * abs(np.log10(config.get("rate", 1e-2)) + 3.0)
