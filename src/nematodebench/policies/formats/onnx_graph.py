"""Policies as ONNX files: one input with the observation; the first output decides. A graph is data, not code."""

from pathlib import Path
from typing import Any

import numpy as np

from nematodebench.errors import UsageError
from nematodebench.policies.base import Observation, Policy, Use
from nematodebench.policies.decisions import Network, NetworkPolicy

__all__ = ["read"]


class _Graph(Network):
    """A session of onnxruntime."""

    def __init__(self, path: Path, inputs: int) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1  # the same order of sums on every machine
        options.log_severity_level = 4
        try:
            self._session = onnxruntime.InferenceSession(
                str(path), sess_options=options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:
            raise UsageError(f"{path} cannot be read by onnxruntime: {str(error).splitlines()[0]}") from error
        taken = self._session.get_inputs()
        if len(taken) != 1:
            names = ", ".join(one.name for one in taken)
            raise UsageError(f"{path} has {len(taken)} inputs ({names}): a policy has one, the observation.")
        self._name, self._input, self._output = str(path), taken[0], self._session.get_outputs()[0].name
        self._shape = self._shape_for(inputs)
        self._kind = np.float32 if self._input.type == "tensor(float)" else np.float64

    def _shape_for(self, inputs: int) -> tuple[int, ...]:
        """The shape in which the graph takes so many numbers; a size of any value counts as 1."""
        sizes = [size if isinstance(size, int) and size > 0 else None for size in self._input.shape]
        fixed = int(np.prod([size for size in sizes if size is not None], dtype=np.int64))
        if sizes and sizes[-1] is None:
            sizes[-1], fixed = inputs, fixed * inputs
        if self._input.type not in {"tensor(float)", "tensor(double)"}:
            raise UsageError(
                f"{self._name} takes {self._input.type}: an observation is tensor(float) or tensor(double)."
            )
        if fixed != inputs or not sizes:
            shown = "x".join(str(size) for size in self._input.shape)
            raise UsageError(
                f"{self._name} takes {shown} numbers ({self._input.type}), and this body has {inputs} sensors: it was "
                "made for another task."
            )
        return tuple(1 if size is None else size for size in sizes)

    def outputs(self, observation: Observation) -> Any:
        """What the first output is."""
        given = observation.astype(self._kind).reshape(self._shape)
        return self._session.run([self._output], {self._input.name: given})[0]


def read(path: Path, use: Use) -> Policy:
    """The policy of an ONNX file."""
    return NetworkPolicy(str(path), _Graph(path, use.body.inputs), use)
