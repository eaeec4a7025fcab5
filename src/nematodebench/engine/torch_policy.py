"""Torch populations: a plain ``nn.Module`` as policy (and value), trained here for many runs at once.

Every array is copied into a tensor of torch's own, which begins on a cache line: what a matrix product brings can
depend on where its operands lie. Lanes learn in groups of one size, so that torch sees the same shapes whoever else is
in the batch. Whether all lanes have the bits of a lane alone can depend on the shapes of the layers; the trial before a
batch finds out.
"""

from typing import Any, ClassVar, Literal, TypeAlias, get_args

import numpy as np
import torch
from numpy.typing import NDArray

from nematodebench.brains.base import BrainClass, BrainConfig
from nematodebench.brains.parameters import parameter
from nematodebench.engine.batch import LANES, Transitions
from nematodebench.engine.population_kernels import lanes_function
from nematodebench.engine.streams import Streams
from nematodebench.engine.torch_checks import check_network
from nematodebench.engine.torch_lanes import Adam, Networks, Tensors, step_sizes
from nematodebench.errors import UsageError

__all__ = ["TorchPolicy", "TorchPolicyConfig"]

_Algorithm: TypeAlias = Literal["reinforce", "ppo"]
_TOGETHER = 16
"""Lanes that learn in one computation: what they need fits into a processor's cache, and a lane alone costs no more."""


class TorchPolicyConfig(BrainConfig):
    """Parameters of a :class:`TorchPolicy`; subclass it for other defaults, or for parameters of your own."""

    learning_rate: float = parameter(3e-3, 0, 1, "Adam's step size")
    gamma: float = parameter(0.95, 0, 1, "discount of future reward")
    trace: float = parameter(0.95, 0, 1, "weight of later estimates in an advantage, where there is a value")
    entropy: float = parameter(0.01, 0, 10, "weight of the entropy bonus")
    rollout: int = parameter(128, 16, 65536, "steps between updates")
    epochs: int = parameter(4, 1, 64, "passes over a rollout (PPO)")
    minibatches: int = parameter(4, 1, 1024, "parts of a pass (PPO)")
    clip: float = parameter(0.2, 0, 10, "how far a probability may move in an update (PPO)")
    levels: int = parameter(5, 2, 64, "values an effector can take")


