"""What an algorithm of stable-baselines3 remembers between two steps, as plain data: checkpoints hold no pickles."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["put_state", "state_of"]

_COUNTERS = (
    "num_timesteps", "_n_updates", "_n_calls", "_episode_num", "_current_progress_remaining", "exploration_rate",
)  # fmt: skip
_PLACES = ("pos", "full", "generator_ready")


def state_of(model: Any) -> dict[str, Any]:
    """Networks with their optimisers, counters, the buffer as far as it is filled, and the stream of random actions."""
    _, variables = model._get_torch_save_params()
    stream = model.action_space._np_random
    return {
        "parameters": model.get_parameters(),
        "variables": {name: _held(model, name).detach().clone() for name in variables},
        "counters": {name: getattr(model, name) for name in _COUNTERS if hasattr(model, name)},
        "buffer": _buffer_state(_buffer(model)),
        "stream": None if stream is None else stream.bit_generator.state,
    }


def put_state(model: Any, state: dict[str, Any], *, streams: bool) -> None:
    """Makes a model of the same settings go on where the other one was; without ``streams`` with its own numbers."""
    model.set_parameters(state["parameters"], device="cpu")
    for name, value in state["variables"].items():
        _held(model, name).data.copy_(value)
    for name, value in state["counters"].items():
        setattr(model, name, value)
    buffer = _buffer(model)
    buffer.reset()
    for name, rows in state["buffer"]["arrays"].items():
        getattr(buffer, name)[: len(rows)] = rows
    for name, value in state["buffer"]["places"].items():
        setattr(buffer, name, value)
    if streams and state["stream"] is not None:
        model.action_space.np_random.bit_generator.state = state["stream"]


def _held(model: Any, path: str) -> Any:
    for name in path.split("."):
        model = getattr(model, name)
    return model


def _buffer(model: Any) -> Any:
    found = getattr(model, "rollout_buffer", None)
    return model.replay_buffer if found is None else found


def _buffer_state(buffer: Any) -> dict[str, Any]:
    filled = buffer.buffer_size if buffer.full else buffer.pos
    arrays: dict[str, NDArray[Any]] = {
        name: value[:filled].copy()
        for name, value in vars(buffer).items()
        if isinstance(value, np.ndarray) and value.shape[:1] == (buffer.buffer_size,)
    }
    return {"arrays": arrays, "places": {name: getattr(buffer, name) for name in _PLACES if hasattr(buffer, name)}}
