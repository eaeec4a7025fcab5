"""Brain `mlp_dqn`: deep Q-learning from a replay memory, with a target network and double estimates."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from nematodebench.brains.base import BrainClass, BrainConfig, CompiledBrain, Interface
from nematodebench.brains.parameters import hidden_layers, parameter, searched, switch
from nematodebench.brains.parts.heads import Exploration, Heads, best_level, epsilon_after, write_action
from nematodebench.brains.parts.replay import Replay, remember_observation, remember_transition, transitions
from nematodebench.brains.parts.rollout import gather_rows
from nematodebench.brains.synapses import Synapses, synapses_of
from nematodebench.kernels.abi import BrainMemory, Feedback
from nematodebench.kernels.jit import F32, I64, U64, kernel
from nematodebench.kernels.memory import constant, counter, floats, part, size, words
from nematodebench.kernels.mlp import (
    Network,
    backward,
    copy_weights,
    forward,
    forward_row,
    init_weights,
    output_deltas,
    outputs_of,
    scale_outputs,
    update_weights,
)
from nematodebench.kernels.rng import randint, uniform

__all__ = ["MlpDqn", "MlpDqnConfig"]


class MlpDqnConfig(BrainConfig):
    """Parameters of `mlp_dqn`."""

    hidden: tuple[int, ...] = hidden_layers(64, 64)
    replay: int = parameter(8192, 8, 1 << 20, "transitions remembered")
    minibatch: int = parameter(32, 1, 65536, "transitions of one gradient step", searched(8, 128, "medium", log=True))
    train_every: int = parameter(8, 1, 10000, "steps between gradient steps", searched(1, 32, "medium", log=True))
    warmup: int = parameter(500, 1, 1 << 20, "steps before the first gradient step")
    target_every: int = parameter(
        250, 1, 100000, "gradient steps between renewals of the target network", searched(10, 2000, "medium", log=True)
    )
    learning_rate: float = parameter(1e-3, 0, 1, "Adam's step size", searched(0.0001, 0.01, "high", log=True, off=0.0))
    gamma: float = parameter(0.95, 0, 1, "discount of future reward", searched(0.8, 0.999, "high", off=0.0))
    epsilon_start: float = parameter(1.0, 0, 1, "share of random actions at first", searched(0.1, 1, "low", off=0.0))
    epsilon_end: float = parameter(
        0.05, 0, 1, "share of random actions at last", searched(0.001, 0.2, "high", log=True, off=0.0)
    )
    epsilon_steps: int = parameter(
        5000, 0, 1 << 30, "steps over which it goes down", searched(100, 50000, "high", log=True)
    )
    scale_values: bool = switch(
        False, "values are learned x (1 - gamma), in units of a step's reward: for a long horizon"
    )
    joint: bool = switch(
        True, "the values of all heads add up to the value of an action; otherwise each head learns alone", before=False
    )
    max_grad_norm: float = parameter(10.0, 0, None, "gradients are clipped to this norm; 0 = never")
    levels: int = parameter(5, 2, 64, "values an effector can take")


class Memory(BrainMemory):
    """Of `mlp_dqn`: transitions, the network, its target, and one minibatch."""

    learning_rate = constant()
    gamma = constant()
    max_grad_norm = constant()
    explore = part(Exploration)
    heads = part(Heads)
    replay = part(Replay)
    net = part(Network)
    target = part(Network)
    inputs = size()
    batch = size()
    goals_count = size()
    joint = size()
    scale_values = size()
    train_every = size()
    warmup = size()
    target_every = size()
    updates = counter()
    drawn = words("batch", scratch=True)
    x = floats("batch", "inputs", scratch=True)
    goals = floats("goals_count", scratch=True)


@Memory.kernel
def init(brain: Memory, rng: U64) -> None:
    """Orthogonal weights, all Q values near 0; the target network is a copy."""
    init_weights(brain.net, rng, np.sqrt(2.0), 1.0)
    scale_outputs(brain.net, brain.heads.count * brain.heads.levels, 0.01)
    copy_weights(brain.net, brain.target)


@Memory.kernel
def act(brain: Memory, rng: U64, obs: F32, action: F32) -> None:
    """Takes the best action, or a random one; remembers what it was based on."""
    heads, levels = brain.heads, brain.heads.levels
    at = remember_observation(brain.replay, obs)
    forward_row(brain.net, brain.replay.observations[at])
    outputs = outputs_of(brain.net, 1)[0]
    epsilon = epsilon_after(brain.explore, brain.replay.steps)
    for head in range(heads.count):
        level = best_level(outputs[head * levels : (head + 1) * levels])
        if uniform(rng) < epsilon:
            level = randint(rng, levels)
        brain.replay.chosen[at, head] = np.float32(level)
        write_action(heads, action, head, level)
    if not np.isfinite(outputs[0]):
        action[0] = np.float32(np.nan)


@Memory.kernel
def learn(brain: Memory, rng: U64, obs: F32, outcome: Feedback) -> None:
    """Stores the transition; every few steps a gradient step."""
    remember_transition(brain.replay, obs, outcome)
    steps = brain.replay.steps
    if steps >= brain.warmup and steps % brain.train_every == 0:
        _update(brain, rng)


@kernel()
def _update(brain: Memory, rng: U64) -> None:
    """One gradient step on transitions drawn with replacement."""
    batch = brain.drawn
    for r in range(batch.size):
        batch[r] = randint(rng, transitions(brain.replay))
    _find_goals(brain, batch)
    gather_rows(brain.replay.observations, batch, brain.x)
    forward(brain.net, brain.x)
    _loss_gradient(brain, batch)
    backward(brain.net, brain.x)
    update_weights(brain.net, brain.learning_rate, brain.max_grad_norm)
    brain.updates += 1
    if brain.updates % brain.target_every == 0:
        copy_weights(brain.net, brain.target)


@kernel()
def _find_goals(brain: Memory, batch: I64) -> None:
    """Reward + gamma x the target network's value of the level the network itself finds best (double Q-learning)."""
    rows, heads, levels, gamma = batch.size, brain.heads.count, brain.heads.levels, np.float32(brain.gamma)
    gather_rows(brain.replay.following, batch, brain.x)
    forward(brain.net, brain.x)
    forward(brain.target, brain.x)
    own, target = outputs_of(brain.net, rows), outputs_of(brain.target, rows)
    unit = np.float32(1.0 - brain.gamma) if brain.scale_values > 0 and brain.gamma < 1.0 else np.float32(1.0)
    for r in range(rows):
        reward, future = unit * brain.replay.rewards[batch[r]], gamma * brain.replay.alive[batch[r]]
        total = np.float32(0.0)
        for head in range(heads):
            first = head * levels
            level = best_level(own[r, first : first + levels])
            total += target[r, first + level]
            brain.goals[r * heads + head] = reward + future * target[r, first + level]
        if brain.joint > 0:
            brain.goals[r * heads] = reward + future * total


