"""A list of the nodes that spiked: what follows from a spike then costs as much as there are spikes."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from nematodebench.kernels.jit import F32, I64, accessor, kernel
from nematodebench.kernels.memory import Memory, counter, size, words

__all__ = ["SpikeList", "copy_spikes", "list_spikes", "spiked_nodes"]


class SpikeList(Memory):
    """The numbers of the nodes that spiked are the first ``count`` words of ``listed``."""

    nodes = size()
    count = counter()
    listed = words("nodes")

    def learned(self) -> Iterator[tuple[str, Any]]:
        """The nodes that spiked; what lies behind them in the list is of no meaning."""
        yield "spiked", np.asarray(self.listed)[: self.count]


@accessor
def spiked_nodes(spikes: SpikeList) -> I64:
    """The nodes that spiked, in ascending order."""
    return spikes.listed[: spikes.count]


@kernel()
def list_spikes(spikes: SpikeList, spike: F32) -> None:
    """Lists the nodes whose ``spike`` is above 0."""
    n = 0
    for i in range(spikes.nodes):
        spikes.listed[n] = i  # always written and counted if true: there is no branch to be guessed wrong
        n += 1 if spike[i] > 0.0 else 0
    spikes.count = n


@kernel()
def copy_spikes(source: SpikeList, target: SpikeList) -> None:
    """Keeps a list before it is made anew."""
    for n in range(source.count):
        target.listed[n] = source.listed[n]
    target.count = source.count
