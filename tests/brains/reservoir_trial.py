"""What the tests of the reservoirs share: connections and spikes as arrays, a fixed course of steps, a run."""

import numpy as np
from brain_trial import Trial, effectors

from nematodebench.brains.registry import get_brain
from nematodebench.engine.run import RunSpec, compile_for, execute
from nematodebench.measures.anchored import ANCHORED
from nematodebench.tasks.base import Phase, Task


def dense(links, weighted=False):
    """A set of connections as a matrix [rows, columns], without the dummy column."""
    full = np.zeros((links.rows, links.columns + 1))
    np.put_along_axis(full, np.asarray(links.targets), np.asarray(links.weights) if weighted else 1.0, axis=1)
    return full[:, : links.columns]


def matrix(trial, name):
    """A matrix of the homeostatic reservoir without its padding; NaN where a recurrent connection is absent."""
    return np.asarray(getattr(trial.brain, name))[:, : trial.brain.nodes].astype(float)


def recurrent(trial):
    return matrix(trial, "recurrent")


def spikes_of(spikes):
    """A list of spikes as a 1 for every node that spiked."""
    spiked = np.zeros(spikes.nodes)
    spiked[spikes.listed[: spikes.count]] = 1
    return spiked


def trace_of(name, steps=400, body=None, **config):
    """What a brain does and remembers in some steps of a fixed random course."""
    trial, numbers = Trial(name, body or effectors(6, 2), **config), np.random.default_rng(0)
    done = []
    for _ in range(steps):
        done.append(trial.act(numbers.uniform(0, 1, trial.body.inputs)))
        trial.learn(numbers.uniform(0, 1, trial.body.inputs), numbers.normal())
    return np.array(done), trial


def control_task(world, ticks, score_key):
    phases = (Phase("train", world, ticks=ticks), Phase("scored", world, episodes=1))
    return Task("reservoir_test-v1", "for tests", phases, "scored", ANCHORED, score_key)


def run(task, name, seed, **config):
    brain = get_brain(name)
    compile_for(task, brain)
    return execute(RunSpec(task, name, brain, brain.config(**config), seed))
