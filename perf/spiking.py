"""Steps a second of spiking_rstdp (100 neurons, 10 ticks a step), beside plain NumPy in the same run.

Both start from the same weights and learn which move is right for the same stream of inputs to a worm, on one core,
with all mechanisms on (working memory has no slots here, which makes it 100 neurons). Without noise, and with the plain
one told what the other chose, both must fire the same spikes. Rounds of both alternate and the best of each counts, so
that a busy machine disturbs neither more than the other.
"""

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nematodebench.brains.base import Interface
from nematodebench.brains.parts.liveness import liveness_of
from nematodebench.brains.spiking.network import LEAST
from nematodebench.brains.spiking.spiking_rstdp import Memory, SpikingRstdp, SpikingRstdpConfig
from nematodebench.engine.compiled_brain import aligned
from nematodebench.kernels.abi import BRAIN, Feedback
from nematodebench.kernels.jit import F32, F32M, F64, I64, U64, first_class, kernel
from nematodebench.kernels.rng import RNG_WORDS, STREAM_BRAIN, set_stream

SENSORS = ("odour_magnitude", "odour_sine", "odour_cosine", "satiety", "touch")
LOW = (0.0, -1.0, -1.0, 0.0, 0.0)
MOVES = ("forward", "left", "right", "stay")
BODY = Interface(SENSORS, LOW, (1.0,) * 5, len(MOVES), 0, MOVES)
ROUNDS, STEPS, PLAIN_STEPS, CHECKED = 60, 1000, 10, 200
WANTED = 100.0
Array = NDArray[Any]


@kernel()
def reward_of(chosen: float, right: float) -> float:
    """As in a game of question and answer."""
    return 1.0 if chosen == right else -0.15


@kernel()
def steps(
    act: Any, learn: Any, stream: F32M, hyper: F64, ints: I64, mem: F32, rng: U64, obs: F32M, action: F32M, out: F64
) -> None:
    """One step on every row of the stream: the brain's inputs, then what it should do."""
    outcome = Feedback(out)
    for t in range(stream.shape[0] - 1):
        for n in range(obs.shape[1]):
            obs[0, n] = stream[t, n]
        act(hyper, ints, mem, rng, obs, action, out)
        for n in range(obs.shape[1]):
            obs[0, n] = stream[t + 1, n]
        outcome.reward = reward_of(action[0, 0], stream[t, obs.shape[1]])
        learn(hyper, ints, mem, rng, obs, action, out)


