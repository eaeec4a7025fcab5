"""The agent of active inference against pymdp: its beliefs, its counts and its expected free energies.

The world is a tree, so that no two sequences of actions lead to the same cell: an open plan of pymdp's and the best
action in every cell to come are then the same thing. Where both differ by design, the test says how they are related:
pymdp's information about Dirichlet counts is twice ours (it leaves out the 1/2 of the divergence), and ours is taken
context by context, as is what lies behind the next step.
"""

import itertools

import numpy as np
import pytest
from brain_trial import Trial, discrete
from pymdp import control, inference, learning
from pymdp.utils import obj_array, onehot

from nematodebench.brains.classical.active_inference import weigh_actions

CONTEXTS, ACTIONS, DEPTH, RESULTS = 3, 2, 3, 3
TREE = 2**DEPTH - 1
CELLS, END = 16, 16
SETTINGS = {"bins": 2, "contexts": CONTEXTS, "preference": 3.0, "novelty": 0.7, "gamma": 1.0, "precision": 0.25}


def below(cell, action):
    """The cell that an action leads to; two trees of seven cells, one beginning at 0, the other at ``TREE``."""
    root, place = divmod(cell, TREE)
    place = ACTIONS * place + 1 + action
    return END if place >= TREE else root * TREE + place


def senses(cell):
    return [(cell >> bit & 1) * 2.0 - 1.0 for bit in (3, 2, 1, 0)]


def listed(*arrays):
    """An array of arrays, as pymdp takes factors and modalities."""
    made = obj_array(len(arrays))
    for n, array in enumerate(arrays):
        made[n] = np.asarray(array)
    return made


def likelihood(counts):
    """Chances of what was counted, its kinds along the first axis, as pymdp wants them."""
    return counts / counts.sum(axis=0)


class Theirs:
    """The same model in pymdp's terms: counts of first cells and of results, in columns of contexts and rows."""

    def __init__(self, brain):
        self.outset = np.asarray(brain.outset, dtype=np.float64).T.copy()
        self.results = np.asarray(brain.results, dtype=np.float64).transpose(2, 0, 1).copy()

    def begin(self, cell):
        self.first, self.episode = cell, []
        self.belief = self._posterior(self.outset, cell, np.full(CONTEXTS, 1 / CONTEXTS))

    def observe(self, row, result):
        self.episode.append((row, result))
        self.belief = self._posterior(self.results[:, :, row], result, self.belief)

    def end(self):
        self.outset = self._grown(self.outset, self.first)
        for row, result in self.episode:
            self.results[:, :, row] = self._grown(self.results[:, :, row], result)

    @staticmethod
    def _posterior(counts, seen, prior):
        return inference.update_posterior_states(listed(likelihood(counts)), seen, prior)[0]

    def _grown(self, counts, seen):
        known = listed(likelihood(counts))
        belief = listed(self.belief)
        return learning.update_obs_likelihood_dirichlet(listed(counts), known, seen, belief)[0]

    def steps(self, cell, plan, belief):
        """States expected under a plan, a step each: the context, and which row is taken."""
        rows = CELLS * ACTIONS
        moves = np.zeros((rows + 1, rows + 1, ACTIONS))  # the last state: before the first action
        for action in range(ACTIONS):
            moves[cell * ACTIONS + action, rows, action] = 1
            for row in range(2 * TREE * ACTIONS):
                led = below(*divmod(row, ACTIONS))
                moves[led * ACTIONS + action if led != END else rows, row, action] = 1
        stay = np.eye(CONTEXTS)[:, :, None]
        states = listed(belief, onehot(rows, rows + 1))
        policy = np.array([[0, action] for action in plan])
        return control.get_expected_states(states, listed(stay, moves), policy)

    def terms(self, cell, plan, belief):
        """What pymdp says of a plan: its utility, information about the context, and about the counts."""
        padding = np.zeros((RESULTS, CONTEXTS, 1))
        known = listed(np.concatenate([likelihood(self.results), padding], axis=2))
        counts = listed(np.concatenate([self.results, padding], axis=2))
        states = self.steps(cell, plan, belief)
        seen = control.get_expected_obs(states, known)
        liking = SETTINGS["preference"] * np.array([-1.0, 0.0, 1.0])
        norm = len(plan) * np.log(np.exp(liking).sum())  # pymdp makes a distribution of what is liked
        utility = control.calc_expected_utility(seen, listed(liking)) + norm
        told = control.calc_states_info_gain(known, states)
        return utility, told, float(np.squeeze(control.calc_pA_info_gain(counts, seen, states)))

    def energy(self, context, cell, action):
        """Expected free energy of an action in a context, with the best plan behind it."""
        depth = DEPTH - (cell % TREE + 1).bit_length()
        plans = itertools.product(range(ACTIONS), repeat=depth)
        sure = onehot(context, CONTEXTS)
        found = [self.terms(cell, (action, *plan), sure) for plan in plans]
        return min(-utility - SETTINGS["novelty"] * taught / 2 for utility, _, taught in found)

    def policy(self, cell):
        told = [self.terms(cell, (action,), self.belief)[1] for action in range(ACTIONS)]
        mixed = [sum(self.belief[c] * self.energy(c, cell, a) for c in range(CONTEXTS)) for a in range(ACTIONS)]
        weights = np.exp(SETTINGS["precision"] * (np.array(told) - mixed))
        return weights / weights.sum()


