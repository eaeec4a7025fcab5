"""Proximal policy optimisation of a cell with a state, by truncated backpropagation through time.

A brain brings a cell: a declaration derived from ``Cell``, and two functions, one that runs it over sequences and
one that runs its gradient back. :func:`through_time` makes of them what acts and what learns.

The cell's outputs go to a readout, which may also be shown the inputs: then what to do now need not pass through units
that were made to remember.

A rollout is cut into sequences of fixed length, each with the state it began with. Where an episode begins within a
sequence the state before it counts as zero, forwards and backwards. Sequences of a minibatch lie side by side: the
rows of step t are ``t x sequences`` and the ones behind it, so that a step of all of them is one matrix product.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from pydantic import Field

from nematodebench.brains.base import Interface
from nematodebench.brains.parameters import parameter, searched, switch
from nematodebench.brains.parts.actor_critic import (
    ActorCritic,
    choose_action,
    is_cut_off,
    present_value,
    start_network,
    store_observation,
    store_step,
    weigh_stored_steps,
)
from nematodebench.brains.parts.cells import Cell, CellFunction
from nematodebench.brains.parts.ppo import Ppo, PpoConfig, begin_rollout_of, discount, ppo_gradient, shuffle
from nematodebench.brains.synapses import Synapses, dense_layers
from nematodebench.kernels.abi import Feedback
from nematodebench.kernels.adam import adam_step
from nematodebench.kernels.jit import F32, F32M, I64, U64, kernel
from nematodebench.kernels.math import tanh32
from nematodebench.kernels.memory import counter, floats, part, size, words
from nematodebench.kernels.mlp import (
    Network,
    backward,
    forward,
    init_weights,
    input_deltas,
    output_deltas,
    outputs_of,
    silence_inputs,
    update_weights,
)
from nematodebench.kernels.vectors import padded

__all__ = ["Recurrent", "RecurrentConfig", "forget_episode", "start_recurrent", "through_time"]


class RecurrentConfig(PpoConfig):
    """Parameters of proximal policy optimisation through time; a brain adds those of its cell."""

    rollout: int = parameter(512, 8, 65536, "steps before the first update", searched(64, 2048, "medium", log=True))
    longest_rollout: int = parameter(2048, 8, 65536, "the longest that a rollout becomes")
    minibatch: int = parameter(64, 1, 65536, "steps of one gradient step at first; they grow with the rollout")
    learning_rate: float = parameter(3e-3, 0, 1, "Adam's step size", searched(0.0001, 0.01, "high", log=True, off=0.0))
    max_divergence: float = parameter(
        0.04, 0, 10, "an update ends after the epoch in which the policy moved farther (mean KL); 0 = never"
    )
    max_grad_norm: float = parameter(0.5, 0, None, "gradients of cell and readout are clipped to this norm; 0 = never")
    sequence: int = parameter(
        64, 1, 4096, "steps through which errors are propagated back", searched(8, 128, "medium", log=True)
    )
    hidden: tuple[int, ...] = Field((), max_length=8, description="units of each layer between cell and action")
    shortcut: int = parameter(
        64, 0, 1024, "units of a layer that leads from the inputs to the readout past the cell; 0 = none",
        searched(16, 128, "medium", log=True, off=0),
    )  # fmt: skip
    hears_reward: bool = switch(True, "whether the last reward is an input")


class Recurrent(Ppo):
    """The memory of a brain; a brain declares its own ``cell`` in place of this one.

    ``moment`` is what the cell is told: the senses, the last action, the last reward.
    """

    hears_reward = size()
    senses = size()
    steps = size()
    sequence = size()
    minibatches = size()
    chunks = size()
    state = size()
    shown_width = size()
    cell = part(Cell)
    past = part(Network)
    fresh = counter()
    moment = floats("inputs")
    present = floats("state")
    alive = floats("steps")
    starts = floats("chunks", "state")
    picked = words("batch", scratch=True)
    shown = floats("batch", "shown_width", scratch=True)
    by_shown = floats("batch", "shown_width", scratch=True)

    @classmethod
    def sized(cls, config: RecurrentConfig, body: Interface, cell: type[Cell]) -> Mapping[str, Any]:
        """The sizes of a brain with such a cell. Rollouts are whole sequences, as many in each minibatch."""
        inputs = body.inputs + (body.choices or body.effectors) + 1
        minibatches = max(config.rollout // max(config.minibatch, config.sequence), 1)
        unit = config.sequence * minibatches
        longest = max(config.rollout, config.longest_rollout if config.rollout_growth > 0 else 0)
        capacity, own = max(longest // unit, 1) * unit, cell.shape(inputs, config)
        batch = capacity // minibatches
        shown = own["units"] + padded(config.shortcut)
        shape = ActorCritic.shape(body, config.hidden, config.levels, capacity, batch, shown)
        return {
            **shape, "rollout": {**shape["rollout"], "inputs": inputs}, "inputs": inputs, "senses": body.inputs,
            "first_length": max(config.rollout // unit, 1) * unit, "steps": capacity, "minibatches": minibatches,
            "chunks": capacity // config.sequence, "state": own["state"], "shown_width": shown,
            "cell": {
                **own, "inputs": inputs, "sequences": batch // config.sequence, "rows": batch,
                "widest": max(shown, own.get("widest", 0)), "adam": {"count": own["count"]},
            },
            "past": Network.shape(inputs, (), config.shortcut, batch),
        }  # fmt: skip

    def learned(self) -> Iterator[tuple[str, Any]]:
        """What it keeps; of the shortcut only if there is one."""
        for name, value in super().learned():
            if self.shown_width > self.cell.units or not name.startswith("past."):
                yield name, value

    def synapses(self) -> Iterator[Synapses]:
        """Those of the cell, of the layer past it and of the readout of both."""
        told, state, units = np.asarray(self.moment), np.asarray(self.present), self.cell.units
        yield from self.cell.connections(told, state)
        shown = self.cell.sent(state)
        readout, *others = dense_layers(self.net, shown)
        yield replace(readout, name="readout", counted=False)
        if self.shown_width > units:
            width = int(self.past.outputs[0])
            yield Synapses("past", told.size, width, width, width, told, counted=False)
            passed = np.asarray(self.shown)[0, units : units + width]
            yield replace(readout, name="readout_past", sources=width, biases=0, signals=passed)
        yield from others


@kernel()
def start_recurrent(brain: Recurrent, rng: U64) -> None:
    """Draws the weights of the readout and of the layer past the cell; those of the cell are drawn by the brain."""
    start_network(brain, rng)
    init_weights(brain.past, rng, 1.0, np.sqrt(2.0))
    brain.length = brain.first_length
    silence_inputs(brain.net, brain.cell.true_units, brain.cell.units)
    silence_inputs(brain.net, brain.cell.units + brain.past.outputs[0], brain.shown_width)
    for row in range(brain.cell.rows):
        brain.cell.ones[row] = np.float32(1.0)


@kernel()
def forget_episode(brain: Recurrent) -> None:
    """The working state ends with an episode; what was learned stays."""
    brain.fresh = 1
    for i in range(brain.inputs):
        brain.moment[i] = np.float32(0.0)
    for n in range(brain.state):
        brain.present[n] = np.float32(0.0)


@kernel()
def _sense(brain: Recurrent, obs: F32) -> None:
    for i in range(brain.senses):
        brain.moment[i] = obs[i]


@kernel()
def _store_moment(brain: Recurrent) -> None:
    """Keeps what the cell is told now and, at the beginning of a sequence, the state before it."""
    at = store_observation(brain, brain.moment)
    brain.alive[at] = np.float32(0.0) if brain.fresh else np.float32(1.0)
    brain.fresh = 0
    if at % brain.sequence == 0:
        for n in range(brain.state):
            brain.starts[at // brain.sequence, n] = brain.present[n]


@kernel()
def _hear_action(brain: Recurrent, action: F32) -> None:
    """What was done is told at the next step: one input an effector, or one for each choice."""
    told = brain.moment[brain.senses : brain.inputs - 1]
    for n in range(told.size):
        told[n] = action[n] if brain.heads.effectors > 0 else np.float32(0.0)
    if brain.heads.effectors == 0:
        told[int(brain.rollout.chosen[brain.rollout.filled, 0])] = np.float32(1.0)


@kernel()
def _gather_sequences(brain: Recurrent, picked: I64) -> None:
    """Lays these sequences of the rollout side by side; ``picked`` of the brain then says the step of every row."""
    count, cell, rollout = picked.size, brain.cell, brain.rollout
    for s in range(count):
        for n in range(brain.state):
            cell.start[s, n] = brain.starts[picked[s], n]
        for t in range(brain.sequence):
            row, at = t * count + s, picked[s] * brain.sequence + t
            brain.picked[row] = at
            cell.alive[row] = brain.alive[at]
            for i in range(brain.inputs):
                brain.x[row, i] = rollout.observations[at, i]


@kernel()
def _show(brain: Recurrent, x: F32M) -> None:
    """What the readout sees: the outputs of the cell and those of the layer past it."""
    rows, units, outputs = x.shape[0], brain.cell.units, brain.cell.outputs
    for row in range(rows):
        for u in range(units):
            brain.shown[row, u] = outputs[row, u]
    if brain.shown_width > units:
        forward(brain.past, x)
        passed = outputs_of(brain.past, rows)
        for row in range(rows):
            for u in range(passed.shape[1]):
                brain.shown[row, units + u] = tanh32(passed[row, u])


@kernel()
def _blame(brain: Recurrent, x: F32M) -> None:
    """The gradient by what the readout saw: for the cell by its outputs, for the layer past it by its weights."""
    rows, units, by_shown = x.shape[0], brain.cell.units, brain.by_shown
    input_deltas(brain.net, brain.cell.zeros, by_shown[:rows])
    for row in range(rows):
        for u in range(units):
            brain.cell.deltas[row, u] = by_shown[row, u]
    if brain.shown_width > units:
        deltas = output_deltas(brain.past, rows)
        for row in range(rows):
            shown = brain.shown[row, units:]
            for u in range(shown.size):
                deltas[row, u] = by_shown[row, units + u] * (np.float32(1.0) - shown[u] * shown[u])
        backward(brain.past, x)


def through_time(run: CellFunction, run_back: CellFunction) -> tuple[Callable[..., None], Callable[..., None]]:
    """What acts and what learns with a cell.

    Args:
        run: Runs the cell over sequences: from ``start`` to ``outputs`` and ``end``.
        run_back: Computes the ``gradients`` of its parameters from ``deltas``, after ``run`` on the same rows.
    """
    remember, value = _acting(run)
    return remember, _learning(run, run_back, value)


def _acting(run: CellFunction) -> tuple[Callable[..., None], Callable[..., np.float32]]:
    """What acts, and what tells the value of the present moment."""

    @kernel()
    def advance(brain: Recurrent) -> None:
        """One step from the present state, which stays what it is."""
        for i in range(brain.inputs):
            brain.x[0, i] = brain.moment[i]
        for n in range(brain.state):
            brain.cell.start[0, n] = brain.present[n]
        brain.cell.alive[0] = np.float32(1.0)
        run(brain.cell, brain.x[:1], 1)
        _show(brain, brain.x[:1])
        forward(brain.net, brain.shown[:1])

    @kernel()
    def value_of_moment(brain: Recurrent) -> np.float32:
        advance(brain)
        return present_value(brain)

    @kernel()
    def remember_moment(brain: Recurrent, rng: U64, obs: F32, action: F32) -> None:
        """Advances the state by what is sensed, samples an action and stores what it was based on."""
        _sense(brain, obs)
        _store_moment(brain)
        advance(brain)
        for n in range(brain.state):
            brain.present[n] = brain.cell.end[0, n]
        choose_action(brain, rng, action)
        _hear_action(brain, action)

    return remember_moment, value_of_moment


def _learning(
    run: CellFunction, run_back: CellFunction, value_of_moment: Callable[..., np.float32]
) -> Callable[..., None]:
    """What stores the outcome of a step, and learns from all of them when the rollout is full."""

    @kernel()
    def update(brain: Recurrent, rng: U64) -> None:
        """Epochs of shuffled minibatches of sequences, until the policy has moved as far as it may."""
        chunks, cell, net = brain.rollout.filled // brain.sequence, brain.cell, brain.net
        order, count = brain.rollout.order[:chunks], chunks // brain.minibatches
        for k in range(chunks):
            order[k] = k
        for _ in range(brain.epochs):
            moved = 0.0
            shuffle(order, rng)
            for start in range(0, chunks, count):
                picked = order[start : start + count]
                _gather_sequences(brain, picked)
                rows = brain.picked[: picked.size * brain.sequence]
                x, shown = brain.x[: rows.size], brain.shown[: rows.size]
                run(cell, x, picked.size)
                _show(brain, x)
                forward(net, shown)
                moved += ppo_gradient(brain, rows)
                backward(net, shown)
                _blame(brain, x)
                run_back(cell, x, picked.size)
                update_weights(net, brain.learning_rate, brain.max_grad_norm)
                if brain.shown_width > cell.units:
                    update_weights(brain.past, brain.learning_rate, brain.max_grad_norm)
                adam_step(cell.adam, cell.parameters, cell.gradients, brain.learning_rate, brain.max_grad_norm)
            if brain.max_divergence > 0.0 and moved > brain.max_divergence * brain.rollout.filled:
                break

    @kernel()
    def learn_from_moment(brain: Recurrent, rng: U64, obs: F32, outcome: Feedback) -> None:
        """Stores the reward; updates when the rollout is full. A truncated episode is continued by its value."""
        gamma = discount(brain)
        _sense(brain, obs)
        if brain.hears_reward:
            brain.moment[brain.inputs - 1] = tanh32(np.float32(outcome.reward))
        value = value_of_moment(brain) if is_cut_off(outcome) else np.float32(0.0)
        ended = store_step(brain, outcome, gamma, value)
        if brain.rollout.filled == brain.length:
            weigh_stored_steps(brain, np.float32(0.0) if ended else value_of_moment(brain), gamma, brain.gae_lambda)
            update(brain, rng)
            begin_rollout_of(brain, brain.sequence * brain.minibatches)

    return learn_from_moment
