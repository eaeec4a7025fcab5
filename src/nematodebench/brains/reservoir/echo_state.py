"""Brain `echo_state`: a fixed random recurrent network whose echoes a readout learns to use."""

from typing import ClassVar

import numpy as np
from pydantic import Field

from nematodebench.brains.base import BrainClass, CompiledBrain, Interface, Layout
from nematodebench.brains.parts import readout as ro
from nematodebench.brains.parts import reservoir as rv
from nematodebench.kernels.abi import brain_kernel
from nematodebench.kernels.jit import F32, F32M, F64, I64, U64, kernel
from nematodebench.kernels.math import exp64, log64, tanh32
from nematodebench.kernels.rng import normal, uniform

__all__ = ["EchoState", "EchoStateConfig"]

# Words of hyper behind the readout's.
RADIUS, INPUT_SCALE, BIAS_SCALE, LEAK, OWN_HYPER = range(ro.READOUT_HYPER, ro.READOUT_HYPER + 5)
# Words of ints: the readout's; two sets of connections; places of the nodes' drive and bias; whether the features
# are those of the present observation.
READOUT = rv.OWN
INPUT = READOUT + ro.READOUT_WORDS
RECURRENT = INPUT + rv.LINK_WORDS
DRIVE = RECURRENT + rv.LINK_WORDS
BIAS, FRESH = DRIVE + 1, DRIVE + 2
_OWN_WORDS = FRESH + 1 - rv.OWN
_WARM_UP, _MEASURED = 100, 200


class EchoStateConfig(ro.ReadoutConfig):
    """Parameters of `echo_state`."""

    nodes: int = Field(100, ge=2, le=2000, description="nodes of the reservoir")
    spectral_radius: float = Field(0.9, ge=0, le=10, description="largest absolute eigenvalue of the recurrent weights")
    input_scale: float = Field(1.0, ge=0, le=100, description="input weights are uniform between minus and plus this")
    bias_scale: float = Field(0.5, ge=0, le=100, description="biases are uniform between minus and plus this")
    leak: float = Field(0.5, gt=0, le=1, description="share of a node's state renewed in a tick")
    density: float = Field(0.1, gt=0, le=1, description="share of the nodes a node reaches")
    input_density: float = Field(0.5, gt=0, le=1, description="share of the nodes an input reaches")


@kernel()
def _spread(ints: I64, at: int, weights: F32, source: F64, target: F64) -> None:
    """Applies the weights to ``source``, in float64."""
    stride, targets = ints[at + rv.STRIDE], ints[ints[at + rv.TARGETS] :]
    for i in range(target.size):
        target[i] = 0.0
    for j in range(source.size - 1):
        for k in range(j * stride, (j + 1) * stride):
            target[targets[k]] += weights[k] * source[j]
    target[target.size - 1] = 0.0


@kernel(allocates=True)
def _spectral_radius(ints: I64, mem: F32, at: int, nodes: int, rng: U64) -> float:
    """Growth of a random vector under the weights: the geometric mean over many powers, complex pairs included."""
    weights = mem[ints[at + rv.WEIGHTS] :]
    one, other = np.zeros(nodes + 1), np.zeros(nodes + 1)
    for i in range(nodes):
        one[i] = normal(rng)
    growth = 0.0
    for step in range(_WARM_UP + _MEASURED):
        _spread(ints, at, weights, one, other)
        square = 0.0
        for i in range(nodes):
            square += other[i] * other[i]
        length = np.sqrt(square)
        if length < 1e-300:
            return 0.0
        for i in range(nodes):
            one[i] = other[i] / length
        if step >= _WARM_UP:
            growth += log64(length)
    return exp64(growth / _MEASURED)


@brain_kernel
def init(hyper: F64, ints: I64, mem: F32, rng: U64, obs: F32M, action: F32M, out: F64) -> None:
    """Draws the reservoir and scales it to its spectral radius; the readout starts at zero: a uniform policy."""
    nodes = ints[rv.NODES]
    rv.draw_links(ints, INPUT, True, rng)
    rv.draw_links(ints, RECURRENT, True, rng)
    for k in range(ints[rv.CHANNELS] * ints[INPUT + rv.STRIDE]):
        mem[ints[INPUT + rv.WEIGHTS] + k] = np.float32(hyper[INPUT_SCALE] * (2.0 * uniform(rng) - 1.0))
    for i in range(nodes):
        mem[ints[BIAS] + i] = np.float32(hyper[BIAS_SCALE] * (2.0 * uniform(rng) - 1.0))
    weights = mem[ints[RECURRENT + rv.WEIGHTS] :][: nodes * ints[RECURRENT + rv.STRIDE]]
    for k in range(weights.size):
        weights[k] = np.float32(normal(rng))
    radius = _spectral_radius(ints, mem, RECURRENT, nodes, rng)
    for k in range(weights.size):
        weights[k] *= np.float32(hyper[RADIUS] / radius if radius > 0.0 else 0.0)


