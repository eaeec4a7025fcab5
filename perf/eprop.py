"""Learning steps a second of eprop, beside the same online equations in torch, on one core, in the same run.

Both start from the same weights and learn from the same stream of inputs to a worm; the torch one is told what the
other chose, and takes gradients by the same traces (no library has reward-based e-prop to compare with). Before they
are timed, both must have collected the same gradient. Rounds alternate and the best of each counts, in processor time,
so that a busy machine disturbs neither more than the other.
"""

import time
from typing import Any

import numpy as np
import torch

from nematodebench.brains.spiking.eprop import Eprop, EpropConfig, Memory
from nematodebench.engine.compiled_brain import aligned
from nematodebench.kernels.abi import BRAIN, Feedback
from nematodebench.kernels.jit import first_class
from nematodebench.kernels.rng import RNG_WORDS, STREAM_BRAIN, set_stream
from perf.spiking import BODY, SENSORS, experience, reward_of, steps

ROUNDS, STEPS, TORCH_STEPS, CHECKED = 30, 1000, 20, 10


class TorchNet:
    """The equations of `adaptive_net.py` and `eprop.py`, one tensor expression each."""

    def __init__(self, config: EpropConfig, brain: Memory) -> None:
        self.config, net = config, brain.net
        flat = torch.tensor(np.asarray(net.weights))
        self.inner = flat[: net.connections].reshape(net.sources, net.neurons)
        self.outer = flat[net.connections :].reshape(net.neurons + 1, net.outputs)
        self.rho, self.beta = torch.tensor(np.asarray(net.kept)), torch.tensor(np.asarray(net.weakening))
        self.v = self.a = self.z = self.r = self.psi = self.rates = torch.zeros(net.neurons)
        self.fast, self.slow = torch.zeros(net.sources), torch.zeros(net.sources, net.neurons)
        self.eligibility, self.credit = torch.zeros_like(self.slow), torch.zeros_like(self.slow)
        self.outer_credit = torch.zeros_like(self.outer)
        self.gradient, self.outer_gradient = torch.zeros_like(self.inner), torch.zeros_like(self.outer)
        self.gain = self.mean = self.square = 0.0
        self.gains = 0

    def advance(self, obs: Any) -> None:
        """The ticks of a step and the readout."""
        c, x = self.config, torch.cat([torch.tensor(obs), torch.ones(1)])
        for _ in range(c.ticks):
            sources = torch.cat([x, self.z])
            self.slow = (self.rho - self.psi * self.beta) * self.slow + self.psi * self.fast[:, None]
            self.fast = c.decay * self.fast + sources
            self.v = c.decay * self.v + sources @ self.inner - self.z
            self.a = self.rho * self.a + self.z
            above = self.v - 1 - self.beta * self.a
            self.z = (above > 0).float()
            self.psi = c.dampening * torch.clamp(1 - above.abs(), min=0)
            self.r = c.smoothing * self.r + self.z
            self.rates = self.rates + c.rate_memory * (self.z - self.rates)
            fresh = self.psi * (self.fast[:, None] - self.beta * self.slow)
            self.eligibility = c.smoothing * self.eligibility + fresh
        self.y = self.r @ self.outer[:-1] + self.outer[-1]

    def act(self, chosen: int) -> None:
        """Credits every weight with the action."""
        c = self.config
        p = torch.softmax(self.y[:-1], 0)
        entropy = -(p * p.log()).sum()
        paid = torch.cat([-p, torch.tensor([c.value_weight])])
        paid[chosen] += 1
        asked = torch.cat([-c.entropy * p * (p.log() + entropy), torch.zeros(1)])
        left, seen = c.gamma * c.trace, torch.cat([self.r, torch.ones(1)])
        self.credit = left * self.credit + (self.outer[:-1] @ paid) * self.eligibility
        self.outer_credit = left * self.outer_credit + seen[:, None] * paid
        wish = self.outer[:-1] @ asked + c.rate_cost * (c.target_rate - self.rates)
        self.gradient -= wish * self.eligibility
        self.outer_gradient -= seen[:, None] * asked

    def learn(self, obs: Any, reward: float) -> None:
        """Surprise turns credit into a gradient."""
        c, expected = self.config, float(self.y[-1])
        self.gains += 1
        share = max(1 / self.gains, 1e-4)
        self.gain = c.gamma * self.gain + reward
        self.mean += share * (self.gain - self.mean)
        self.square += share * ((self.gain - self.mean) ** 2 - self.square)
        self.advance(obs)
        surprise = reward / max(np.sqrt(self.square), 1e-3) + c.gamma * float(self.y[-1]) - expected
        self.gradient -= surprise * self.credit
        self.outer_gradient -= surprise * self.outer_credit


