"""Callbacks: who is told what happens in a session while it runs, and ready ones that write it down elsewhere."""

from nematodebench.callbacks.base import Callback, Episode, RunEnd, RunStart, SessionStart, Step
from nematodebench.callbacks.csv_log import CsvLog
from nematodebench.callbacks.mlflow_log import MLflowLog
from nematodebench.callbacks.tensorboard_log import TensorBoardLog
from nematodebench.callbacks.wandb_log import WandbLog
from nematodebench.errors import CallbackError

__all__ = [
    "Callback", "CallbackError", "CsvLog", "Episode", "MLflowLog", "RunEnd", "RunStart", "SessionStart", "Step",
    "TensorBoardLog", "WandbLog",
]  # fmt: skip