class PlainNetwork:
    """The equations as one would write them in NumPy: dense matrices, one expression each."""

    def __init__(self, config: SpikingRstdpConfig, brain: Memory) -> None:
        self.config, net, senses = config, brain.net, brain.senses
        neurons, targets = net.neurons, net.targets
        self.sensory, self.hidden, self.outputs = net.sensory, net.hidden, brain.choice.outputs
        self.weights, self.sign = np.array(net.weights[:, :targets]), np.array(net.sign)
        self.present, limit = self.weights != 0, config.weight_limit
        self.low = np.where(self.sign > 0, LEAST, -limit)[:, None]
        self.high = np.where(self.sign > 0, limit, -LEAST)[:, None]
        self.sensor, self.low_end, self.high_end = senses.sensor, senses.low, senses.high
        self.centre, self.spacing = senses.centre, senses.spacing
        self.fresh, self.eligible = np.zeros_like(self.weights), np.zeros_like(self.weights)
        self.plastic = np.arange(neurons)[:, None] < self.sensory + self.hidden
        self.potential, self.trace, self.count, self.usual = (np.zeros(neurons, np.float32) for _ in range(4))
        self.resource, self.threshold = np.ones(neurons, np.float32), np.ones(neurons, np.float32)
        self.energy: Array = np.ones(neurons, np.float32)
        self.current: Array = np.zeros(targets, np.float32)
        self.meta: Array = np.ones(targets, np.float32)
        self.gate = np.full(targets, config.hidden_rate, np.float32)
        self.value, self.novelty, self.bias = np.zeros(senses.sensed), np.ones(senses.sensed), 0.0
        self.noise = np.random.default_rng(0)

    def encode(self, obs: Array) -> Array:
        """Population code of an observation."""
        rest = np.maximum(self.low_end, 0)
        x = np.clip(obs[self.sensor], self.low_end, self.high_end)
        near = np.maximum(1 - np.abs(x - self.centre) / (1.5 * self.spacing), 0)
        rates: Array = (near * np.minimum(1, np.abs(x - rest) / self.spacing)).astype(np.float32)
        rates *= min(1, self.config.crowd / max(rates.sum(), 1e-6))
        return rates

    def tick(self, drive: Array) -> None:
        """Integrate, fire, learn by timing, transmit, fade."""
        c, first = self.config, self.sensory
        self.potential[:first] += c.gain * drive
        body = np.maximum((1 - c.leak) * self.potential[first:] + self.current, -1)
        motor = body[self.hidden :]
        motor += 2 * c.noise * (self.noise.random(motor.size, np.float32) - 0.5)
        self.potential[first:] = body
        spikes = ((self.potential >= self.threshold) & (self.energy >= c.energy_cost)).astype(np.float32)
        late = c.stdp_ltd * self.meta * self.trace[first:]
        self.fresh += np.outer(self.trace, c.stdp_ltp / self.meta * spikes[first:]) - np.outer(spikes, late)
        self.current = (self.resource * spikes) @ self.weights
        self.resource *= 1 - c.depression * spikes
        self.energy -= c.energy_cost * spikes
        self.potential *= 1 - spikes
        self.count += spikes
        self.trace *= c.trace_decay
        self.trace[self.trace <= 0.05] = 0
        self.trace += spikes
        self.resource += c.depression_recovery * (1 - self.resource)
        self.energy = np.minimum(self.energy + c.energy_recovery, 1)

    def act(self, obs: Array, chosen: int | None = None) -> int:
        """The ticks of a step, the vote and the choice."""
        self.drive = self.encode(obs)
        self.count[:] = 0
        for _ in range(self.config.ticks):
            self.tick(self.drive)
        motor = slice(self.sensory + self.hidden, None)
        votes = (self.count[motor] * (self.sign[motor] > 0)).reshape(self.outputs, -1).sum(1)
        chance = np.exp((votes - votes.max()) / self.config.temperature)
        chance /= chance.sum()
        chosen = int(self.noise.choice(self.outputs, p=chance)) if chosen is None else chosen
        gates = (np.arange(self.outputs) == chosen) - chance
        self.gate[self.hidden :] = np.repeat(gates, self.config.motor)
        return chosen

    def dopamine(self, following: Array, reward: float) -> float:
        """Reward and novelty minus what was expected."""
        c = self.config
        reward += c.curiosity * (following @ self.novelty) / (following.sum() + 1e-6)
        self.novelty *= 1 - 0.01 * following
        ahead = c.gamma * (self.bias + self.value @ following)
        surprise = float(np.clip(reward + ahead - (self.bias + self.value @ self.drive), -1, 1))
        self.power = 1 + self.drive @ self.drive
        self.value += c.value_rate * surprise / self.power * self.drive
        self.bias += c.expectation_rate * surprise
        return surprise

    def learn(self, obs: Array, reward: float) -> None:
        """Dopamine turns eligibility into weights; then the slow mechanisms."""
        c, first = self.config, self.sensory
        surprise = self.dopamine(self.encode(obs), reward)
        unusual = np.maximum(1 - c.habituation * self.usual / np.maximum(self.count, 1), -1)
        self.eligible = c.eligibility_decay * self.eligible + np.outer(unusual, self.gate) * self.fresh * self.plastic
        self.fresh[:] = 0
        active = self.count[first : first + self.hidden] / (c.gain * c.ticks + 0.02)
        power = self.power + active @ active
        moved = self.weights + c.learning_rate * surprise / power * self.energy[first:] * self.eligible
        self.weights = np.where(self.present & self.plastic, np.clip(moved, self.low, self.high), self.weights)
        rate = self.count / c.ticks
        grip = c.inhibitory_rate * np.outer(rate * (self.sign < 0), rate[first:] - c.target_rate)
        self.weights = np.where(self.present, np.clip(self.weights - grip, self.low, self.high), self.weights)
        self.usual += 0.01 * (self.count - self.usual)
        self.threshold[first:] = np.clip(
            self.threshold[first:] + c.homeostasis * (rate[first:] - c.target_rate), 0.1, 20
        )
        self.meta += 0.01 * (1 + c.metaplasticity * rate[first:] ** 2 - self.meta)