def start(config: EpropConfig) -> tuple[tuple[Any, ...], Memory]:
    """A fresh brain: all that its functions are called with, and the view of its memory."""
    layout = Eprop.layout(config, BODY)
    rng = np.zeros(RNG_WORDS, dtype=np.uint64)
    set_stream(rng, np.uint64(1), STREAM_BRAIN, 0, 0)
    memory = (layout.hyper, layout.ints, aligned(1, layout.memory)[0])
    lines = (np.zeros((1, len(SENSORS)), np.float32), np.zeros((1, 1), np.float32), np.zeros(Feedback.count()))
    arguments = (*memory, rng, *lines)
    Eprop.init(*arguments)
    Eprop.begin_episode(*arguments)
    return arguments, Memory(*memory)


def disagreement(stream: Any) -> float:
    """Largest difference between both gradients after some steps, as a share of the largest entry."""
    config = EpropConfig(interval=1000)
    arguments, brain = start(config)
    obs, action, out = arguments[-3:]
    outcome, peer = Feedback(out), TorchNet(config, brain)
    peer.advance(stream[0, :-1])
    for t in range(CHECKED):
        obs[0] = stream[t, :-1]
        Eprop.act(*arguments)
        peer.act(int(action[0, 0]))
        obs[0], outcome.reward = stream[t + 1, :-1], reward_of(action[0, 0], stream[t, -1])
        Eprop.learn(*arguments)
        peer.learn(stream[t + 1, :-1], float(outcome.reward))
    ours = np.asarray(brain.gradients[: brain.net.connections])
    return float(np.abs(ours - peer.gradient.numpy().ravel()).max() / np.abs(ours).max())


def main() -> None:
    """Checks that both are the same learner, alternates between them, prints the best round of each and the ratio."""
    torch.set_num_threads(1)
    stream, config = experience(STEPS + 1), EpropConfig()
    act, learn = first_class(Eprop.act, BRAIN), first_class(Eprop.learn, BRAIN)
    arguments, brain = start(config)
    peer = TorchNet(config, brain)
    peer.advance(stream[0, :-1])
    steps(act, learn, stream, *arguments)
    best = {"compiled": np.inf, "torch": np.inf}
    for _ in range(ROUNDS):
        begun = time.process_time()
        steps(act, learn, stream, *arguments)
        middle = time.process_time()
        for t in range(TORCH_STEPS):
            peer.act(t % len(BODY.choice_names))
            peer.learn(stream[t + 1, :-1], 1.0)
        best["compiled"] = min(best["compiled"], (middle - begun) / STEPS)
        best["torch"] = min(best["torch"], (time.process_time() - middle) / TORCH_STEPS)
    print(f"gradients differ by at most {disagreement(stream):.1e} of their largest entry after {CHECKED} steps")
    for name, seconds in best.items():
        print(f"{name:10s} {1e-3 / seconds:8.1f} k steps/s  ({seconds * 1e6:.2f} us a step)")
    print(f"ratio: {best['torch'] / best['compiled']:.0f} x, {config.neurons} neurons, {config.ticks} ticks a step")


if __name__ == "__main__":
    main()
