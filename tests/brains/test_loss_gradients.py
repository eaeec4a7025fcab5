"""The loss gradients of the network brains against torch autograd."""

import numpy as np
import pytest
import torch
from brain_trial import Mirror, Trial, discrete, effectors, shake

from nematodebench.brains.classical import mlp_dqn, mlp_reinforce
from nematodebench.brains.parts.actor_critic import weigh_steps
from nematodebench.brains.parts.ppo import ppo_gradient
from nematodebench.brains.parts.rollout import estimate_advantages, gather_rows
from nematodebench.kernels.mlp import backward, forward

BODIES = [discrete(), effectors(outputs=3)]


def stored(values, count):
    """The first rows of a buffer as torch's float64."""
    return torch.tensor(np.asarray(values[:count], dtype=np.float64))


def policy(brain, outputs, count):
    """Log probabilities of the stored actions, entropies and values."""
    heads, levels = brain.heads.count, brain.heads.levels
    logits = outputs[:, : heads * levels].reshape(-1, heads, levels)
    split = torch.distributions.Categorical(logits=logits)
    return (
        split.log_prob(stored(brain.rollout.chosen, count)).sum(1), split.entropy().sum(1), outputs[:, heads * levels],
    )  # fmt: skip


def plain_advantages(rollout, count, gamma, trace, following):
    reward, done = stored(rollout.rewards, count).numpy(), stored(rollout.done, count).numpy()
    value = np.append(stored(rollout.values, count).numpy(), following)
    advantage = np.zeros(count + 1)
    for t in reversed(range(count)):
        alive = 1 - done[t]
        error = reward[t] + gamma * alive * value[t + 1] - value[t]
        advantage[t] = error + gamma * trace * alive * advantage[t + 1]
    return advantage[:count], advantage[:count] + value[:count]


@pytest.mark.parametrize("trace", [0.0, 0.9, 1.0])
def test_advantages(trace):
    trial = Trial("mlp_ppo", discrete(), rollout=40, gamma=0.9, gae_lambda=trace)
    trial.play(39, np.random.default_rng(0))
    brain, rollout = trial.brain, trial.brain.rollout
    assert rollout.filled == 39
    estimate_advantages(rollout, brain.gamma, brain.gae_lambda, np.float32(0.7))
    advantage, target = plain_advantages(rollout, 39, 0.9, trace, 0.7)
    scaled = (advantage - advantage.mean()) / advantage.std()
    np.testing.assert_allclose(rollout.advantages[:39], scaled, atol=1e-4)
    np.testing.assert_allclose(rollout.targets[:39], target, atol=1e-5)


