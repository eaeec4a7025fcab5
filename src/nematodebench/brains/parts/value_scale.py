"""The scale of a value: a network learns standardised targets, so that no reward is too large or too small for it.

Policy and value share a network here. Without a scale the errors of a value that counts in tens move the shared layers
far more than the policy does.
"""

import numpy as np

from nematodebench.brains.parts.rollout import Rollout
from nematodebench.kernels.jit import kernel
from nematodebench.kernels.memory import Memory, counter, real
from nematodebench.kernels.mlp import Network, rescale_output

__all__ = ["ValueScale", "standardise_targets", "start_scale", "true_value"]

_LEAST = 1e-3  # targets that are all but equal are not blown up to noise


class ValueScale(Memory):
    """Running mean and spread of the value targets: the network's output x spread + mean is the value."""

    mean = real()
    spread = real()
    rollouts = counter()


@kernel()
def start_scale(scale: ValueScale) -> None:
    """At first the output is the value itself."""
    scale.mean, scale.spread = np.float32(0.0), np.float32(1.0)


@kernel()
def true_value(scale: ValueScale, output: np.float32) -> np.float32:
    """The value that an output of the network means."""
    return scale.mean + scale.spread * output


@kernel()
def standardise_targets(scale: ValueScale, rollout: Rollout, rate: float, net: Network, output: int) -> None:
    """Takes the targets of a rollout into the running scale, and standardises them by it.

    The network's output is changed so that its values stay what they were. ``rate`` is the weight of a new rollout; the
    first ones count as much as they are of all.
    """
    targets = rollout.targets[: rollout.filled]
    mean, square = 0.0, 0.0
    for t in range(targets.size):
        mean += np.float64(targets[t])
    mean /= targets.size
    for t in range(targets.size):
        square += (np.float64(targets[t]) - mean) * (np.float64(targets[t]) - mean)
    scale.rollouts += 1
    share = max(1.0 / scale.rollouts, rate)
    old_mean, old_spread = np.float64(scale.mean), np.float64(scale.spread)
    moved = mean - old_mean
    variance = (1.0 - share) * (old_spread * old_spread + share * moved * moved) + share * square / targets.size
    scale.mean, scale.spread = np.float32(old_mean + share * moved), np.float32(max(np.sqrt(variance), _LEAST))
    new_mean, new_spread = np.float64(scale.mean), np.float64(scale.spread)
    rescale_output(net, output, old_spread / new_spread, (old_mean - new_mean) / new_spread)
    for t in range(targets.size):
        targets[t] = (targets[t] - scale.mean) / scale.spread
