"""The kit for compiled brains: everything a brain of your own needs, under one name that stays.

The built-in brains are made of the same parts, so a brain of the kit is as fast as they are, wherever its file lies.
``docs/kit.md`` explains them and builds a brain; ``nematodebench new brain NAME --compiled`` writes one to begin with.
"""

from nematodebench.brains.base import BrainConfig, CompiledBrain, Interface
from nematodebench.brains.parameters import hidden_layers, parameter, searched, switch
from nematodebench.brains.parts.actor_critic import (
    ActorCritic,
    log_probabilities,
    output_gradient,
    remember_action,
    remember_step,
    start_network,
    weigh_steps,
)
from nematodebench.brains.parts.gaussian import (
    gaussian_gradient,
    gaussian_log_probability,
    gaussian_spread_gradient,
    sample_gaussian,
)
from nematodebench.brains.parts.heads import (
    Exploration,
    Heads,
    best_level,
    epsilon_after,
    policy_columns,
    sample_heads,
    softmax_columns,
    write_action,
)
from nematodebench.brains.parts.lif import LifLayer, draw_weights, rest_layer, run_layer
from nematodebench.brains.parts.links import Links, WeightedLinks, draw_links, push
from nematodebench.brains.parts.readout import Readout, ReadoutConfig, choose, forget_actions, learn_from
from nematodebench.brains.parts.replay import Replay, remember_observation, remember_transition, transitions
from nematodebench.brains.parts.rollout import Rollout, estimate_advantages, gather_rows, remember_outcome
from nematodebench.brains.parts.spikes import SpikeList, copy_spikes, list_spikes, spiked_nodes
from nematodebench.brains.parts.traces import Traces, add_to_traces, fade_traces, follow_traces
from nematodebench.kernels.abi import BrainMemory, Feedback
from nematodebench.kernels.adam import Adam, adam_step
from nematodebench.kernels.jit import F32, F32M, F64, I64, U64, inlined, kernel
from nematodebench.kernels.math import cos64, exp32, exp64, log32, log64, sin64, tanh32, tanh64
from nematodebench.kernels.memory import Memory, constant, constants, counter, floats, part, real, size, words
from nematodebench.kernels.mlp import (
    Network,
    backward,
    copy_weights,
    forward,
    init_weights,
    output_deltas,
    outputs_of,
    scale_outputs,
    update_weights,
)
from nematodebench.kernels.rng import next_u64, normal, randint, uniform

__all__ = [
    "F32", "F32M", "F64", "I64", "U64", "ActorCritic", "Adam", "BrainConfig", "BrainMemory", "CompiledBrain",
    "Exploration", "Feedback", "Heads", "Interface", "LifLayer", "Links", "Memory", "Network", "Readout",
    "ReadoutConfig", "Replay", "Rollout", "SpikeList", "Traces", "WeightedLinks", "adam_step", "add_to_traces",
    "backward", "best_level", "choose", "constant", "constants", "copy_spikes", "copy_weights", "cos64", "counter",
    "draw_links", "draw_weights", "epsilon_after", "estimate_advantages", "exp32", "exp64", "fade_traces", "floats",
    "follow_traces", "forget_actions", "forward", "gather_rows", "gaussian_gradient", "gaussian_log_probability",
    "gaussian_spread_gradient", "hidden_layers", "init_weights", "inlined", "kernel", "learn_from", "list_spikes",
    "log32", "log64", "log_probabilities", "next_u64", "normal", "output_deltas", "output_gradient", "outputs_of",
    "parameter", "part", "policy_columns", "push", "randint", "real", "remember_action", "remember_observation",
    "remember_outcome", "remember_step", "remember_transition", "rest_layer", "run_layer", "sample_gaussian",
    "sample_heads", "scale_outputs", "searched", "sin64", "size", "softmax_columns", "spiked_nodes", "start_network",
    "switch", "tanh32", "tanh64", "transitions", "uniform", "update_weights", "weigh_steps", "words", "write_action",
]  # fmt: skip
