"""Policies as stable-baselines3 zips, read without their pickles.

A zip describes its model in JSON with pickled objects beside the words. Only the words are read here: which kind of
policy it is, its layers, its spaces. The parameters are loaded as plain tensors. So no code of the zip is executed, and
a model that cannot be built from the words alone is refused.
"""

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from nematodebench.errors import UsageError
from nematodebench.policies.base import Body, Observation, Policy, Use

__all__ = ["read"]

_CLASSES = {
    "stable_baselines3.common.policies": "ActorCriticPolicy",
    "stable_baselines3.dqn.policies": "DQNPolicy",
    "stable_baselines3.sac.policies": "SACPolicy",
    "stable_baselines3.td3.policies": "TD3Policy",
}
"""The kind of policy, by the module that it comes from: PPO and A2C, DQN, SAC, TD3 and DDPG."""
_WORDS = {
    "net_arch",
    "activation_fn",
    "log_std_init",
    "full_std",
    "squash_output",
    "share_features_extractor",
    "n_critics",
}
"""Arguments of a policy that decide its layers and are plain words, or names of torch's own activations."""
_WITHOUT_EFFECT = {
    ":type:",
    ":serialized:",
    "optimizer_class",
    "optimizer_kwargs",
    "ortho_init",
    "use_sde",
    "normalize_images",
}
_ACTIVATION = "<class 'torch.nn.modules.activation."


class _ZipPolicy:
    """A policy of stable-baselines3."""

    def __init__(self, policy: Any, space: Any, use: Use) -> None:
        import torch

        self._torch, self._policy, self._space, self._greedy = torch, policy, space, not use.sample

    def begin_episode(self) -> None:
        """Nothing is remembered."""

    def act(self, observation: Observation) -> Any:
        """Chooses an action; effectors are moved from the range of the model's own space to [0, 1]."""
        with self._torch.no_grad():
            action = self._policy._predict(self._torch.from_numpy(observation[None]), deterministic=self._greedy)
        if hasattr(self._space, "n"):
            return int(action.item())
        values, low, high = action.numpy()[0], self._space.low, self._space.high
        share = (values + 1.0) / 2.0 if self._policy.squash_output else (values - low) / (high - low)
        return np.clip(share, 0.0, 1.0)


def read(path: Path, use: Use) -> Policy:
    """The policy of a zip of PPO, A2C, DQN, SAC, TD3 or DDPG with layers of neurons (MlpPolicy)."""
    import stable_baselines3  # noqa: F401  (the library that is named where it is not installed)
    import torch

    try:
        with zipfile.ZipFile(path) as archive, archive.open("policy.pth") as parameters:
            words = json.loads(archive.read("data"))
            state = torch.load(parameters, map_location="cpu", weights_only=True)
    except Exception as error:
        raise UsageError(
            f"{path} is no zip that a model of stable-baselines3 has saved: {_first_line(error)}."
        ) from error
    observations, actions = _spaces(path, words, use.body)
    policy = _kind(path, words)(observations, actions, lambda _: 0.0, **_arguments(path, words))
    try:
        policy.load_state_dict(state)
    except RuntimeError as error:
        raise UsageError(f"{path} has parameters that do not fit its description: it is not an MlpPolicy.") from error
    policy.set_training_mode(False)
    return _ZipPolicy(policy, actions, use)


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")


def _kind(path: Path, words: dict[str, Any]) -> Any:
    import importlib

    module = words.get("policy_class", {}).get("__module__", "")
    if words.get("use_sde") or module not in _CLASSES:
        what = "state-dependent exploration" if words.get("use_sde") else f"a policy of {module or 'an unknown module'}"
        raise UsageError(f"{path} has {what}, which is not read from zips. Export it as ONNX.")
    return getattr(importlib.import_module(module), _CLASSES[module])


def _arguments(path: Path, words: dict[str, Any]) -> dict[str, Any]:
    """The arguments of the policy, from words alone."""
    import torch

    given = words.get("policy_kwargs") or {}
    unknown = [name for name in given if name not in _WORDS | _WITHOUT_EFFECT]
    if unknown:
        raise UsageError(f"{path} was made with policy_kwargs {unknown[0]!r}, which is code. Export it as ONNX.")
    found = {name: value for name, value in given.items() if name in _WORDS}
    activation = str(found.get("activation_fn", ""))
    if activation:
        name = activation.removeprefix(_ACTIVATION).removesuffix("'>")
        if not activation.startswith(_ACTIVATION) or not hasattr(torch.nn, name):
            raise UsageError(f"{path} has the activation {activation}, which is code. Export it as ONNX.")
        found["activation_fn"] = getattr(torch.nn, name)
    return found


def _spaces(path: Path, words: dict[str, Any], body: Body) -> tuple[Any, Any]:
    """The model's own spaces, where they have the sizes of the body."""
    from gymnasium import spaces

    seen, moved = words.get("observation_space", {}), words.get("action_space", {})
    inputs = tuple(seen.get("_shape") or ())
    for space, known in ((seen, {"Box"}), (moved, {"Box", "Discrete"})):
        kind = str(space.get(":type:", "")).rpartition(".")[2].removesuffix("'>")
        if kind not in known:
            raise UsageError(f"{path} was trained with a space of the kind {kind}, and a body here has none.")
    discrete = "n" in moved
    outputs = int(moved["n"]) if discrete else int(np.prod(moved.get("_shape") or (0,)))
    if inputs != (body.inputs,) or discrete != bool(body.choices) or outputs != body.outputs:
        kind = "actions" if discrete else "effectors"
        raise UsageError(
            f"{path} was trained with {'x'.join(map(str, inputs)) or 'no'} sensors and {outputs} {kind}, and this body "
            f"has {body.inputs} sensors and {body.meaning}: it was made for another task."
        )
    observations = spaces.Box(-np.inf, np.inf, inputs, np.float32)  # its bounds decide nothing
    if discrete:
        return observations, spaces.Discrete(outputs)
    low, high = (_numbers(path, moved.get(side)) for side in ("low", "high"))
    return observations, spaces.Box(low, high, dtype=np.float32)


def _numbers(path: Path, text: Any) -> Any:
    try:
        found = np.array([float(word) for word in str(text).strip("[]").split()], dtype=np.float32)
    except ValueError:
        found = np.zeros(0, dtype=np.float32)
    if not found.size or not np.isfinite(found).all():
        raise UsageError(
            f"{path} has effectors without bounds, so nobody knows what to make of them. Export it as ONNX."
        )
    return found