def play(trial, theirs, numbers, check):
    """An episode from one of both roots to a leaf; what is good depends on the root."""
    trial.begin_episode()
    cell = int(numbers.integers(2)) * TREE
    theirs.begin(cell)
    while cell != END:
        action = int(trial.act(senses(cell))[0])
        np.testing.assert_allclose(trial.brain.belief, theirs.belief, atol=1e-5)
        if check:
            weigh_actions(trial.brain, cell)
            np.testing.assert_allclose(trial.brain.chances, theirs.policy(cell), atol=2e-5)
        result = numbers.choice(RESULTS, p=[[0.6, 0.3, 0.1], [0.1, 0.3, 0.6]][(cell + action) % 2])
        theirs.observe(cell * ACTIONS + action, result)
        cell = below(cell, action)
        trial.learn(senses(cell if cell != END else 0), result - 1.0, terminated=cell == END)
        np.testing.assert_allclose(trial.brain.belief, theirs.belief, atol=1e-5)
    theirs.end()


def new_trial(**settings):
    body = discrete(("a", "b", "c", "d"), ("left", "right"))
    trial = Trial("active_inference", body, **{**SETTINGS, **settings})
    assert trial.brain.cells == CELLS
    counts = np.random.default_rng(2).uniform(0.2, 3, trial.brain.results.shape)
    trial.brain.results[:] = counts.astype(np.float32)  # contexts that clearly differ
    return trial


def test_beliefs_counts_and_free_energies_are_pymdps():
    trial = new_trial()
    theirs, numbers = Theirs(trial.brain), np.random.default_rng(5)
    for _ in range(150):
        play(trial, theirs, numbers, check=False)
    assert np.asarray(trial.brain.moves)[: 2 * TREE * ACTIONS].sum(axis=1).all()  # both know where all ways lead
    for _ in range(8):
        play(trial, theirs, numbers, check=True)
    np.testing.assert_allclose(trial.brain.outset, theirs.outset.T, rtol=1e-4)
    np.testing.assert_allclose(trial.brain.results, theirs.results.transpose(1, 2, 0), rtol=1e-4)
    for row in range(2 * TREE * ACTIONS):
        for context in range(CONTEXTS):
            expected = theirs.energy(context, *divmod(row, ACTIONS))
            assert trial.brain.energy[context, row] == pytest.approx(expected, abs=2e-4)
    assert np.ptp(theirs.belief) > 0.01  # contexts came to differ


def test_a_single_step_is_pymdps_policy_without_any_term_of_ours():
    """No novelty, nothing behind the next step: the whole posterior over actions is what pymdp calls q_pi."""
    trial = new_trial(novelty=0.0, gamma=0.0, precision=1.0)
    theirs, numbers = Theirs(trial.brain), np.random.default_rng(8)
    for _ in range(40):
        play(trial, theirs, numbers, check=False)
    theirs.begin(0)
    trial.begin_episode()
    trial.act(senses(0))
    weigh_actions(trial.brain, 0)
    rows = slice(0, ACTIONS)
    chances = likelihood(theirs.results)[:, :, rows]
    step = np.stack([np.tile(onehot(action, ACTIONS)[:, None], ACTIONS) for action in range(ACTIONS)], axis=2)
    theirs_pi, _ = control.update_posterior_policies(
        listed(theirs.belief, onehot(0, ACTIONS)),
        listed(chances),
        listed(np.eye(CONTEXTS)[:, :, None], step),
        listed(SETTINGS["preference"] * np.array([-1.0, 0.0, 1.0])),
        [np.array([[0, action]]) for action in range(ACTIONS)],
        gamma=1.0,
    )
    np.testing.assert_allclose(trial.brain.chances, theirs_pi, atol=2e-5)
    assert abs(theirs_pi[0] - theirs_pi[1]) > 0.01
