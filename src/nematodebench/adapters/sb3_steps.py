"""The training of stable-baselines3 with the steps of our run loop in the place of an environment's.

Each class does, step by step, what the algorithm's own ``learn`` does around an environment: the buffers, the updates
and the random numbers are the algorithm's, so that the parameters come out the same bit for bit.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["OffPolicySteps", "OnPolicySteps"]


class OnPolicySteps:
    """PPO and A2C: fills a rollout, then trains on it."""

    def __init__(self, model: Any) -> None:
        import torch

        self._torch, self._model = torch, model
        self._starts = np.ones(1, dtype=bool)
        self._seen: Any = None

    def act(self, observation: NDArray[np.float32]) -> Any:
        """Draws an action and keeps what the rollout needs of it."""
        model = self._model
        model.policy.set_training_mode(False)
        with self._torch.no_grad():
            actions, values, logs = model.policy(self._torch.from_numpy(observation[None]))
        self._seen = observation[None], actions.numpy(), values, logs
        return actions.numpy()[0]

    def learn(self, step: Any) -> None:
        """Keeps the step, and trains when the rollout is full."""
        model, (observation, actions, values, logs) = self._model, self._seen
        ended = np.array([step.terminated or step.truncated])
        reward = np.array([step.reward], dtype=np.float32)
        model.num_timesteps += 1
        if step.truncated and not step.terminated:  # the episode was cut off: what was to be expected is added
            reward += model.gamma * self._value(step.next_observation).numpy()[0]
        model.rollout_buffer.add(observation, actions.reshape(1, -1), reward, self._starts, values, logs)
        self._starts = ended
        if model.rollout_buffer.full:
            model.rollout_buffer.compute_returns_and_advantage(self._value(step.next_observation), ended)
            model._update_current_progress_remaining(model.num_timesteps, model._total_timesteps)
            model.train()
            model.rollout_buffer.reset()

    def state(self) -> dict[str, Any]:
        """What it keeps between two steps."""
        return {"began": bool(self._starts[0])}

    def put(self, state: dict[str, Any]) -> None:
        """Goes on from there."""
        self._starts = np.array([state["began"]])

    def _value(self, observation: NDArray[np.float32]) -> Any:
        with self._torch.no_grad():
            return self._model.policy.predict_values(self._torch.from_numpy(observation[None]))


class OffPolicySteps:
    """DQN, SAC, TD3 and DDPG: every step goes into the replay buffer, and some steps are followed by training."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self._stored: Any = None
        self._steps = self._episodes = 0

    def act(self, observation: NDArray[np.float32]) -> Any:
        """Explores as the algorithm does: at random in the beginning, then by its own rule."""
        model = self._model
        model.policy.set_training_mode(False)
        model._last_obs = observation[None]
        action, self._stored = model._sample_action(model.learning_starts, model.action_noise, 1)
        return action[0]

    def learn(self, step: Any) -> None:
        """Keeps the step, and trains as often as the algorithm's ``train_freq`` says."""
        model, ended = self._model, step.terminated or step.truncated
        model.num_timesteps += 1
        following, told = step.next_observation[None], {"TimeLimit.truncated": step.truncated and not step.terminated}
        reward = np.array([step.reward], dtype=np.float32)
        model._store_transition(model.replay_buffer, self._stored, following, reward, np.array([ended]), [told])
        model._update_current_progress_remaining(model.num_timesteps, model._total_timesteps)
        model._on_step()
        self._steps += 1
        self._episodes += ended
        if ended and model.action_noise is not None:
            model.action_noise.reset()
        if self._due():
            if model.num_timesteps > model.learning_starts:
                updates = model.gradient_steps if model.gradient_steps >= 0 else self._steps
                if updates > 0:
                    model.train(batch_size=model.batch_size, gradient_steps=updates)
            self._steps = self._episodes = 0

    def state(self) -> dict[str, Any]:
        """What it keeps between two steps."""
        return {"steps": self._steps, "episodes": int(self._episodes)}

    def put(self, state: dict[str, Any]) -> None:
        """Goes on from there."""
        self._steps, self._episodes = state["steps"], state["episodes"]

    def _due(self) -> bool:
        often = self._model.train_freq
        return bool((self._steps if often.unit.value == "step" else self._episodes) >= often.frequency)
