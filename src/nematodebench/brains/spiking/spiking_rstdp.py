"""Brain `spiking_rstdp`: spiking neurons that learn by dopamine-gated spike-timing-dependent plasticity."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from nematodebench.brains.base import BrainClass, BrainConfig, CompiledBrain, Interface
from nematodebench.brains.parameters import parameter, searched
from nematodebench.brains.parts.heads import Heads
from nematodebench.brains.parts.liveness import Liveness, liveness_of
from nematodebench.brains.spiking.choice import Choice, choose, forget_actions, recall_actions, remember_action
from nematodebench.brains.spiking.expectation import Expectation, dopamine, expect_nothing
from nematodebench.brains.spiking.network import Network, draw_network
from nematodebench.brains.spiking.plasticity import Plasticity, adapt, change_weights
from nematodebench.brains.spiking.senses import PopulationCode, encode
from nematodebench.brains.spiking.ticks import run_ticks
from nematodebench.kernels.abi import BrainMemory, Feedback
from nematodebench.kernels.jit import F32, U64
from nematodebench.kernels.memory import part

__all__ = ["Memory", "SpikingRstdp", "SpikingRstdpConfig"]


class SpikingRstdpConfig(BrainConfig):
    """Parameters of `spiking_rstdp`: the network, its neurons, what they learn by, and what keeps them in balance."""

    cells: int = parameter(4, 1, 16, "sensory neurons for each input")
    hidden: int = parameter(60, 0, 1000, "hidden neurons; 0 = none", searched(0, 120, "low", off=0))
    motor: int = parameter(5, 2, 50, "motor neurons for each action, or level of an effector")
    levels: int = parameter(3, 2, 10, "values an effector can take")
    ticks: int = parameter(10, 1, 100, "ticks a step")
    slots: int = parameter(
        3, 0, 8, "actions the working memory holds; 0 = no working memory", searched(0, 5, "low", off=0)
    )
    inhibitory: float = parameter(
        0.2, 0, 0.5, "share of inhibitory neurons in every layer", searched(0.1, 0.4, "low", off=0.0)
    )
    density: float = parameter(0.1, 0, 1, "probability of a connection to a hidden neuron", searched(0.05, 0.5, "low"))
    weight: float = parameter(0.6, 0, 2, "largest weight at birth", searched(0.05, 1.0, "medium"))
    weight_limit: float = parameter(
        2.0, 0, 10, "largest weight that can be learned", searched(0.5, 5.0, "medium", log=True)
    )
    lateral: float = parameter(
        0.2, 0, 5, "weight at birth between motor populations", searched(0.0, 0.6, "low", off=0.0)
    )

    leak: float = parameter(0.4, 0, 1, "share of a membrane's potential lost in a tick", searched(0.05, 0.5, "medium"))
    crowd: float = parameter(
        8.0, 0, 1000, "sensory neurons that can be fully driven at once; more share it", searched(1.0, 16.0, "medium")
    )
    gain: float = parameter(0.8, 0, 2, "spikes a tick of a fully driven sensory neuron", searched(0.2, 1.0, "medium"))
    noise: float = parameter(0.5, 0, 2, "largest noise a tick in motor neurons", searched(0.0, 0.8, "low", off=0.0))
    temperature: float = parameter(
        1.2, 0.05, 100, "lead in spikes that makes an action e times as likely", searched(0.5, 4.0, "high", log=True)
    )
    depression: float = parameter(
        0.1, 0, 1, "share of its strength a spike takes from a neuron's connections",
        searched(0.0, 0.5, "medium", off=0.0),
    )  # fmt: skip
    depression_recovery: float = parameter(0.1, 0, 1, "share of that regained in a tick", searched(0.01, 0.3, "low"))
    energy_cost: float = parameter(
        0.02, 0, 1, "share of its energy a spike costs a neuron", searched(0.0, 0.1, "low", off=0.0)
    )
    energy_recovery: float = parameter(0.01, 0, 1, "energy that returns in a tick", searched(0.002, 0.05, "low"))

    learning_rate: float = parameter(
        0.4, 0, 1, "how far dopamine moves weights; 0 = not at all", searched(0.01, 1.0, "high", log=True, off=0.0)
    )
    hidden_rate: float = parameter(
        0.02, 0, 1, "share of that with which hidden neurons learn", searched(0.0, 0.1, "medium", off=0.0)
    )
    stdp_ltp: float = parameter(1.0, 0, 5, "eligibility by a spike before the target's", searched(0.2, 2.0, "medium"))
    stdp_ltd: float = parameter(
        0.1, 0, 5, "eligibility taken away by a spike after the target's", searched(0.0, 1.0, "medium", off=0.0)
    )
    trace_decay: float = parameter(0.4, 0, 1, "share of a spike's trace left after a tick", searched(0.3, 0.95, "low"))
    eligibility_decay: float = parameter(
        0.2, 0, 1, "share of eligibility left after a step", searched(0.0, 0.9, "medium", off=0.0)
    )
    gamma: float = parameter(
        0.9, 0, 1, "discount of expected reward; 0 = only the reward at hand", searched(0.0, 0.97, "high", off=0.0)
    )
    expectation_rate: float = parameter(
        0.05, 0, 1, "speed of the running expectation", searched(0.001, 0.1, "low", log=True, off=0.0)
    )
    value_rate: float = parameter(
        0.05, 0, 1, "speed of the expectation by what is sensed", searched(0.01, 0.5, "medium", log=True, off=0.0)
    )
    curiosity: float = parameter(
        0.02, 0, 10, "reward for sensing something quite new", searched(0.0, 0.3, "low", off=0.0)
    )
    habituation: float = parameter(
        1.0, 0, 1, "share of a neuron's usual activity that dopamine ignores", searched(0.0, 1.0, "high", off=0.0)
    )
    metaplasticity: float = parameter(
        2.0, 0, 100, "how much activity hinders potentiation and helps depression", searched(0.0, 5.0, "low", off=0.0)
    )

    inhibitory_rate: float = parameter(
        0.005, 0, 1, "speed of inhibitory plasticity", searched(0.0, 0.01, "low", off=0.0)
    )
    homeostasis: float = parameter(
        0.005, 0, 1, "speed at which thresholds follow the rate", searched(0.0, 0.01, "high", off=0.0)
    )
    target_rate: float = parameter(
        0.1, 0, 1, "spikes a tick that thresholds and inhibition keep", searched(0.03, 0.3, "medium")
    )


class Memory(BrainMemory):
    """Of `spiking_rstdp`."""

    senses = part(PopulationCode)
    net = part(Network)
    choice = part(Choice)
    expectation = part(Expectation)
    plasticity = part(Plasticity)
    liveness = part(Liveness)


@Memory.kernel
def init(brain: Memory, rng: U64) -> None:
    """A fresh, rested network."""
    draw_network(brain.net, rng)
    expect_nothing(brain.expectation)


@Memory.kernel
def begin_episode(brain: Memory) -> None:
    """Working memory, last observation and last action are forgotten; all else stays."""
    forget_actions(brain.choice)
    for i in range(brain.net.sensory):
        brain.net.drive[i] = np.float32(0.0)


@Memory.kernel
def act(brain: Memory, rng: U64, obs: F32, action: F32) -> None:
    """The observation and the working memory drive the network for some ticks; the motor populations vote."""
    encode(brain.senses, obs, brain.net.drive)
    recall_actions(brain.choice, brain.net.drive[brain.senses.sensed :])
    run_ticks(brain.net, brain.liveness, brain.plasticity.learning_rate > 0.0, rng)
    choose(brain.choice, brain.net, rng, action)


@Memory.kernel
def learn(brain: Memory, obs: F32, outcome: Feedback) -> None:
    """Dopamine, then all that follows from it."""
    encode(brain.senses, obs, brain.expectation.following)
    surprise = dopamine(brain.expectation, brain.net.drive, outcome)
    remember_action(brain.choice, surprise)
    change_weights(brain.plasticity, brain.net, surprise, brain.expectation.power)
    adapt(brain.plasticity, brain.net)


class SpikingRstdp(CompiledBrain):
    """Leaky integrate-and-fire neurons whose connections follow the timing of spikes when dopamine says it paid.

    It learns from reward as long as it runs. It has about 100 neurons on a worm: sensory, `hidden` and motor ones, a
    share `inhibitory` of each layer. A step of the world is `ticks` ticks of the network. Each tick:

    | part | how |
    |---|---|
    | sensory neurons | `cells` for each input, each with a preferred value; v <- v + gain x answer; more than `crowd` fully driven ones share that drive |
    | working memory | the last `slots` actions, strong if they went better than expected, are sensory neurons too |
    | hidden, motor neurons | v <- (1 - leak) v + weights of the neurons that spiked a tick ago; motor neurons hear `noise` |
    | spike | if v >= threshold and there is energy for it; then v <- 0 |
    | depression | a spike takes a share `depression` of the neuron's transmitter, which returns |
    | energy | a spike costs `energy_cost`, `energy_recovery` returns; a tired neuron neither fires nor learns |
    | eligibility | a neuron's spike before its target's adds `stdp_ltp`, one after it takes `stdp_ltd` away, by traces |
    | metaplasticity | divides the first and multiplies the second by 1 + metaplasticity x the target's usual squared rate |

    Each step:

    | part | how |
    |---|---|
    | action | every action has `motor` neurons; a lead of `temperature` spikes makes it e times as likely; other populations are inhibited (`lateral`); an effector is a choice among `levels` values |
    | dopamine | reward + curiosity x novelty + gamma x expectation ahead - expectation, within [-1, 1] |
    | expectation | running mean (`expectation_rate`) and by sensory neuron (`value_rate`) |
    | weights | + learning_rate x dopamine x eligibility x the target's energy, over the activity there was; sign stays |
    | who is credited | motor neurons by what was chosen minus its probability, hidden ones by `hidden_rate`; a neuron that fires as usual hardly (`habituation`) |
    | inhibitory plasticity, homeostasis | inhibition and thresholds bring every neuron back to `target_rate` |
    | new episode | working memory, last observation and last action are forgotten, nothing else |
    """  # noqa: E501

    name: ClassVar[str] = "spiking_rstdp"
    kind: ClassVar[BrainClass] = "spiking"
    config = SpikingRstdpConfig
    memory = Memory
    init = staticmethod(init)
    begin_episode = staticmethod(begin_episode)
    act = staticmethod(act)
    learn = staticmethod(learn)

    @classmethod
    def sizes(cls, config: SpikingRstdpConfig, body: Interface) -> Mapping[str, Any]:
        """Sensory neurons for the body's sensors and the working memory, motor neurons for its heads."""
        heads, senses = Heads.shape(body, config.levels), PopulationCode.shape(body, config.cells)
        sensed, outputs = senses["sensed"], heads["count"] * heads["levels"]
        net = Network.shape(sensed + config.slots * outputs, config.hidden, config.motor, heads)
        return {
            "senses": senses,
            "net": net,
            "choice": {"slots": config.slots, "outputs": outputs},
            "expectation": {"sensed": sensed},
            "plasticity": {"neurons": net["neurons"], "stride": net["stride"]},
            "liveness": {"nodes": net["neurons"]},
        }

    @classmethod
    def describe(cls, config: SpikingRstdpConfig, brain: Memory) -> dict[str, float]:
        """How alive it was, the energy left, and the share of all the energy it had that spikes used up."""
        neurons, live = brain.net.neurons, brain.liveness
        budget = neurons * (1.0 + config.energy_recovery * live.ticks)
        return {
            **liveness_of(live),
            "energy": float(np.asarray(brain.net.energy[:neurons]).mean()),
            "energy_spent": config.energy_cost * live.active / budget,
        }
