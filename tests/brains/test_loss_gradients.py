"""The loss gradients of the network brains against torch autograd."""

import numpy as np
import pytest
import torch
from brain_life import Life, Mirror, discrete, effectors, shake

from nematodebench.brains.classical import mlp_dqn, mlp_ppo, mlp_reinforce
from nematodebench.brains.parts import actor_critic as ac
from nematodebench.kernels.mlp import backward, forward

BODIES = [discrete(), effectors(outputs=3)]


def stored(life, word, count, width=1):
    """A buffer of the life's memory as torch's float64."""
    values = life.mem[life.ints[word] : life.ints[word] + count * width].astype(np.float64)
    return torch.tensor(values.reshape(count, width) if width > 1 else values)


def policy(life, outputs, count):
    """Log probabilities of the stored actions, entropies and values."""
    heads, levels = int(life.ints[ac.HEADS]), int(life.ints[ac.LEVELS])
    logits = outputs[:, : heads * levels].reshape(-1, heads, levels)
    chosen = stored(life, ac.CHOSEN, count, heads).reshape(count, heads)
    split = torch.distributions.Categorical(logits=logits)
    return split.log_prob(chosen).sum(1), split.entropy().sum(1), outputs[:, heads * levels]


def plain_advantages(life, count, gamma, trace, following):
    reward, done = stored(life, ac.REWARD, count).numpy(), stored(life, ac.DONE, count).numpy()
    value = np.append(stored(life, ac.VALUE, count).numpy(), following)
    advantage = np.zeros(count + 1)
    for t in reversed(range(count)):
        alive = 1 - done[t]
        error = reward[t] + gamma * alive * value[t + 1] - value[t]
        advantage[t] = error + gamma * trace * alive * advantage[t + 1]
    return advantage[:count], advantage[:count] + value[:count]


@pytest.mark.parametrize("trace", [0.0, 0.9, 1.0])
def test_advantages(trace):
    life = Life("mlp_ppo", discrete(), rollout=40, gamma=0.9, gae_lambda=trace)
    life.live(39, np.random.default_rng(0))
    ac.estimate_advantages(life.hyper, life.ints, life.mem, np.float32(0.7))
    advantage, target = plain_advantages(life, 39, 0.9, trace, 0.7)
    scaled = (advantage - advantage.mean()) / advantage.std()
    np.testing.assert_allclose(stored(life, ac.ADVANTAGE, 39), scaled, atol=1e-4)
    np.testing.assert_allclose(stored(life, ac.RETURN, 39), target, atol=1e-5)


