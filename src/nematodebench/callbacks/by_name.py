"""The ready callbacks by what the option ``--log`` calls them: ``csv:PATH``, ``tensorboard:DIR``, ..."""

from collections.abc import Callable, Sequence

from nematodebench.callbacks.base import Callback
from nematodebench.callbacks.csv_log import CsvLog
from nematodebench.callbacks.mlflow_log import MLflowLog
from nematodebench.callbacks.tensorboard_log import TensorBoardLog
from nematodebench.callbacks.wandb_log import WandbLog
from nematodebench.errors import UsageError, near_names

__all__ = ["logs_of"]

_LOGS: dict[str, tuple[str, Callable[[str], Callback]]] = {
    "csv": ("PATH", CsvLog),
    "tensorboard": ("DIR", TensorBoardLog),
    "wandb": ("PROJECT", WandbLog),
    "mlflow": ("EXPERIMENT", MLflowLog),
}


def logs_of(texts: Sequence[str]) -> list[Callback]:
    """A callback for each text, or an error that says how it is written."""
    return [_log_of(text) for text in texts]


def _log_of(text: str) -> Callback:
    kind, _, where = text.partition(":")
    forms = ", ".join(f"{name}:{what}" for name, (what, _) in _LOGS.items())
    if kind not in _LOGS:
        hint = near_names(kind, _LOGS) or (f"Did you mean csv:{text}?" if text.endswith(".csv") else "")
        raise UsageError(f"--log {text}: there is no log {kind!r}. {hint and hint + ' '}There are {forms}.")
    what, make = _LOGS[kind]
    if not where:
        raise UsageError(f"--log {kind}: say where it goes, {kind}:{what}.")
    return make(where)