@pytest.mark.parametrize(("terminated", "truncated", "expected"), [(1, 0, False), (0, 1, True), (1, 1, False)])
def test_only_truncation_is_continued_by_its_value(terminated, truncated, expected):
    trial = Trial("mlp_ppo", discrete(), gamma=0.9)
    seen = np.full(5, 0.3)
    trial.act(np.zeros(5))
    trial.learn(seen, 2.0, terminated, truncated)
    value = Mirror(trial.brain.net)(torch.full((1, 5), 0.3, dtype=torch.float64))[0, 4].item()
    assert abs(value) > 1e-3
    assert trial.brain.rollout.rewards[0] == pytest.approx(2.0 + 0.9 * value * expected, abs=1e-6)
    assert trial.brain.rollout.done[0] == 1.0


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("scaling", [0.0, 0.05])
@pytest.mark.parametrize("rows", [1, 13, 32])
def test_ppo_gradient(body, scaling, rows):
    numbers = np.random.default_rng(1)
    trial = Trial(
        "mlp_ppo", body, hidden=(20, 12), rollout=50, minibatch=32, entropy=0.05, value_weight=0.7, clip=0.1,
        value_scaling=scaling,
    )  # fmt: skip
    trial.play(49, numbers)
    brain, rollout = trial.brain, trial.brain.rollout
    weigh_steps(brain, np.full(body.inputs, 0.3, dtype=np.float32), False, brain.gamma, brain.gae_lambda)
    assert (brain.scale.spread != 1.0) == (scaling > 0)
    shake(brain.net, numbers, 0.1)
    order = numbers.permutation(49)[:rows]
    x = brain.x[:rows]
    gather_rows(rollout.observations, order, x)
    forward(brain.net, x)
    moved = ppo_gradient(brain, order)
    backward(brain.net, x)

    mirror = Mirror(brain.net)
    logp, entropy, value = policy(brain, mirror(stored(rollout.observations, 49)), 49)
    advantage, target = stored(rollout.advantages, 49), stored(rollout.targets, 49)
    ratio = torch.exp(logp - stored(rollout.logp, 49))
    gain = torch.minimum(ratio * advantage, torch.clamp(ratio, 0.9, 1.1) * advantage)
    loss = -gain - 0.05 * entropy + 0.7 * (value - target) ** 2
    loss[order].mean().backward()
    assert moved == pytest.approx((ratio - 1 - torch.log(ratio))[order].sum().item(), rel=1e-3)
    if rows > 1:
        clipped = gain[order] != (ratio * advantage)[order]
        assert clipped.any()
        assert not clipped.all()
    mirror.assert_gradients()


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("scaling", [0.0, 0.05])
@pytest.mark.parametrize("count", [2, 64, 150])
def test_reinforce_gradient_over_all_passes(body, scaling, count):
    numbers = np.random.default_rng(2)
    trial = Trial(
        "mlp_reinforce", body, hidden=(20, 12), horizon=200, batch_episodes=1000, learning_rate=0, max_grad_norm=0,
        entropy=0.05, value_weight=0.7, value_scaling=scaling,
    )  # fmt: skip
    trial.play(count, numbers)
    brain, rollout = trial.brain, trial.brain.rollout
    weigh_steps(brain, np.full(body.inputs, 0.3, dtype=np.float32), False, brain.gamma, mlp_reinforce._TRACE)
    mlp_reinforce._update(brain)

    mirror = Mirror(brain.net)
    logp, entropy, value = policy(brain, mirror(stored(rollout.observations, count)), count)
    target = stored(rollout.targets, count)
    loss = -stored(rollout.advantages, count) * logp - 0.05 * entropy + 0.7 * (value - target) ** 2
    loss.mean().backward()
    mirror.assert_gradients()


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize(("joint", "unit"), [(True, 0.1), (True, 1.0), (False, 1.0)])
@pytest.mark.parametrize("rows", [1, 13, 64])
def test_dqn_gradient(body, joint, unit, rows):
    numbers = np.random.default_rng(3)
    trial = Trial(
        "mlp_dqn", body, hidden=(20, 12), replay=64, warmup=10**6, minibatch=rows, learning_rate=0, max_grad_norm=0,
        gamma=0.9, joint=joint, scale_values=unit < 1,
    )  # fmt: skip
    trial.play(100, numbers)
    brain, replay = trial.brain, trial.brain.replay
    heads, levels = brain.heads.count, brain.heads.levels
    shake(brain.net, numbers, 0.3)
    shake(brain.target, numbers, 0.3)
    mlp_dqn._update(brain, trial.rng)

    mirror, target = Mirror(brain.net), Mirror(brain.target)
    drawn = np.asarray(brain.drawn)
    assert drawn.size == rows
    obs, following = (stored(values, 64)[drawn] for values in (replay.observations, replay.following))
    chosen = stored(replay.chosen, 64)[drawn].long()
    with torch.no_grad():
        best = mirror(following)[:, : heads * levels].reshape(rows, heads, levels).argmax(2, keepdim=True)
        future = target(following)[:, : heads * levels].reshape(rows, heads, levels).gather(2, best)[:, :, 0]
        future = future.sum(1, keepdim=True) if joint else future
        alive = stored(replay.alive, 64)[drawn, None]
        goal = unit * stored(replay.rewards, 64)[drawn, None] + 0.9 * alive * future
    q = mirror(obs)[:, : heads * levels].reshape(rows, heads, levels).gather(2, chosen[:, :, None])[:, :, 0]
    q = q.sum(1, keepdim=True) if joint else q
    (torch.nn.functional.smooth_l1_loss(q, goal, reduction="sum") / rows).backward()
    if rows > 1:
        assert (torch.abs(q - goal) > 1).any()
        assert (torch.abs(q - goal) < 1).any()
    mirror.assert_gradients()