@pytest.mark.parametrize(("terminated", "truncated", "expected"), [(1, 0, False), (0, 1, True), (1, 1, False)])
def test_only_truncation_is_continued_by_its_value(terminated, truncated, expected):
    life = Life("mlp_ppo", discrete(), gamma=0.9)
    seen = np.full(5, 0.3)
    life.act(np.zeros(5))
    life.learn(seen, 2.0, terminated, truncated)
    value = Mirror(life, ac.NET)(torch.full((1, 5), 0.3, dtype=torch.float64))[0, 4].item()
    assert abs(value) > 1e-3
    assert life.mem[life.ints[ac.REWARD]] == pytest.approx(2.0 + 0.9 * value * expected, abs=1e-6)
    assert life.mem[life.ints[ac.DONE]] == 1.0


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("rows", [1, 13, 32])
def test_ppo_gradient(body, rows):
    numbers = np.random.default_rng(1)
    life = Life("mlp_ppo", body, hidden=(20, 12), rollout=50, minibatch=32, entropy=0.05, value_weight=0.7, clip=0.1)
    life.live(49, numbers)
    ac.estimate_advantages(life.hyper, life.ints, life.mem, np.float32(0.3))
    shake(life, ac.NET, numbers, 0.1)
    order = numbers.permutation(49)[:rows]
    ac.gather_rows(life.ints, life.mem, order)
    outputs = forward(life.mem, life.ints, ac.NET, life.ints[ac.X], rows)
    mlp_ppo._loss_gradient(life.hyper, life.ints, life.mem, outputs, order)
    backward(life.mem, life.ints, ac.NET, life.ints[ac.X], rows)

    mirror = Mirror(life, ac.NET)
    logp, entropy, value = policy(life, mirror(stored(life, ac.OBS, 49, body.inputs)), 49)
    advantage, target = stored(life, ac.ADVANTAGE, 49), stored(life, ac.RETURN, 49)
    ratio = torch.exp(logp - stored(life, ac.LOGP, 49))
    gain = torch.minimum(ratio * advantage, torch.clamp(ratio, 0.9, 1.1) * advantage)
    loss = -gain - 0.05 * entropy + 0.7 * (value - target) ** 2
    loss[order].mean().backward()
    if rows > 1:
        clipped = gain[order] != (ratio * advantage)[order]
        assert clipped.any()
        assert not clipped.all()
    mirror.assert_gradients()


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("count", [2, 64, 150])
def test_reinforce_gradient_over_all_passes(body, count):
    numbers = np.random.default_rng(2)
    life = Life(
        "mlp_reinforce", body, hidden=(20, 12), horizon=200, batch_episodes=1000, learning_rate=0, max_grad_norm=0,
        entropy=0.05, value_weight=0.7,
    )  # fmt: skip
    life.live(count, numbers)
    ac.estimate_advantages(life.hyper, life.ints, life.mem, np.float32(0.3))
    mlp_reinforce._update(life.hyper, life.ints, life.mem)

    mirror = Mirror(life, ac.NET)
    logp, entropy, value = policy(life, mirror(stored(life, ac.OBS, count, body.inputs)), count)
    target = stored(life, ac.RETURN, count)
    loss = -stored(life, ac.ADVANTAGE, count) * logp - 0.05 * entropy + 0.7 * (value - target) ** 2
    loss.mean().backward()
    mirror.assert_gradients()


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("rows", [1, 13, 64])
def test_dqn_gradient(body, rows):
    numbers = np.random.default_rng(3)
    life = Life(
        "mlp_dqn", body, hidden=(20, 12), replay=64, warmup=10**6, minibatch=rows, learning_rate=0, max_grad_norm=0,
        gamma=0.9,
    )  # fmt: skip
    life.live(100, numbers)
    heads, levels, target_at = (int(life.ints[word]) for word in (mlp_dqn.HEADS, mlp_dqn.LEVELS, mlp_dqn.TARGET))
    shake(life, mlp_dqn.NET, numbers, 0.3)
    shake(life, target_at, numbers, 0.3)
    mlp_dqn._update(life.hyper, life.ints, life.mem, life.rng)

    mirror, target = Mirror(life, mlp_dqn.NET), Mirror(life, target_at)
    drawn = life.ints[life.ints[mlp_dqn.DRAWN] :][:rows]
    obs, following = (stored(life, word, 64, body.inputs)[drawn] for word in (mlp_dqn.OBS, mlp_dqn.NEXT))
    chosen = stored(life, mlp_dqn.CHOSEN, 64, heads).reshape(64, heads)[drawn].long()
    with torch.no_grad():
        best = mirror(following)[:, : heads * levels].reshape(rows, heads, levels).argmax(2, keepdim=True)
        future = target(following)[:, : heads * levels].reshape(rows, heads, levels).gather(2, best)[:, :, 0]
        alive = stored(life, mlp_dqn.ALIVE, 64)[drawn, None]
        goal = stored(life, mlp_dqn.REWARD, 64)[drawn, None] + 0.9 * alive * future
    q = mirror(obs)[:, : heads * levels].reshape(rows, heads, levels).gather(2, chosen[:, :, None])[:, :, 0]
    (torch.nn.functional.smooth_l1_loss(q, goal, reduction="sum") / rows).backward()
    if rows > 1:
        assert (torch.abs(q - goal) > 1).any()
        assert (torch.abs(q - goal) < 1).any()
    mirror.assert_gradients()