class _Population:
    """All lanes of a batch: stacked networks, rollouts and random streams, nothing of which lanes share."""

    def __init__(self, brain: Any, observation_space: Any, action_space: Any, config: Any, seeds: Any) -> None:
        self._config, self._ppo = config, brain.algorithm == "ppo"
        self._discrete = hasattr(action_space, "n")
        heads, choices = (1, int(action_space.n)) if self._discrete else (action_space.shape[0], config.levels)
        lanes, inputs, steps = len(seeds), observation_space.shape[0], config.rollout
        policies, values = [], []
        for seed in seeds:
            torch.manual_seed(seed)
            policies.append(brain.policy(inputs, heads * choices))
            values.append(brain.value(inputs))
        self._policy = Networks(policies, inputs)
        self._value = None if values[0] is None else Networks(values, inputs)
        _check_algorithm(brain, self._value)
        self._networks = [self._policy] if self._value is None else [self._policy, self._value]
        self._adams, self._steps = [Adam(network) for network in self._networks], torch.zeros(lanes)
        self._draws, self._shuffles = Streams(seeds), [np.random.default_rng([1, seed]) for seed in seeds]
        self._each, self._at = np.arange(lanes), np.zeros(lanes, dtype=np.int64)
        self._observations = np.zeros((lanes, steps, inputs), dtype=np.float32)
        self._choices = np.zeros((lanes, steps, heads), dtype=np.int64)
        self._rewards, self._ends = np.zeros((2, lanes, steps))
        self._shape, self._choose, self._keep = (heads, choices), lanes_function("choice"), lanes_function("memory")
        self._mask, self._active = np.zeros(lanes, dtype=np.bool_), np.zeros(0, dtype=np.int64)

    def begin_batch(self, lanes: NDArray[np.bool_]) -> None:
        """Nothing belongs to an episode alone: ends lie in the rollout."""

    def act_batch(self, observations: NDArray[np.float32], lanes: NDArray[np.bool_]) -> Any:
        """Draws an action for every lane; NaN where the policy is not finite."""
        if lanes is not self._mask:  # the same object until a lane begins or ends an episode; nobody writes to it
            self._mask, self._active = lanes, np.flatnonzero(lanes)
        odds = self._policy.of_rows(observations, self._active)
        drawn = np.empty((lanes.size, self._shape[0]))
        for head in range(self._shape[0]):
            drawn[:, head] = self._draws.random(lanes)
        choices = np.empty(drawn.shape, dtype=np.int64)
        illegal = self._choose(odds, drawn, self._at, observations, self._observations, self._choices, choices)
        answers = choices[:, 0] if self._discrete else choices / (self._shape[1] - 1)
        return answers if not illegal else np.where(answers < 0, np.nan, answers)

    def learn_batch(self, step: Transitions) -> None:
        """Keeps the step; lanes whose rollout is full learn from it."""
        rewards, steps = step.reward, self._config.rollout
        if self._value is not None and (step.truncated & step.lanes).any():
            cut = step.truncated & step.lanes
            rewards = rewards + self._config.gamma * np.where(cut, self._worth(step.next_observation), 0.0)
        kept = self._rewards, self._ends
        if self._keep(step.lanes, self._at, rewards, step.terminated, step.truncated, *kept) < steps:
            return
        full = np.flatnonzero(self._at == steps)
        for first in range(0, full.size, _TOGETHER):
            lanes = full[first : first + _TOGETHER]
            self._update(lanes, step.next_observation)
            self._at[lanes] = 0

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def _worth(self, observations: NDArray[np.float32], some: Tensors | None = None) -> NDArray[np.float64]:
        """What the value says, 0 without one."""
        if self._value is None:
            return np.zeros(observations.shape[:-1])
        rows = observations.reshape(len(observations), -1, observations.shape[-1])
        worth: NDArray[np.float64] = self._value(torch.tensor(rows), some).numpy().astype(np.float64)
        return worth.reshape(observations.shape[:-1])

    def _advantages(
        self, lanes: NDArray[np.int64], following: NDArray[np.float32]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Advantages and returns of every step; without a value both are the discounted rewards of the rollout."""
        gamma, some = self._config.gamma, None if self._value is None else self._value.some(lanes)
        values, later = self._worth(self._observations[lanes], some), self._worth(following[lanes], some)
        fading = gamma * (self._config.trace if self._value is not None else 1.0)
        advantages = np.empty_like(values)
        lanes_function("advantages")(self._rewards[lanes], self._ends[lanes], values, later, gamma, fading, advantages)
        return advantages, advantages + values

    def _update(self, full: NDArray[np.int64], following: NDArray[np.float32]) -> None:
        """The lanes learn from their rollouts; the first is repeated until there are as many as always."""
        lanes = np.full(min(_TOGETHER, self._each.size), full[0])
        lanes[: full.size] = full
        advantages, returns = self._advantages(lanes, following)
        spread = advantages.std(axis=1, keepdims=True) + 1e-6
        weights = ((advantages - advantages.mean(axis=1, keepdims=True)) / spread).astype(np.float32)
        rollouts = self._observations[lanes], self._choices[lanes], weights, returns.astype(np.float32)
        batch = [torch.tensor(array) for array in rollouts]
        if not self._ppo:
            self._learn(lanes, full, batch, np.empty(0, dtype=np.float32))
            return
        with torch.no_grad():
            odds = self._policy(batch[0], self._policy.some(lanes))
        before = torch.from_numpy(self._slopes(odds, batch, np.empty(0, dtype=np.float32))[0])
        each = np.arange(lanes.size)[:, None]
        for _ in range(self._config.epochs):
            for rows in np.split(self._orders(lanes.size, full), self._config.minibatches, axis=1):
                self._learn(lanes, full, [array[each, rows] for array in batch], before[each, rows].numpy())

    def _orders(self, count: int, full: NDArray[np.int64]) -> NDArray[np.int64]:
        """An order of the rollout's steps for each lane, of a length that the minibatches divide."""
        orders = np.tile(np.arange(self._config.rollout), (count, 1))
        for order, lane in zip(orders, full, strict=False):
            self._shuffles[lane].shuffle(order)
        return orders[:, : self._config.rollout // self._config.minibatches * self._config.minibatches]

    def _slopes(
        self, odds: torch.Tensor, batch: list[torch.Tensor], before: NDArray[np.float32]
    ) -> tuple[NDArray[np.float32], torch.Tensor]:
        """The log probability of what was chosen ``[lane, row]``, and the slope of a row's loss by the log odds."""
        rows = odds.detach().reshape(-1, *self._shape).clone().numpy()  # the function writes to it
        choices, weights = batch[1].numpy().reshape(len(rows), -1), batch[2].numpy().reshape(-1)
        logs, slopes = np.empty(len(rows), dtype=np.float32), np.empty_like(rows)
        settings = self._config.entropy, self._config.clip
        lanes_function("slopes")(rows, choices, weights, before.reshape(-1), *settings, logs, slopes)
        return logs.reshape(odds.shape[:2]), torch.from_numpy(slopes).reshape(odds.shape)

    def _learn(
        self, lanes: NDArray[np.int64], full: NDArray[np.int64], batch: list[torch.Tensor], before: NDArray[np.float32]
    ) -> None:
        """One step of Adam for the lanes whose rollout is full; the others are computed along.

        A lane's loss is the mean over its rows. Its slope by what the networks give is computed here, torch takes it
        on to their parameters.
        """
        observations, returns = batch[0], batch[3]
        some = [network.some(lanes) for network in self._networks]
        given = [network(observations, one) for network, one in zip(self._networks, some, strict=True)]
        slopes = [self._slopes(given[0], batch, before)[1]]
        if self._value is not None:
            slopes.append(given[1].detach() - returns[..., None])
        self._steps[full] += 1.0
        sizes = step_sizes(self._config.learning_rate, self._steps[full])
        for n, (network, adam) in enumerate(zip(self._networks, self._adams, strict=True)):
            wanted = list(some[n].parameters.values())
            found = torch.autograd.grad(given[n], wanted, slopes[n] / observations.shape[1])
            adam.step(network, found, full, sizes)

    def _kept(self) -> list[Any]:
        """Every tensor and array that a lane has a row of."""
        flat = [[network.flat for network in self._networks]]
        flat += [[adam.first for adam in self._adams], [adam.second for adam in self._adams]]
        tensors = [v for kind in flat for n, one in zip(self._networks, kind, strict=True) for v in n.natural(one)]
        rows = [self._at, self._observations, self._choices, self._rewards, self._ends]
        return [*tensors, self._steps, *rows]

    def state_of(self, lane: int) -> dict[str, Any]:
        """All that one lane remembers, as data."""
        rows = [torch.as_tensor(kept)[lane].numpy().copy(order="C") for kept in self._kept()]
        shuffles = self._shuffles[lane].bit_generator.state
        return {"rows": rows, "draws": self._draws.state_of(lane), "shuffles": shuffles}

    def put(self, lane: int, state: dict[str, Any]) -> None:
        """Gives one lane what another one remembers."""
        for kept, row in zip(self._kept(), state["rows"], strict=True):
            kept[lane] = torch.from_numpy(row) if isinstance(kept, torch.Tensor) else row
        self._draws.put(lane, state["draws"])
        self._shuffles[lane].bit_generator.state = state["shuffles"]

    def memory_of(self, lane: int) -> bytes:
        """The parameters of one lane."""
        return b"".join(value[lane].numpy().tobytes() for n in self._networks for value in n.natural(n.flat))


def _check_algorithm(brain: Any, value: Any) -> None:
    """Refuses an algorithm that there is not, and PPO without a value."""
    known = get_args(_Algorithm)
    if brain.algorithm not in known:
        raise UsageError(f"{brain.__name__}: algorithm is {brain.algorithm!r}; there are {' and '.join(known)}.")
    if brain.algorithm == "ppo" and value is None:
        raise UsageError(f"{brain.__name__}: PPO needs a value; define the static method value(inputs).")


class TorchPolicy:
    """Base of a brain whose networks are yours and whose training is ours; define ``policy``, and ``value`` for PPO.

    All runs of a batch train at once. One run alone is a batch whose other lanes are idle: it has the same bits.
    """

    kind: ClassVar[BrainClass] = "classical"
    config: ClassVar[type[BrainConfig]] = TorchPolicyConfig
    algorithm: ClassVar[_Algorithm] = "reinforce"
    lanes: ClassVar[int] = LANES
    population: ClassVar[bool] = True
    """Tells the compiler which functions a run needs."""

    @staticmethod
    def policy(inputs: int, outputs: int) -> torch.nn.Module:
        """A network from ``[row, inputs]`` to ``[row, outputs]``, the log odds of the choices. Torch is seeded."""
        raise TypeError("define the static method policy(inputs, outputs)")

    @staticmethod
    def value(inputs: int) -> torch.nn.Module | None:
        """A network from ``[row, inputs]`` to ``[row, 1]``, what is to be expected; None without one."""
        return None

    @classmethod
    def check_body(cls, observation_space: Any, action_space: Any, config: Any) -> None:
        """Refuses networks that cannot be trained here, with a ValueError."""
        inputs, choices = observation_space.shape[0], getattr(action_space, "n", None)
        outputs = int(choices) if choices is not None else action_space.shape[0] * config.levels
        check_network("policy", cls.policy(inputs, outputs), inputs, outputs)
        value = cls.value(inputs)
        _check_algorithm(cls, value)
        if value is not None:
            check_network("value", value, inputs, 1)

    @classmethod
    def batched(cls, observation_space: Any, action_space: Any, config: Any, seeds: Any) -> _Population:
        """Many runs."""
        return _Population(cls, observation_space, action_space, config, seeds)

    @classmethod
    def trial_ticks(cls, config: Any) -> int:
        """Steps after which every lane has learned twice."""
        return 2 * int(config.rollout) + 1

    def __init__(self, observation_space: Any, action_space: Any, config: Any, seed: int) -> None:
        self._population = self.batched(observation_space, action_space, config, (seed, *(0,) * (self.lanes - 1)))
        self._only = np.arange(self.lanes) == 0
        self._answers: Any = None

    def begin_episode(self) -> None:
        """Nothing belongs to an episode alone."""

    def _padded(self, value: Any) -> NDArray[Any]:
        value = np.asarray(value)
        rows = np.zeros((self.lanes, *value.shape), dtype=value.dtype)
        rows[0] = value
        return rows

    def act(self, observation: NDArray[np.float32]) -> Any:
        """Draws an action."""
        self._answers = self._population.act_batch(self._padded(observation), self._only)
        return self._answers[0]

    def learn(self, transition: Any) -> None:
        """Keeps the step, and learns when the rollout is full."""
        told = transition.reward, transition.next_observation, transition.terminated, transition.truncated
        reward, following, terminated, truncated = map(self._padded, told)
        observation = self._padded(transition.observation)
        self._population.learn_batch(
            Transitions(self._only, observation, self._answers, reward, following, terminated, truncated)
        )

    def memory(self) -> bytes:
        """The parameters."""
        return self._population.memory_of(0)

    def state_dict(self) -> dict[str, Any]:
        """All that it remembers, as data."""
        return self._population.state_of(0)

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Goes on where another one was."""
        self._population.put(0, state)
