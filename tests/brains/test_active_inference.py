"""The agent of active inference against a port of its formulas in plain NumPy that shares nothing with it."""

import numpy as np
import pytest
from brain_trial import Trial, discrete, effectors

from nematodebench.brains.classical.active_inference import weigh_actions
from nematodebench.brains.registry import get_brain

SETTINGS = {"bins": 2, "cells": 64, "contexts": 3, "preference": 3.0, "novelty": 0.7, "gamma": 0.8, "precision": 2.5}


class Port:
    """A model by conditional probabilities, as the literature writes it, in float64."""

    def __init__(self, brain, actions):
        shape = np.asarray(brain.results).reshape(brain.contexts, brain.cells, actions, 3)
        self.first = np.asarray(brain.outset, dtype=np.float64).copy()
        self.results, self.moves = shape.astype(np.float64), np.zeros((brain.cells, actions, brain.cells + 1))
        self.energy = -SETTINGS["novelty"] * self.to_learn()
        self.actions, self.episode, self.belief = actions, [], None

    def to_learn(self):
        """Expected divergence of Dirichlet counts by one more count: sum p (1 / count - 1 / all) / 2."""
        total = self.results.sum(-1, keepdims=True)
        return (self.results / total * 0.5 * (1 / self.results - 1 / total)).sum(-1)

    def likelihood(self):
        return self.results / self.results.sum(-1, keepdims=True)

    def begin(self, cell):
        given = self.first / self.first.sum(1, keepdims=True)
        self.belief, self.start, self.episode = given[:, cell] / given[:, cell].sum(), cell, []

    def policy(self, cell):
        chance = self.likelihood()[:, cell]
        mean = np.einsum("c,car->ar", self.belief, chance)
        entropy_within = -np.einsum("c,car,car->a", self.belief, chance, np.log(chance))
        told = -(mean * np.log(mean)).sum(-1) - entropy_within
        value = -SETTINGS["precision"] * (self.belief @ self.energy[:, cell] - told)
        weights = np.exp(value - value.max())
        return weights / weights.sum()

    def observe(self, cell, action, result, following):
        self.belief = self.belief * self.likelihood()[:, cell, action, result]
        self.belief /= self.belief.sum()
        self.episode.append((cell, action, result, following))

    def end(self):
        self.first[:, self.start] += self.belief
        for cell, action, result, following in self.episode:
            self.moves[cell, action, following] += 1
            self.results[:, cell, action, result] += self.belief
        chance, to_learn = self.likelihood(), self.to_learn()
        for cell, action, _, _ in reversed(self.episode):
            least = np.column_stack([self.energy.min(-1), np.zeros(len(self.belief))])
            led = self.moves[cell, action] / self.moves[cell, action].sum()
            liked = SETTINGS["preference"] * (chance[:, cell, action] @ [-1.0, 0.0, 1.0])
            self.energy[:, cell, action] = (
                SETTINGS["gamma"] * least @ led - liked - SETTINGS["novelty"] * to_learn[:, cell, action]
            )


def cell_of(observation, low, high):
    cell = 0
    for value, least, most in zip(observation, low, high, strict=True):
        cell = cell * 2 + int(value >= (least + most) / 2)
    return cell


def test_beliefs_counts_energies_and_policy_are_those_of_the_port():
    trial, numbers = Trial("active_inference", discrete(), **SETTINGS), np.random.default_rng(3)
    brain, body = trial.brain, trial.body
    port = Port(brain, 4)

    def sense():
        observation = numbers.uniform(body.low, body.high)
        return observation, cell_of(observation, body.low, body.high)

    for _ in range(30):
        trial.begin_episode()
        observation, cell = sense()
        port.begin(cell)
        for step in range(9):
            action = int(trial.act(observation)[0])
            weigh_actions(brain, cell)
            np.testing.assert_allclose(brain.chances, port.policy(cell), atol=2e-5)
            following, next_cell = sense()
            reward, ended = numbers.choice([-1.0, 0.01, 0.5]), step == 8
            trial.learn(following, reward, terminated=ended)
            result = 1 if abs(reward) < 0.05 else int(reward > 0) * 2
            port.observe(cell, action, result, brain.cells if ended else next_cell)
            np.testing.assert_allclose(brain.belief, port.belief, rtol=1e-4, atol=1e-6)
            observation, cell = following, next_cell
        port.end()
        np.testing.assert_allclose(brain.outset, port.first, rtol=1e-4)
        np.testing.assert_allclose(brain.results, port.results.reshape(brain.contexts, -1, 3), rtol=1e-4)
        np.testing.assert_allclose(brain.moves, port.moves.reshape(brain.rows, -1))
        np.testing.assert_allclose(brain.energy, port.energy.reshape(brain.contexts, -1), atol=2e-4)
    assert np.ptp(port.belief) > 0.01  # contexts came to differ


def test_what_an_episode_began_with_decides_at_its_end():
    """Two first cells, many like steps, one question: only the belief about the context can tell the answer."""
    trial, numbers = Trial("active_inference", discrete(("cue", "go"), ("a", "b")), bins=3), np.random.default_rng(0)
    right = []
    for _ in range(400):
        trial.begin_episode()
        cue = numbers.integers(2)
        for _ in range(5):
            trial.act([2.0 * cue - 1.0, -1.0] if trial.brain.first < 0 else [0.0, 0.0])
            trial.learn([0.0, 0.0], 0.0)
        answer = trial.act([0.0, 1.0])[0]
        right.append(answer == cue)
        trial.learn([0.0, 0.0], 1.0 if right[-1] else -1.0, terminated=True)
    assert np.mean(right[-100:]) > 0.95


def test_an_episode_longer_than_its_memory_is_learned_from_in_parts():
    trial = Trial("active_inference", discrete(), longest=7)
    trial.play(10, np.random.default_rng(0), end_every=100)
    assert trial.brain.filled == 3
    assert np.asarray(trial.brain.moves).sum() == 7


def test_too_many_joint_actions_are_refused():
    kind = get_brain("active_inference")
    with pytest.raises(ValueError, match="set fewer levels"):
        kind.layout(kind.config(levels=5), effectors(outputs=3))
