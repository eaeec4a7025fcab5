"""Policies as TorchScript files: a module from ``[1, inputs]`` to outputs. A file holds code, which torch executes."""

import warnings
from pathlib import Path
from typing import Any

from nematodebench.errors import UsageError
from nematodebench.policies.base import Observation, Policy, Use
from nematodebench.policies.decisions import Network, NetworkPolicy

__all__ = ["read"]


class _Module(Network):
    """A module of TorchScript."""

    def __init__(self, path: Path) -> None:
        import torch

        self._torch, self._name = torch, str(path)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that newer formats exist says nothing about this file
                self._module: Any = torch.jit.load(str(path), map_location="cpu")
        except (RuntimeError, ValueError) as error:
            raise UsageError(
                f"{path} is no TorchScript file. Save a module with torch.jit.script(module).save({path.name!r})."
            ) from error
        self._module.eval()

    def outputs(self, observation: Observation) -> Any:
        """What the module gives; of several results the first."""
        with self._torch.no_grad():
            found = self._module(self._torch.from_numpy(observation[None]))
        first = found[0] if isinstance(found, tuple | list) else found
        return first.numpy()


def read(path: Path, use: Use) -> Policy:
    """The policy of a TorchScript file."""
    return NetworkPolicy(str(path), _Module(path), use)
