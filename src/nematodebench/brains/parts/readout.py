"""A linear readout that learns from reward: actor and critic with eligibility traces, the reservoirs' last layer.

Three factors change a weight: the feature it comes from, what was done (both kept in a trace), and the surprise about
the reward, the same number for all. One matrix [features, columns] holds everything: a column for each level of each
action head, then one for the value. With features phi, probabilities p and surprise d of a step:

| what | rule |
|---|---|
| surprise | d = reward + gamma x next value - value; the next value is 0 after termination, not after truncation |
| traces | Z <- gamma x trace x Z + phi x (1 if chosen - p); phi x 1 for the value |
| policy | W += lr_policy / n x d / s x Z, s^2 the running mean of d^2: rewards of any size are the same to it |
| value | W += lr_value / n x d x Z |
| entropy | W += lr_policy x entropy / n x phi x gradient of the policy's entropy |

n is the running mean of the squared length of phi, so that learning rates mean the same for every reservoir and body.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from nematodebench.brains.base import BrainConfig, Interface
from nematodebench.brains.parameters import parameter
from nematodebench.brains.parts.heads import Heads, sample_heads
from nematodebench.brains.synapses import Synapses
from nematodebench.kernels.abi import Feedback
from nematodebench.kernels.jit import F32, U64, kernel
from nematodebench.kernels.math import log32
from nematodebench.kernels.memory import Memory, constant, counter, floats, part, real, size
from nematodebench.kernels.vectors import matrix, padded, product, sum_squares

__all__ = ["Readout", "ReadoutConfig", "choose", "forget_actions", "learn_from"]

_RENEWED = np.float32(0.001)
"""Share of a running mean that is renewed in a step."""
_LEAST = np.float32(1e-6)
"""What running means are divided by at least."""


class ReadoutConfig(BrainConfig):
    """Parameters of a readout that learns from reward."""

    lr_policy: float = parameter(0.02, 0, 10, "step size of the policy")
    lr_value: float = parameter(0.05, 0, 10, "step size of the value")
    gamma: float = parameter(0.95, 0, 1, "discount of future reward")
    trace: float = parameter(0.9, 0, 1, "how long eligibility lasts: share kept in a step, times gamma")
    entropy: float = parameter(0.01, 0, 10, "weight of the entropy bonus")
    levels: int = parameter(5, 2, 64, "values an effector can take")


class Readout(Memory):
    """Rows of ``weights`` and ``traces`` are padded to whole vector registers.

    Whoever has a readout writes its features to ``phi``. ``fresh`` tells whether they are those of the present
    observation already: they are after :func:`learn_from`, which saw it as the next one.
    """

    lr_policy = constant()
    lr_value = constant()
    gamma = constant()
    trace = constant()
    entropy = constant()
    features = size()
    width = size()
    heads = part(Heads)
    fresh = counter()
    phi = floats("features")
    weights = floats("features", "width")
    traces = floats("features", "width")
    outputs = floats("width", scratch=True)
    factors = floats("width", scratch=True)
    chosen = floats("width", scratch=True)
    zeros = floats("width", scratch=True)
    mean_square_surprise = real()
    mean_square_length = real()
    value = real()

    @classmethod
    def shape(cls, body: Interface, features: int, levels: int) -> Mapping[str, Any]:
        """The sizes of a readout from ``features``; ``levels`` are those of an effector."""
        heads = Heads.shape(body, levels)
        return {"features": features, "width": padded(heads["count"] * heads["levels"] + 1), "heads": heads}

    def learned(self) -> Iterator[tuple[str, Any]]:
        """Everything that is kept, without the padding of the rows."""
        columns = self.heads.count * self.heads.levels + 1
        for name, value in super().learned():
            yield name, value[:, :columns] if name in {"weights", "traces"} else value

    def synapses(self) -> Iterator[Synapses]:
        """From every feature to every logit and the value."""
        columns = self.heads.count * self.heads.levels + 1
        yield Synapses("readout", self.features, columns, columns, 0, np.asarray(self.phi), counted=False)


@kernel()
def forget_actions(readout: Readout) -> None:
    """Nothing is eligible any more: a new episode begins."""
    for f in range(readout.features):
        trace = readout.traces[f]
        for k in range(readout.width):
            trace[k] = np.float32(0.0)
    readout.fresh = 0


@kernel()
def _compute_outputs(readout: Readout) -> np.float32:
    """Writes the logits of all heads to ``outputs``; returns the value."""
    outputs = readout.outputs
    product(
        matrix(readout.phi, 0, 1, readout.features), readout.weights, readout.zeros,
        matrix(outputs, 0, 1, readout.width),
    )  # fmt: skip
    value: np.float32 = outputs[readout.heads.count * readout.heads.levels]
    return value


@kernel()
def choose(readout: Readout, rng: U64, action: F32) -> None:
    """Draws an action from the features and makes what led to it eligible."""
    readout.value = _compute_outputs(readout)
    length, mean = sum_squares(readout.phi), readout.mean_square_length
    mean += (_RENEWED if mean > 0.0 else np.float32(1.0)) * (length - mean)
    readout.mean_square_length = mean
    sample_heads(readout.heads, readout.outputs, readout.chosen, rng, action)
    step = np.float32(readout.lr_policy * readout.entropy) / max(mean, _LEAST)
    for head in range(readout.heads.count):
        _compute_factors(readout, head, step)
    _update_traces(readout, np.float32(readout.gamma * readout.trace))
    readout.fresh = 0


@kernel()
def _compute_factors(readout: Readout, head: int, step: np.float32) -> None:
    """For each level of a head: (1 if chosen - p) to ``factors``, its part of the entropy bonus to ``outputs``."""
    levels = readout.heads.levels
    p = readout.outputs[head * levels : (head + 1) * levels]
    factor = readout.factors[head * levels : (head + 1) * levels]
    total, entropy = np.float32(0.0), np.float32(0.0)
    for k in range(levels):
        total += p[k]
    for k in range(levels):
        p[k] = max(p[k] / total, np.float32(1e-30))
        entropy -= p[k] * log32(p[k])
    chosen = np.int64(readout.chosen[head])
    for k in range(levels):
        factor[k] = (np.float32(1.0) if k == chosen else np.float32(0.0)) - p[k]
        p[k] = -step * p[k] * (log32(p[k]) + entropy)


@kernel()
def _update_traces(readout: Readout, decay: np.float32) -> None:
    """Traces decay and take in this step; the entropy bonus goes to the weights at once."""
    width, logits = readout.width, readout.heads.count * readout.heads.levels
    factors, bonus = readout.factors, readout.outputs
    for k in range(logits, width):
        bonus[k] = np.float32(0.0)
        factors[k] = np.float32(1.0) if k == logits else np.float32(0.0)
    for f in range(readout.features):
        phi, trace, weight = readout.phi[f], readout.traces[f], readout.weights[f]
        for k in range(width):
            trace[k] = decay * trace[k] + phi * factors[k]
            weight[k] += phi * bonus[k]


@kernel()
def learn_from(readout: Readout, outcome: Feedback) -> None:
    """Learns from the reward; the features are those of the observation it came with."""
    following = _compute_outputs(readout) if outcome.terminated == 0.0 else np.float32(0.0)
    surprise = np.float32(outcome.reward) + np.float32(readout.gamma) * following - readout.value
    square, mean = surprise * surprise, readout.mean_square_surprise
    mean += (_RENEWED if mean > 0.0 else np.float32(1.0)) * (square - mean)
    readout.mean_square_surprise = mean
    step = surprise / max(readout.mean_square_length, _LEAST)
    scale = max(np.sqrt(mean), _LEAST)
    policy, value = np.float32(readout.lr_policy) * step / scale, np.float32(readout.lr_value) * step
    factors, logits = readout.factors, readout.heads.count * readout.heads.levels
    for k in range(readout.width):
        factors[k] = policy if k < logits else value
    for f in range(readout.features):
        trace, weight = readout.traces[f], readout.weights[f]
        for k in range(readout.width):
            weight[k] += factors[k] * trace[k]
    readout.fresh = 1
