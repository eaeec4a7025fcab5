"""Algorithms of stable-baselines3 as brains."""

from functools import cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nematodebench.adapters.sb3_config import SB3Config, config_for
from nematodebench.adapters.sb3_state import put_state, state_of
from nematodebench.adapters.sb3_steps import OffPolicySteps, OnPolicySteps
from nematodebench.brains.base import BrainClass, BrainConfig
from nematodebench.errors import UsageError

__all__ = ["SB3Brain", "make_brain"]


class SB3Brain:
    """Trains an algorithm of stable-baselines3. :func:`make_brain` says which one; subclasses may be named."""

    kind: ClassVar[BrainClass] = "classical"
    config: ClassVar[type[BrainConfig]] = SB3Config
    algorithm: ClassVar[type[Any]]
    policy: ClassVar[str] = "MlpPolicy"
    settings: ClassVar[dict[str, Any]] = {}
    """Arguments that no config can hold."""

    def __init__(self, observation_space: Any, action_space: Any, config: Any, seed: int) -> None:
        from stable_baselines3.common.logger import Logger
        from stable_baselines3.common.on_policy_algorithm import OnPolicyAlgorithm

        arguments, self._seed = config.model_dump(), seed
        total, self._levels = arguments.pop("total_timesteps"), arguments.pop("levels")
        space = _levelled(action_space, self._levels)
        self._low, self._high = getattr(space, "low", None), getattr(space, "high", None)
        self.model = self.algorithm(
            self.policy, _spaces_alone(observation_space, space), seed=seed % 2**32, device="cpu", verbose=0,
            **{**arguments, **self.settings},
        )  # fmt: skip
        self.model.set_logger(Logger(folder=None, output_formats=[]))
        self.model._total_timesteps = total
        self._steps = (OnPolicySteps if isinstance(self.model, OnPolicyAlgorithm) else OffPolicySteps)(self.model)

    @classmethod
    def check_body(cls, observation_space: Any, action_space: Any, config: Any) -> None:
        """Says why an algorithm cannot control a body: DQN, for one, moves no effectors."""
        try:
            cls(observation_space, action_space, config, 0)
        except (AssertionError, TypeError, ValueError) as error:
            raise ValueError(f"{cls.algorithm.__name__}: {' '.join(str(error).split())}") from error

    @classmethod
    def without_learning(cls, config: Any) -> Any:
        """Exploration is where it ends: no steps at random in the beginning, and the last rate of exploring."""
        ends = {"learning_starts": 0, "exploration_initial_eps": getattr(config, "exploration_final_eps", None)}
        return config.model_copy(update={name: end for name, end in ends.items() if hasattr(config, name)})

    def begin_episode(self) -> None:
        """Nothing belongs to an episode alone."""

    def act(self, observation: NDArray[np.float32]) -> Any:
        """Chooses an action as the algorithm does while it collects experience."""
        action = self._steps.act(observation)
        if self._levels:
            return action / (self._levels - 1)
        return int(action) if self._low is None else np.clip(action, self._low, self._high)

    def learn(self, transition: Any) -> None:
        """Hands the step to the algorithm."""
        self._steps.learn(transition)

    def state_dict(self) -> dict[str, Any]:
        """All that it needs to act and learn as it would have done, as plain data."""
        return {"seed": self._seed, "model": state_of(self.model), "steps": self._steps.state()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Goes on where another one was; a brain of another seed keeps its own random numbers."""
        put_state(self.model, state["model"], streams=state["seed"] == self._seed)
        self._steps.put(state["steps"])

    def memory(self) -> bytes:
        """The parameters of the policy."""
        return b"".join(value.detach().numpy().tobytes() for value in self.model.policy.state_dict().values())


def _levelled(action_space: Any, levels: int) -> Any:
    """The space of actions as the algorithm sees it."""
    from gymnasium import spaces

    if not levels:
        return action_space
    if levels == 1 or not isinstance(action_space, spaces.Box):
        raise ValueError("levels are for effectors, and there are at least two of them")
    return spaces.MultiDiscrete([levels] * int(action_space.shape[0]))


def _spaces_alone(observation_space: Any, action_space: Any) -> Any:
    """An environment that tells its spaces and is never stepped: the run loop is in its place."""
    import gymnasium

    env: Any = gymnasium.Env()
    env.observation_space, env.action_space = observation_space, action_space
    return env


def make_brain(algorithm: type[Any], policy: str, settings: dict[str, Any]) -> type[SB3Brain]:
    """The brain class of an algorithm; the same class again for an algorithm as it comes."""
    from stable_baselines3.common.base_class import BaseAlgorithm

    if not isinstance(algorithm, type) or not issubclass(algorithm, BaseAlgorithm):
        raise UsageError(f"{algorithm!r} is no algorithm of stable-baselines3: give a class like PPO.")
    if policy == SB3Brain.policy and not settings:
        return _as_it_comes(algorithm)
    return _made(algorithm, policy, settings)


@cache
def _as_it_comes(algorithm: type[Any]) -> type[SB3Brain]:
    made = _made(algorithm, SB3Brain.policy, {})
    made.__module__ = "nematodebench.adapters"
    return made


def _made(algorithm: type[Any], policy: str, settings: dict[str, Any]) -> type[SB3Brain]:
    config, kept = config_for(algorithm, settings)
    described = {"algorithm": algorithm, "policy": policy, "config": config, "settings": kept}
    return type(
        algorithm.__name__, (SB3Brain,), {"__doc__": f"{algorithm.__name__} of stable-baselines3.", **described}
    )
