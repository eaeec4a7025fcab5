"""Refuses networks that a population cannot train, before anything runs: one line says why, and what to do instead."""

from typing import Any

import torch

__all__ = ["check_network"]

_ROWS = 4
_ALONE = "Such a network goes into a Python class with its own training: examples/torch_class.py."


def check_network(what: str, module: Any, inputs: int, outputs: int) -> None:
    """Tries a network on a few rows of observations.

    Args:
        what: ``policy`` or ``value``: the method that built it.
        module: What was built.
        inputs: Numbers in an observation.
        outputs: Numbers that are wanted for each.

    Raises:
        ValueError: if it is no network, does not fit, or remembers or draws something from call to call.
    """
    if not isinstance(module, torch.nn.Module):
        raise ValueError(f"its {what} returned {type(module).__name__}: it has to return a torch.nn.Module")  # noqa: TRY004
    if not any(True for _ in module.parameters()):
        raise ValueError(f"its {what} has no parameters: there is nothing to train")
    rows = torch.linspace(-1.0, 1.0, _ROWS * inputs).reshape(_ROWS, inputs)
    with torch.no_grad():
        first, again = _answer(what, module, rows), _answer(what, module, rows)
        if first.shape != (_ROWS, outputs):
            raise ValueError(
                f"its {what} gives {list(first.shape)} for {_ROWS} observations: [{_ROWS}, {outputs}] is wanted"
            )
        if not torch.equal(first, again):
            raise ValueError(
                f"its {what} gives two answers for the same observations: it remembers or draws something, like GRU "
                f"and Dropout do. In a population outputs follow from the observation alone. {_ALONE}"
            )
        if not torch.allclose(first[:1], _answer(what, module, rows[:1]), rtol=1e-3, atol=1e-4):
            raise ValueError(
                f"its {what} gives an observation another answer beside others, like BatchNorm does. {_ALONE}"
            )


def _answer(what: str, module: torch.nn.Module, rows: torch.Tensor) -> torch.Tensor:
    """What it gives for rows of observations."""
    try:
        answer = module(rows)
    except Exception as error:
        why = (str(error).splitlines() or [""])[0]
        raise ValueError(
            f"its {what} fails on observations of the shape {list(rows.shape)}: {type(error).__name__}: {why}"
        ) from error
    if not isinstance(answer, torch.Tensor):
        raise ValueError(f"its {what} gives a {type(answer).__name__}: a tensor is wanted. {_ALONE}")  # noqa: TRY004
    return answer