@kernel()
def _loss_gradient(brain: Memory, batch: I64) -> None:
    """Gradient of the Huber loss (quadratic within 1, a mean over rows) by the outputs, into the deltas."""
    rows, heads, levels = batch.size, brain.heads.count, brain.heads.levels
    outputs, delta = outputs_of(brain.net, rows), output_deltas(brain.net, rows)
    share, one = np.float32(1.0) / np.float32(rows), np.float32(1.0)
    delta[:] = np.float32(0.0)
    for r in range(rows):
        together = np.float32(0.0)
        for head in range(heads):
            together += outputs[r, head * levels + np.int64(brain.replay.chosen[batch[r], head])]
        for head in range(heads):
            place = head * levels + np.int64(brain.replay.chosen[batch[r], head])
            error = outputs[r, place] - brain.goals[r * heads + head]
            if brain.joint > 0:
                error = together - brain.goals[r * heads]
            delta[r, place] = min(max(error, -one), one) * share


class MlpDqn(CompiledBrain):
    """Deep Q-learning: replay memory, target network, double estimates, epsilon-greedy actions.

    | part | how |
    |---|---|
    | network | inputs - hidden (tanh) - a Q value for each level of each action head |
    | effectors | one head each over `levels` values spread over [0, 1]; their values add up to the action's value |
    | exploration | epsilon falls linearly from `epsilon_start` to `epsilon_end`, drawn for each head |
    | goal | reward + gamma x the target network's Q of the network's best level; truncation does not end the future |
    | loss | Huber, a mean over the minibatch |
    | optimiser | Adam, gradient norm clipped |

    It is made for grids and for short horizons. A reward in every tick drives the values, and with them the network's
    units, far up, so that one state looks like another: poles are not balanced (`cartpole-v2` about 0.1). Setting
    `scale_values` with gamma 0.98, replay 32768, train_every 4, target_every 100 and learning_rate 0.0005 gives about
    0.3 there, and loses on pong and tracking. `mlp_ppo` is the brain for these tasks.
    """

    name: ClassVar[str] = "mlp_dqn"
    kind: ClassVar[BrainClass] = "classical"
    config = MlpDqnConfig
    memory = Memory
    init = staticmethod(init)
    act = staticmethod(act)
    learn = staticmethod(learn)

    @classmethod
    def without_learning(cls, config: MlpDqnConfig) -> MlpDqnConfig:
        """From the first step on it explores as little as it would at the end."""
        return config.model_copy(update={"epsilon_start": config.epsilon_end})

    @classmethod
    def synapses(cls, config: MlpDqnConfig, brain: Memory) -> list[Synapses]:
        """Those of the network that acts; the other one only tells it what to learn."""
        return list(synapses_of(brain.net))

    @classmethod
    def sizes(cls, config: MlpDqnConfig, body: Interface) -> Mapping[str, Any]:
        """A replay memory, and two networks that take a minibatch of it."""
        heads = Heads.shape(body, config.levels)
        net = Network.shape(body.inputs, config.hidden, heads["count"] * heads["levels"], config.minibatch)
        return {
            "heads": heads,
            "replay": {"capacity": config.replay, "inputs": body.inputs, "heads": heads["count"]},
            "net": net,
            "target": net,
            "batch": config.minibatch,
            "goals_count": config.minibatch * heads["count"],
        }
