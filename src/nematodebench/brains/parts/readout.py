"""A linear readout that learns from reward: actor and critic with eligibility traces, the reservoirs' last layer.

Three factors change a weight: the feature it comes from, what was done (both kept in a trace), and the surprise about
the reward, the same number for all. One matrix [features, columns] holds everything: a column for each level of each
action head, then one for the value. With features phi, probabilities p and surprise d of a step:

| what | rule |
|---|---|
| surprise | d = reward + gamma x next value - value; the next value is 0 after death, not after truncation |
| traces | Z <- gamma x trace x Z + phi x (1 if chosen - p); phi x 1 for the value |
| policy | W += lr_policy / n x d / s x Z, s^2 the running mean of d^2: rewards of any size are the same to it |
| value | W += lr_value / n x d x Z |
| entropy | W += lr_policy x entropy / n x phi x gradient of the policy's entropy |

n is the running mean of the squared length of phi, so that learning rates mean the same for every reservoir and body.
"""

import numpy as np
from pydantic import Field

from nematodebench.brains.base import BrainConfig, Interface
from nematodebench.brains.parts.heads import heads_of, sample_heads
from nematodebench.brains.parts.reservoir import Plan
from nematodebench.kernels.jit import F32, F32M, F64, I64, U64, kernel
from nematodebench.kernels.math import log32
from nematodebench.kernels.vectors import matmul, padded, sum_squares

__all__ = ["PHI", "READOUT_HYPER", "READOUT_WORDS", "ReadoutConfig", "choose", "learn_from", "plan_readout", "rest"]

# Words, from a place of the brain's choice in ints on.
FEATURES, HEADS, LEVELS, WIDTH, BODY_EFFECTORS, PHI, WEIGHTS, TRACES, OUTPUTS, FACTORS = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9
CHOSEN, RUNNING, ZEROS, READOUT_WORDS = 10, 11, 12, 13
# Constants: the first words of hyper.
LR_POLICY, LR_VALUE, GAMMA, TRACE, ENTROPY, READOUT_HYPER = 0, 1, 2, 3, 4, 5
# At RUNNING: mean squared surprise, mean squared length of the features, value of the step.
_SURPRISE, _LENGTH, _VALUE = 0, 1, 2
_MEMORY = np.float32(0.001)


class ReadoutConfig(BrainConfig):
    """Parameters of a readout that learns from reward."""

    lr_policy: float = Field(0.02, ge=0, le=10, description="step size of the policy")
    lr_value: float = Field(0.05, ge=0, le=10, description="step size of the value")
    gamma: float = Field(0.95, ge=0, le=1, description="discount of future reward")
    trace: float = Field(0.9, ge=0, le=1, description="how long eligibility lasts: share kept in a step, times gamma")
    entropy: float = Field(0.01, ge=0, le=10, description="weight of the entropy bonus")
    levels: int = Field(5, ge=2, le=64, description="values an effector can take")

    def constants(self) -> list[float]:
        """The first words of hyper."""
        return [self.lr_policy, self.lr_value, self.gamma, self.trace, self.entropy]


def plan_readout(plan: Plan, at: int, body: Interface, features: int, levels: int) -> None:
    """Fills the readout's words and takes its memory; the features are to be written to PHI."""
    heads, levels = heads_of(body, levels)
    width = padded(heads * levels + 1)
    sizes = [features, features * width, features * width, width, width, heads, 3, width]
    places = [plan.floats(size) for size in sizes]
    plan.ints[at : at + READOUT_WORDS] = features, heads, levels, width, body.effectors, *places


@kernel()
def rest(ints: I64, at: int, mem: F32) -> None:
    """Forgets what was done: a new life begins."""
    traces = mem[ints[at + TRACES] :][: ints[at + FEATURES] * ints[at + WIDTH]]
    for k in range(traces.size):
        traces[k] = np.float32(0.0)


@kernel()
def _outputs(ints: I64, at: int, mem: F32) -> np.float32:
    """Logits of all heads, written to OUTPUTS; returns the value."""
    width, outputs, zeros = ints[at + WIDTH], ints[at + OUTPUTS], ints[at + ZEROS]
    matmul(
        mem, ints[at + PHI], 0, 1, ints[at + WEIGHTS], width, zeros, 0, outputs, width, 1, width, ints[at + FEATURES]
    )
    return np.float32(mem[outputs + ints[at + HEADS] * ints[at + LEVELS]])


