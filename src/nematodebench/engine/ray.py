"""Runs on a Ray cluster: one Ray task a run. A lost worker's run is executed again by Ray; results equal local ones."""

import logging
import os
from collections.abc import Iterator, Sequence
from typing import Any

from nematodebench.engine.run import RunFailure, RunResult, RunSpec, compile_for, execute
from nematodebench.errors import UsageError

__all__ = ["execute_on_ray"]

_RETRIES = 3


def _remote_run(spec: RunSpec) -> RunResult:
    compile_for(spec.task, spec.brain)
    return execute(spec)


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


def execute_on_ray(specs: Sequence[RunSpec]) -> Iterator[RunResult]:
    """Executes runs on the cluster and yields results as they end; nobody's interest in the rest cancels it."""
    ray = _connect()
    remote = ray.remote(num_cpus=1, max_retries=_RETRIES)(_remote_run)
    pending = {remote.remote(spec): spec for spec in specs}
    try:
        while pending:
            done, _ = ray.wait(list(pending), num_returns=1)
            spec = pending.pop(done[0])
            try:
                result = ray.get(done[0])
            except ray.exceptions.RayError as error:
                result = RunResult(spec.index, spec.seed, failure=RunFailure(f"lost on the cluster: {error}"))
            yield result
    finally:
        for reference in pending:
            ray.cancel(reference, force=True)