@brain_kernel
def begin_episode(hyper: F64, ints: I64, mem: F32, rng: U64, obs: F32M, action: F32M, out: F64) -> None:
    """The echoes die away; what the readout learned stays."""
    for i in range(ints[rv.NODES]):
        mem[ints[READOUT + ro.PHI] + i] = np.float32(0.0)
    ro.rest(ints, READOUT, mem)
    ints[FRESH] = 0


@kernel()
def _advance(hyper: F64, ints: I64, mem: F32, obs: F32M) -> None:
    """One tick of the reservoir; the features are its nodes, the inputs and a constant."""
    nodes, channels = ints[rv.NODES], ints[rv.CHANNELS]
    state, drive = mem[ints[READOUT + ro.PHI] :], mem[ints[DRIVE] :]
    rv.encode(hyper, ints, mem, obs)
    for i in range(nodes):
        drive[i] = mem[ints[BIAS] + i]
    for c in range(channels):
        rate = mem[ints[rv.RATES] + c]
        state[nodes + c] = rate
        if rate > 0.0:
            rv.push(ints, INPUT, mem, c, drive, rate)
    state[nodes + channels] = np.float32(1.0)
    for j in range(nodes):
        rv.push(ints, RECURRENT, mem, j, drive, state[j])
    leak, total = np.float32(hyper[LEAK]), np.float32(0.0)
    for i in range(nodes):
        state[i] += leak * (tanh32(drive[i]) - state[i])
    for i in range(nodes):
        total += abs(state[i])
    rv.count_active(ints, int(np.floor(total + np.float32(0.5))))


@brain_kernel
def act(hyper: F64, ints: I64, mem: F32, rng: U64, obs: F32M, action: F32M, out: F64) -> None:
    """The reservoir hears the observation (unless it did when it learned), the readout chooses."""
    if ints[FRESH] == 0:
        _advance(hyper, ints, mem, obs)
    ints[FRESH] = 0
    ro.choose(hyper, ints, READOUT, mem, rng, action)


@brain_kernel
def learn(hyper: F64, ints: I64, mem: F32, rng: U64, obs: F32M, action: F32M, out: F64) -> None:
    """The reservoir hears the next observation, the readout learns from the reward."""
    _advance(hyper, ints, mem, obs)
    ints[FRESH] = 1
    ro.learn_from(hyper, ints, READOUT, mem, out)


class EchoState(CompiledBrain):
    """A fixed recurrent network of leaky tanh nodes; only the linear readout learns, from reward.

    | part | how |
    |---|---|
    | inputs | rate-coded channels (see `_reservoir`), each to a share `input_density` of the nodes |
    | recurrent weights | normal, a share `density` of the nodes each, scaled to `spectral_radius` by power iteration |
    | node | x <- (1 - leak) x + leak tanh(recurrent + inputs + bias); all at 0 when an episode begins |
    | readout | nodes, channels and a constant to actor and critic with eligibility traces (see `_readout`) |
    | effectors | one softmax head each over `levels` values spread over [0, 1] |

    Reaches, with the defaults (20 runs each, +- standard error; null_random in brackets): foraging_small composite
    .914 +- .003 (.050), tracking .988 +- .001 (-.01), pong .727 +- .010 (.265), cartpole .41 +- .07 (.020). On forage,
    whose budget is short, it stays at the null.
    """

    name: ClassVar[str] = "echo_state"
    kind: ClassVar[BrainClass] = "reservoir"
    config = EchoStateConfig
    init = staticmethod(init)
    begin_episode = staticmethod(begin_episode)
    act = staticmethod(act)
    learn = staticmethod(learn)

    @classmethod
    def layout(cls, config: EchoStateConfig, body: Interface) -> Layout:
        """Reservoir and readout."""
        nodes = config.nodes
        own = [*config.constants(), config.spectral_radius, config.input_scale, config.bias_scale, config.leak]
        plan = rv.Plan(body, nodes, own, _OWN_WORDS)
        channels = plan.ints[rv.CHANNELS]
        ro.plan_readout(plan, READOUT, body, nodes + channels + 1, config.levels)
        plan.links(INPUT, channels, nodes, config.input_density, weighted=True)
        plan.links(RECURRENT, nodes, nodes, config.density, weighted=True)
        plan.ints[DRIVE], plan.ints[BIAS] = plan.floats(nodes + 1), plan.floats(nodes)
        return Layout(np.array(plan.hyper), np.array(plan.ints, dtype=np.int64), plan.memory)

    @classmethod
    def describe(cls, config: EchoStateConfig, ints: I64, mem: F32) -> dict[str, float]:
        """How alive it was; a node is as active as its state is far from 0."""
        return rv.liveness(ints)