@kernel()
def choose(hyper: F64, ints: I64, at: int, mem: F32, rng: U64, action: F32M) -> None:
    """Draws an action from the features at PHI and makes what led to it eligible."""
    heads, levels, running = ints[at + HEADS], ints[at + LEVELS], mem[ints[at + RUNNING] :]
    running[_VALUE] = _outputs(ints, at, mem)
    length = sum_squares(mem, ints[at + PHI], ints[at + FEATURES])
    running[_LENGTH] += (_MEMORY if running[_LENGTH] > 0.0 else np.float32(1.0)) * (length - running[_LENGTH])
    sample_heads(mem, ints[at + OUTPUTS], heads, levels, ints[at + CHOSEN], rng, action, ints[at + BODY_EFFECTORS] > 0)
    step = np.float32(hyper[LR_POLICY] * hyper[ENTROPY]) / max(running[_LENGTH], np.float32(1e-6))
    for head in range(heads):
        _factors(ints, at, mem, head, step)
    _trace(np.float32(hyper[GAMMA] * hyper[TRACE]), ints, at, mem)


@kernel()
def _factors(ints: I64, at: int, mem: F32, head: int, step: np.float32) -> None:
    """For each level of a head: (1 if chosen - p) to FACTORS, its part of the entropy bonus to OUTPUTS."""
    levels = ints[at + LEVELS]
    p, factor = mem[ints[at + OUTPUTS] + head * levels :][:levels], mem[ints[at + FACTORS] + head * levels :][:levels]
    total, entropy = np.float32(0.0), np.float32(0.0)
    for k in range(levels):
        total += p[k]
    for k in range(levels):
        p[k] = max(p[k] / total, np.float32(1e-30))
        entropy -= p[k] * log32(p[k])
    chosen = np.int64(mem[ints[at + CHOSEN] + head])
    for k in range(levels):
        factor[k] = (np.float32(1.0) if k == chosen else np.float32(0.0)) - p[k]
        p[k] = -step * p[k] * (log32(p[k]) + entropy)


@kernel()
def _trace(decay: np.float32, ints: I64, at: int, mem: F32) -> None:
    """Traces decay and take in this step; the entropy bonus goes to the weights at once."""
    width, logits = ints[at + WIDTH], ints[at + HEADS] * ints[at + LEVELS]
    factors, bonus = mem[ints[at + FACTORS] :][:width], mem[ints[at + OUTPUTS] :][:width]
    for k in range(logits, width):
        bonus[k] = np.float32(0.0)
        factors[k] = np.float32(1.0) if k == logits else np.float32(0.0)
    for f in range(ints[at + FEATURES]):
        phi = mem[ints[at + PHI] + f]
        trace, weight = mem[ints[at + TRACES] + f * width :][:width], mem[ints[at + WEIGHTS] + f * width :][:width]
        for k in range(width):
            trace[k] = decay * trace[k] + phi * factors[k]
            weight[k] += phi * bonus[k]


@kernel()
def learn_from(hyper: F64, ints: I64, at: int, mem: F32, out: F64) -> None:
    """Learns from the reward; the features of the observation it came with are at PHI."""
    running, width = mem[ints[at + RUNNING] :], ints[at + WIDTH]
    following = _outputs(ints, at, mem) if out[0] == 0.0 else np.float32(0.0)
    surprise = np.float32(out[2]) + np.float32(hyper[GAMMA]) * following - running[_VALUE]
    square = surprise * surprise
    running[_SURPRISE] += (_MEMORY if running[_SURPRISE] > 0.0 else np.float32(1.0)) * (square - running[_SURPRISE])
    step = surprise / max(running[_LENGTH], np.float32(1e-6))
    scale = max(np.sqrt(running[_SURPRISE]), np.float32(1e-6))
    factors, logits = mem[ints[at + FACTORS] :][:width], ints[at + HEADS] * ints[at + LEVELS]
    for k in range(width):
        factors[k] = np.float32(hyper[LR_POLICY]) * step / scale if k < logits else np.float32(hyper[LR_VALUE]) * step
    for f in range(ints[at + FEATURES]):
        trace, weight = mem[ints[at + TRACES] + f * width :][:width], mem[ints[at + WEIGHTS] + f * width :][:width]
        for k in range(width):
            weight[k] += factors[k] * trace[k]
