"""What the tests of cells share: a minibatch of sequences in a brain, and torch's gradient of the same loss."""

import numpy as np
import torch
from brain_trial import Mirror, Trial, effectors, shake
from test_loss_gradients import policy, stored

from nematodebench.brains.parts.actor_critic import weigh_stored_steps
from nematodebench.brains.parts.ppo import ppo_gradient
from nematodebench.brains.parts.recurrent import _blame, _gather_sequences, _show
from nematodebench.kernels.mlp import backward, forward

SEQUENCE, SEQUENCES, CHUNKS = 7, 3, 6


class CellTrial:
    """A brain whose rollout is full but for its last step, with a minibatch of sequences gathered from it."""

    def __init__(self, name, run, run_back, body=None, **config):
        numbers, self.run, self.run_back = np.random.default_rng(5), run, run_back
        settings = {"entropy": 0.05, "value_weight": 0.7, "rollout_growth": 0.0, "sequence": SEQUENCE}
        steps = {"minibatch": SEQUENCE * SEQUENCES, "rollout": SEQUENCE * CHUNKS}
        self.trial = Trial(name, body or effectors(outputs=3), **(settings | steps | config))
        self.brain = self.trial.brain
        for step in range(1, SEQUENCE * CHUNKS):
            self.trial.act(numbers.uniform(-1, 1, self.trial.body.inputs))
            ended = step % 11 == 0
            self.trial.learn(numbers.uniform(-1, 1, self.trial.body.inputs), numbers.normal(), terminated=ended)
            if ended:
                self.trial.begin_episode()
        self.trial.act(numbers.uniform(-1, 1, self.trial.body.inputs))
        self.brain.rollout.filled += 1  # the update that the last step would bring is what is looked into here
        weigh_stored_steps(self.brain, np.float32(0.3), self.brain.gamma, self.brain.gae_lambda)
        shake(self.brain.net, numbers, 0.1)
        self.numbers, self.picked = numbers, np.array([4, 1, 2])

    def gradients(self):
        """Runs a minibatch forwards and back; its gradients are then in the memory of cell and network."""
        brain, cell = self.brain, self.brain.cell
        _gather_sequences(brain, self.picked)
        rows = np.asarray(brain.picked)
        assert 0 < np.asarray(cell.alive).sum() < rows.size  # episodes begin within the sequences
        self.run(cell, brain.x, SEQUENCES)
        _show(brain, brain.x)
        forward(brain.net, brain.shown)
        ppo_gradient(brain, rows)
        backward(brain.net, brain.shown)
        _blame(brain, brain.x)
        self.run_back(cell, brain.x, SEQUENCES)
        return rows

    def by_torch(self, step, start):
        """Runs the same minibatch in torch, where ``step(x, state)`` returns output and state, and compares."""
        brain, rows = self.brain, np.asarray(self.brain.picked)
        x = torch.tensor(np.asarray(brain.x, dtype=np.float64)).reshape(SEQUENCE, SEQUENCES, -1)
        alive = torch.tensor(np.asarray(brain.cell.alive, dtype=np.float64)).reshape(SEQUENCE, SEQUENCES, 1)
        state, outputs = start, []
        for t in range(SEQUENCE):
            state = tuple(alive[t] * part for part in state)
            output, state = step(x[t], state)
            outputs.append(output)
        outputs = torch.cat(outputs)
        np.testing.assert_allclose(brain.cell.outputs, outputs.detach().numpy(), atol=2e-5)
        mirror = Mirror(brain.net)
        past = Mirror(brain.past)
        shown = torch.cat((outputs, torch.tanh(past(x.reshape(rows.size, -1)))), dim=1)
        by_step = torch.zeros(brain.steps, brain.shown_width, dtype=torch.float64).index_put(
            (torch.tensor(rows),), shown
        )
        logp, entropy, value = policy(brain, mirror(by_step), brain.steps)
        advantage, target = stored(brain.rollout.advantages, brain.steps), stored(brain.rollout.targets, brain.steps)
        ratio = torch.exp(logp - stored(brain.rollout.logp, brain.steps))
        gain = torch.minimum(ratio * advantage, torch.clamp(ratio, 0.8, 1.2) * advantage)
        loss = -gain - 0.05 * entropy + 0.7 * (value - target) ** 2
        loss[rows].mean().backward()
        mirror.assert_gradients()
        if brain.shown_width > outputs.shape[1]:
            past.assert_gradients()

    def start(self, *widths):
        """The states that the sequences begin with, in parts of these widths."""
        assert np.abs(self.brain.cell.start).max() > 0
        whole = torch.tensor(np.asarray(self.brain.cell.start, dtype=np.float64))
        return torch.split(whole, list(widths), dim=1)


def assert_close(ours, exact):
    """Gradients agree to what float32 allows."""
    exact = exact.numpy()
    assert np.abs(exact).max() > 1e-5
    np.testing.assert_allclose(np.asarray(ours), exact, rtol=0, atol=3e-5 * np.abs(exact).max())


def leaf(values):
    """An array as a torch parameter in float64."""
    return torch.tensor(np.asarray(values, dtype=np.float64), requires_grad=True)
