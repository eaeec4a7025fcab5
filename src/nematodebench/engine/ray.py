"""Runs on a Ray cluster: one Ray task a parcel of runs. What a lost worker or node was at is executed again.

Every node needs the same software, because bits follow from it: each parcel comes back with what the node has, and a
node with something else is an error, not a result.
"""

import inspect
import logging
import os
import pickle
import sys
import time
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from nematodebench.engine.batch import Group
from nematodebench.engine.parcels import Parcel, Parcels, execute_parcel, runs_of
from nematodebench.engine.run import RunFailure, RunResult
from nematodebench.errors import UsageError
from nematodebench.records.provenance import software

__all__ = ["execute_on_ray"]

_RETRIES = 3
_AHEAD = 2
"""Parcels that are on their way for every processor, so that none waits for the next one."""
_TOKEN = "If it asks for a token, set RAY_AUTH_MODE=token and RAY_AUTH_TOKEN_PATH."


def _remote_parcel(folders: list[str], pickled: bytes) -> tuple[dict[str, str], list[RunResult], float]:
    """Executes a parcel on a node. What it is made of is found as it was where it comes from."""
    sys.path += [folder for folder in folders if folder not in sys.path]
    parcel: Parcel = pickle.loads(pickled)
    return _software_for(parcel[0][0].brain), *execute_parcel(parcel)


def _software_for(brain: Any) -> dict[str, str]:
    """What the bits of a run depend on beside its spec: versions, and the file of a brain from outside the package."""
    if brain.__module__ == "__main__" or brain.__module__.startswith("nematodebench."):
        return software()
    file = Path(inspect.getfile(brain))
    return software() | {file.name: sha256(file.read_bytes()).hexdigest()}


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
    except (ConnectionError, RuntimeError, ValueError) as error:
        if address:
            raise UsageError(f"No Ray cluster answers at {address} (from $RAY_ADDRESS). {_TOKEN}") from error
        ray.init(address="local", include_dashboard=False, **quiet)
    return ray


class _Cluster:
    """The parcels that are on their way to the nodes, and how many more these can take."""

    def __init__(self, ray: Any, groups: Sequence[Group]) -> None:
        self._ray, self.waiting = ray, Parcels(groups)
        self.pending: dict[Any, Parcel] = {}
        self._task = ray.remote(num_cpus=1)(_remote_parcel)
        self._here = _software_for(groups[0][0].brain)
        self._processors, self._counted = 1, 0.0

    def processors(self) -> int:
        """Those of all nodes. Nodes come and go, so they are counted again every second."""
        if time.monotonic() - self._counted > 1.0:
            self._processors = max(1, int(self._ray.cluster_resources().get("CPU", 1)))
            self._counted = time.monotonic()
        return self._processors

    def send(self) -> None:
        """Sends parcels until every processor has enough."""
        processors = self.processors()
        while self.waiting and len(self.pending) < _AHEAD * processors:
            parcel = self.waiting.take(processors)
            # Ray retries a single run; the runs of a lost parcel are sent again one by one.
            task = self._task.options(max_retries=_RETRIES if len(runs_of(parcel)) == 1 else 0)
            self.pending[task.remote(list(sys.path), self._ray.cloudpickle.dumps(parcel))] = parcel

    def receive(self) -> list[RunResult]:
        """The results of the next parcel that comes back; none if its runs have to be sent again."""
        done, _ = self._ray.wait(list(self.pending), num_returns=1)
        parcel = self.pending.pop(done[0])
        try:
            there, results, seconds = self._ray.get(done[0])
        except self._ray.exceptions.RayTaskError as error:
            raise _told(error.cause) from error
        except self._ray.exceptions.RayError as error:
            return self._lost(parcel, error)
        self._compare(there)
        self.waiting.took(parcel, seconds)
        return results  # type: ignore[no-any-return]

    def _lost(self, parcel: Parcel, error: Exception) -> list[RunResult]:
        runs = runs_of(parcel)
        if len(runs) > 1:
            self.waiting.lost(runs)
            return []
        failure = RunFailure(f"lost on the cluster {_RETRIES + 1} times: {str(error).strip().splitlines()[0]}")
        return [RunResult(spec.index, spec.seed, failure=failure) for spec in runs]

    def _compare(self, there: dict[str, str]) -> None:
        different = [name for name, value in self._here.items() if there.get(name) != value]
        if different:
            name = different[0]
            raise UsageError(
                f"A node of the cluster has another {name}: {there.get(name, 'none')} there, {self._here[name]} here. "
                "Bits follow from the software, so that all nodes need the same (docs/cluster.md)."
            )


def _told(cause: Exception) -> Exception:
    """What a user is told of an error on a node that no run is to blame for."""
    if isinstance(cause, ModuleNotFoundError | FileNotFoundError | AttributeError):
        return UsageError(
            f"A node of the cluster cannot import the brain: {cause}. Install it on every node, or keep its file there "
            "in the same folder as here (docs/cluster.md)."
        )
    return cause


def execute_on_ray(groups: Sequence[Group]) -> Iterator[RunResult]:
    """Executes runs on the cluster and yields results as they end; nobody's interest in the rest cancels it."""
    ray = _connect()
    cluster = _Cluster(ray, groups)
    try:
        while cluster.waiting or cluster.pending:
            cluster.send()
            yield from cluster.receive()
    finally:
        for reference in cluster.pending:
            ray.cancel(reference, force=True)