def start(config: SpikingRstdpConfig) -> tuple[tuple[Any, ...], Memory]:
    """A fresh brain: all that its functions are called with, and the view of its memory."""
    layout = SpikingRstdp.layout(config, BODY)
    rng = np.zeros(RNG_WORDS, dtype=np.uint64)
    set_stream(rng, np.uint64(1), STREAM_BRAIN, 0, 0)
    memory = (layout.hyper, layout.ints, aligned(1, layout.memory)[0])
    lines = (np.zeros((1, len(SENSORS)), np.float32), np.zeros((1, 1), np.float32), np.zeros(Feedback.count()))
    arguments = (*memory, rng, *lines)
    SpikingRstdp.init(*arguments)
    SpikingRstdp.begin_episode(*arguments)
    return arguments, Memory(*memory)


def experience(count: int) -> Array:
    """Inputs that wander over the sensors' ranges; what is right follows the direction of the odour."""
    numbers = np.random.default_rng(0)
    phases = np.cumsum(numbers.normal(0, 0.2, (count, len(SENSORS))), 0) + numbers.uniform(0, 6, len(SENSORS))
    inputs = np.where(np.array(LOW) < 0, np.sin(phases), (1 + np.sin(phases)) / 2)
    right = np.where(inputs[:, 2] > np.abs(inputs[:, 1]), 0, np.where(inputs[:, 1] < 0, 1, 2))
    return np.column_stack([inputs, right]).astype(np.float32)


def agreement(stream: Array) -> float:
    """Share of neurons and steps with the same number of spikes in both, without noise."""
    config = SpikingRstdpConfig(slots=0, noise=0)
    arguments, brain = start(config)
    obs, action, out = arguments[-3:]
    outcome, plain, same = Feedback(out), PlainNetwork(config, brain), []
    for t in range(CHECKED):
        obs[0] = stream[t, :-1]
        SpikingRstdp.act(*arguments)
        plain.act(stream[t, :-1], int(action[0, 0]))
        same.append(np.mean(plain.count == brain.net.count))
        obs[0], outcome.reward = stream[t + 1, :-1], reward_of(action[0, 0], stream[t, -1])
        SpikingRstdp.learn(*arguments)
        plain.learn(stream[t + 1, :-1], float(outcome.reward))
    return float(np.mean(same))


def main() -> None:
    """Checks that both are the same network, alternates between them, prints the best round of each and the ratio."""
    stream = experience(STEPS + 1)
    act, learn = first_class(SpikingRstdp.act, BRAIN), first_class(SpikingRstdp.learn, BRAIN)
    config = SpikingRstdpConfig(slots=0)
    arguments, brain = start(config)
    plain = PlainNetwork(config, brain)
    steps(act, learn, stream, *arguments)
    best = {"compiled": np.inf, "NumPy": np.inf}
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        steps(act, learn, stream, *arguments)
        middle = time.perf_counter()
        for t in range(PLAIN_STEPS):
            chosen = plain.act(stream[t, :-1])
            plain.learn(stream[t + 1, :-1], reward_of(chosen, stream[t, -1]))
        best["compiled"] = min(best["compiled"], (middle - begun) / STEPS)
        best["NumPy"] = min(best["NumPy"], (time.perf_counter() - middle) / PLAIN_STEPS)
    for name, seconds in best.items():
        print(f"{name:10s} {1e-3 / seconds:8.1f} k steps/s  ({seconds * 1e6:.2f} us a step)")
    print(f"same spikes in {agreement(stream):.2%} of neurons and steps, without noise")
    rate, ratio = liveness_of(brain.liveness)["mean_rate"], best["NumPy"] / best["compiled"]
    below = "" if ratio >= WANTED else "  BELOW"
    print(f"ratio: {ratio:.0f} x at a mean rate of {rate:.3f} (wanted {WANTED:.0f} x){below}")


if __name__ == "__main__":
    main()
