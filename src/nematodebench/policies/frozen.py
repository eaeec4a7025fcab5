"""A frozen policy as a brain: it acts, and its ``learn`` does nothing."""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from nematodebench.brains.base import BrainClass, BrainConfig
from nematodebench.engine.python_brain import seed_everything
from nematodebench.errors import UsageError
from nematodebench.policies.base import Body, Observation, Policy, Use
from nematodebench.policies.formats.functions import FunctionPolicy
from nematodebench.policies.reading import read_policy, source_hash

__all__ = ["FrozenConfig", "FrozenPolicy", "frozen_function"]


class FrozenConfig(BrainConfig):
    """What a policy is read from, and how it is used."""

    policy: str = Field(description="the policy's file, file.py:function or module:function")
    sha256: str = Field("", description="of the policy's file; a file that has changed since is refused")
    sample: bool = Field(False, description="draw actions from the policy's probabilities; else the most probable one")
    dt: float = Field(1e-4, gt=0, description="seconds that a step of a spiking network stands for")
    steps: int = Field(10, ge=1, description="steps of a spiking network for each tick of the world")


class FrozenPolicy:
    """A policy that was trained elsewhere. Its class is ``pretrained``: it is never ranked among learners."""

    kind: ClassVar[BrainClass] = "pretrained"
    config: ClassVar[type[BrainConfig]] = FrozenConfig

    def __init__(self, observation_space: Any, action_space: Any, config: Any, seed: int) -> None:
        self._sha256: str = config.sha256
        self._policy = self.read(config, Body.of(observation_space, action_space), seed)
        seed_everything(seed)  # also the library that came with the policy: torch has one thread and this seed

    @classmethod
    def read(cls, config: Any, body: Body, seed: int) -> Policy:
        """The policy that a config names."""
        if config.sha256 and source_hash(config.policy) not in {config.sha256, ""}:
            raise UsageError(f"{config.policy} has changed: it is not the file that was scored.")
        use = Use(body, sample=config.sample, seed=seed, dt=config.dt, steps=config.steps)
        return read_policy(config.policy, use)

    @classmethod
    def check_body(cls, observation_space: Any, action_space: Any, config: Any) -> None:
        """Reads the policy and asks it once: what does not fit is told before anything runs."""
        body = Body.of(observation_space, action_space)
        policy = cls.read(config, body, seed=0)
        policy.begin_episode()
        asked = np.clip(np.zeros(body.inputs, dtype=np.float32), observation_space.low, observation_space.high)
        try:
            body.check_action(policy.act(asked))
        except UsageError:
            raise
        except Exception as error:
            what = (str(error).splitlines() or [""])[-1].strip()
            raise UsageError(
                f"{getattr(config, 'policy', 'The policy')} cannot act on {body.inputs} sensors: "
                f"{type(error).__name__}: {what}"
            ) from error

    def begin_episode(self) -> None:
        """A new episode begins."""
        self._policy.begin_episode()

    def act(self, observation: Observation) -> Any:
        """Chooses an action."""
        return self._policy.act(observation)

    def learn(self, transition: Any) -> None:
        """Learning is off."""

    def memory(self) -> bytes:
        """What it remembers at the end is what it was read from."""
        return self._sha256.encode()


def frozen_function(function: Callable[[Observation], Any]) -> type[FrozenPolicy]:
    """The brain of a callable that no other process can import: it exists in this one."""

    class Given(FrozenPolicy):
        """A callable."""

        config = BrainConfig

        def __init__(self, observation_space: Any, action_space: Any, config: Any, seed: int) -> None:
            self._sha256 = ""
            self._policy = FunctionPolicy(function)

        @classmethod
        def read(cls, config: Any, body: Body, seed: int) -> Policy:
            """The callable itself."""
            return FunctionPolicy(function)

    Given.__module__ = str(getattr(function, "__module__", __name__))
    Given.__qualname__ = str(getattr(function, "__qualname__", type(function).__qualname__))
    return Given
