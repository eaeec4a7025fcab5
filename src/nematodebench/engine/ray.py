"""Runs on a Ray cluster: one Ray task a run, or a batch. Ray executes again what a lost worker was at."""

import logging
import os
from collections.abc import Iterator, Sequence
from typing import Any

from nematodebench.engine.batch import Group, execute_batch
from nematodebench.engine.run import RunFailure, RunResult, compile_for
from nematodebench.errors import UsageError

__all__ = ["execute_on_ray"]

_RETRIES = 3


def _remote_runs(group: Group) -> list[RunResult]:
    compile_for(group[0].task, group[0].brain)
    return list(execute_batch(group))


def _connect() -> Any:
    """The ``ray`` module, connected: to ``$RAY_ADDRESS`` or a running local cluster, else to one started here."""
    try:
        import ray
    except ImportError as error:
        raise UsageError("The ray executor needs Ray: pip install 'nematodebench[ray]'.") from error
    if ray.is_initialized():
        return ray
    address = os.environ.get("RAY_ADDRESS")
    quiet = {"log_to_driver": False, "logging_level": logging.ERROR}
    try:
        ray.init(address=address or "auto", **quiet)
    except ConnectionError as error:
        if address:
            hint = "If it asks for a token, set RAY_AUTH_MODE=token and RAY_AUTH_TOKEN_PATH."
            raise UsageError(f"No Ray cluster answers at {address} (from $RAY_ADDRESS). {hint}") from error
        ray.init(address="local", include_dashboard=False, **quiet)
    return ray


def execute_on_ray(groups: Sequence[Group]) -> Iterator[RunResult]:
    """Executes runs on the cluster and yields results as they end; nobody's interest in the rest cancels it."""
    ray = _connect()
    remote = ray.remote(num_cpus=1, max_retries=_RETRIES)(_remote_runs)
    pending = {remote.remote(group): group for group in groups}
    try:
        while pending:
            done, _ = ray.wait(list(pending), num_returns=1)
            group = pending.pop(done[0])
            try:
                yield from ray.get(done[0])
            except ray.exceptions.RayError as error:
                lost = RunFailure(f"lost on the cluster: {error}")
                yield from (RunResult(spec.index, spec.seed, failure=lost) for spec in group)
    finally:
        for reference in pending:
            ray.cancel(reference, force=True)
