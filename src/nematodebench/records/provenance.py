"""Says where a result comes from: versions, machine, commit. It needs no network and tells nothing about the user."""

import hashlib
import importlib.metadata
import platform
from functools import cache
from pathlib import Path

from nematodebench.records.basic_schemas import Provenance
from nematodebench.records.commits import brain_commit, package_commit
from nematodebench.records.locked import follows_lock, lock_sha256

__all__ = ["collect_provenance", "package_version", "platform_class", "software", "source_hash"]


@cache
def _cpu_name() -> str:
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or "unknown"


def _package_version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def package_version() -> str:
    """The version of this package."""
    return _package_version("nematodebench") or "unknown"


@cache
def source_hash() -> str:
    """SHA-256 of the package's Python sources: tells two states of one version apart."""
    root = Path(__file__).resolve().parent.parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(str(path.relative_to(root)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def platform_class(machine: str) -> str:
    """The class of a machine. Machines of one class give the same bits."""
    return "x86-64" if machine.lower() in {"x86_64", "amd64"} else machine.lower()


@cache
def software() -> dict[str, str]:
    """What bits follow from beside a run's spec: versions by name, and the state of the package's sources."""
    names = ("nematodebench", "numpy", "numba", "llvmlite", "torch")
    versions = {name: _package_version(name) or "none" for name in names}
    machine = platform_class(platform.machine())
    return {**versions, "nematodebench source": source_hash(), "Python": platform.python_version(), "machine": machine}


def collect_provenance(code_generation: str, brain: Path | None = None) -> Provenance:
    """The state of code and machine, now.

    Args:
        code_generation: What the compiled core says of itself.
        brain: The file of a brain from outside the package.
    """
    commit, dirty = package_commit()
    own_commit, own_dirty = (None, None) if brain is None else brain_commit(brain)
    return Provenance(
        package_version=package_version(),
        source_hash=source_hash(),
        git_commit=commit,
        git_dirty=dirty,
        brain_commit=own_commit,
        brain_dirty=own_dirty,
        lock_sha256=lock_sha256(),
        lock_followed=follows_lock(),
        python=platform.python_version(),
        numpy=_package_version("numpy") or "unknown",
        numba=_package_version("numba") or "unknown",
        llvmlite=_package_version("llvmlite") or "unknown",
        torch=_package_version("torch"),
        platform=platform.platform(),
        machine=platform.machine(),
        cpu=_cpu_name(),
        code_generation=code_generation,
    )
