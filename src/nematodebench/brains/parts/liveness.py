"""Liveness: how active the nodes of a network were, counted tick by tick and reported after a run."""

from nematodebench.kernels.jit import kernel
from nematodebench.kernels.memory import Memory, counter, size

__all__ = ["Liveness", "count_active", "liveness_of"]

_SATURATED_SHARE = 0.9


class Liveness(Memory):
    """Counts over all ticks; ``silent`` and ``saturated`` count the ticks with no node and with nearly all active."""

    nodes = size()
    ticks = counter()
    active = counter()
    squares = counter()
    silent = counter()
    saturated = counter()


@kernel()
def count_active(liveness: Liveness, active: int) -> None:
    """Adds a tick in which so many nodes were active."""
    liveness.ticks += 1
    liveness.active += active
    liveness.squares += active * active
    liveness.silent += 1 if active == 0 else 0
    liveness.saturated += 1 if active >= _SATURATED_SHARE * liveness.nodes else 0


def liveness_of(liveness: Liveness) -> dict[str, float]:
    """Mean share of active nodes, its variance over ticks, shares of ticks with none and with 90 % or more active."""
    ticks, nodes = max(liveness.ticks, 1), liveness.nodes
    mean = liveness.active / ticks
    return {
        "mean_rate": mean / nodes,
        "rate_variance": max(0.0, liveness.squares / ticks - mean * mean) / nodes**2,
        "silent": liveness.silent / ticks,
        "saturated": liveness.saturated / ticks,
    }
