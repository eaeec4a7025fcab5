"""The sandbox of an untrusted brain: bubblewrap without network, with nothing to write to and nothing to find.

The child sees Python, the libraries and the brain's own files, read-only; a temporary folder of its own that vanishes
with it; no environment but the variables by which libraries choose their code; no network, no other process. Limits on
memory, processor time, files and processes hold from its first instruction.
"""

import os
import shutil
import site
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nematodebench.errors import UsageError

__all__ = [
    "COMPILED",
    "PREPARED",
    "STAGE",
    "TEMPORARY",
    "Limits",
    "below_temporary",
    "command",
    "has_sandbox",
    "plain_environment",
    "require_sandbox",
]

PREPARED = "/prepared.tar"
"""Where a brain finds the code that an earlier process of it compiled before there was any run."""
TEMPORARY, STAGE = Path("/tmp"), Path("/stage")
"""Where a brain may write, and where that folder is made before a run sees it."""
COMPILED = "/tmp/cache"
"""Where a brain's process keeps compiled code."""
_PRLIMIT = "/usr/bin/prlimit"
_PROCESSOR = "/proc/cpuinfo"
"""All that there is of ``/proc``: libraries choose code by it. Everything else counts what the whole machine does,
and one run could do something there for another to see. Also what the system tells of a process itself is numbered by a
counter of the machine, and whoever asks for it often moves that counter on."""
_SYSTEM = ("/usr", "/lib", "/lib64", "/bin", "/sbin", "/etc/ld.so.cache", "/etc/alternatives")


@dataclass(frozen=True)
class Limits:
    """What an untrusted brain may use in one run."""

    memory: int = 4 << 30
    cpu_seconds: int = 3600
    file_bytes: int = 64 << 20
    open_files: int = 128


def _bubblewrap() -> str | None:
    found = shutil.which("bwrap", path="/usr/bin:/usr/local/bin:/bin")
    return found if sys.platform.startswith("linux") and Path(_PRLIMIT).is_file() else None


def has_sandbox() -> bool:
    """Whether untrusted code can run here."""
    return _bubblewrap() is not None


def require_sandbox() -> str:
    """The path of bubblewrap; an error that says what to do where there is none."""
    found = _bubblewrap()
    if found is None:
        raise UsageError(
            "Untrusted code runs only in a sandbox, and there is no bubblewrap here. Install it (Debian: bubblewrap), "
            "or say --trust-code if you know the code."
        )
    return found


_PACKAGES = Path(__file__).resolve().parents[3]
_ENVIRONMENT = {
    "HOME": "/tmp", "TMPDIR": "/tmp", "PYTHONSAFEPATH": "1", "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONPATH": str(_PACKAGES), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1",
    "NUMBA_NUM_THREADS": "1", "NEMATODEBENCH_SANDBOX": "1",
}  # fmt: skip

_CHOOSE_CODE = (
    "OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "NPY_DISABLE_CPU_FEATURES", "NPY_ENABLE_CPU_FEATURES", "MKL_CBWR",
    "MKL_ENABLE_INSTRUCTIONS", "ATEN_CPU_CAPABILITY", "ONEDNN_MAX_CPU_ISA", "BLIS_ARCH_TYPE",
)  # fmt: skip
"""Variables by which numerical libraries choose their code for this processor, and with it the last bits of a sum."""


def _environment() -> dict[str, str]:
    """The brain's environment: ours, and of the host's what gives the same bits on both sides."""
    return _ENVIRONMENT | {name: os.environ[name] for name in _CHOOSE_CODE if name in os.environ}


def _needed() -> list[str]:
    """The folders Python and its libraries are in."""
    folders = [sys.prefix, sys.base_prefix, sys.exec_prefix, str(_PACKAGES), *site.getsitepackages()]
    return sorted({str(Path(folder).resolve()) for folder in folders} | set(folders))


def below_temporary(readable: Sequence[Path]) -> list[Path]:
    """What a brain has to see that lies where it may write; outer folders come first."""
    every = {*map(str, readable), *_needed()}
    return sorted(path for path in map(Path, every) if TEMPORARY in path.parents and path.exists())


def command(inner: Sequence[str], readable: Sequence[Path], limits: Limits, prepared: Path | None = None) -> list[str]:
    """The command line that runs ``inner`` in the sandbox.

    It is a program of ours. It may still make name spaces, and gives that up before it lets a brain in.

    Args:
        inner: The command.
        readable: The brain's own files.
        limits: What it may use.
        prepared: An archive of compiled code, which the command finds at :data:`PREPARED`.
    """
    words = [_PRLIMIT, f"--as={limits.memory}", f"--cpu={limits.cpu_seconds}", f"--fsize={limits.file_bytes}"]
    # Signals that wait, and timers, are counted for all processes of a user: where none may, nobody reads the count.
    words += [f"--nofile={limits.open_files}", "--core=0", "--sigpending=0"]
    words += [require_sandbox(), "--unshare-all", "--as-pid-1", "--die-with-parent"]
    words += ["--clearenv", "--uid", "65534", "--gid", "65534", "--hostname", "brain"]
    words += ["--cap-drop", "ALL", "--cap-add", "CAP_SYS_ADMIN"]
    words += ["--tmpfs", "/", "--dev", "/dev", "--ro-bind", "/dev/null", "/dev/tty"]  # the user's terminal is not there
    words += ["--tmpfs", "/dev/pts", "--remount-ro", "/dev/pts"]  # nor new ones, by which runs could talk to each other
    words += ["--dir", str(STAGE), "--tmpfs", str(TEMPORARY)]
    words += ["--ro-bind", _PROCESSOR, _PROCESSOR]
    for place in _SYSTEM:
        if Path(place).is_symlink():
            words += ["--symlink", str(Path(place).readlink()), place]
        elif Path(place).exists():
            words += ["--ro-bind", place, place]
    for folder in _needed():
        words += ["--ro-bind-try", folder, folder]
    for path in readable:
        words += ["--ro-bind", str(path), str(path)]
    if prepared is not None:
        words += ["--ro-bind", str(prepared), PREPARED]
    words += ["--remount-ro", "/", "--remount-ro", "/dev"]
    words += ["--chdir", "/tmp"]
    for name, value in (*_environment().items(), ("NEMATODEBENCH_CACHE_DIR", COMPILED)):
        words += ["--setenv", name, value]
    return [*words, "--", *inner]


def plain_environment(cache: Path | None) -> dict[str, str]:
    """The environment of a brain that somebody trusts, and that runs in a process of its own without a sandbox."""
    compiled = {} if cache is None else {"NEMATODEBENCH_CACHE_DIR": str(cache)}
    return {**_environment(), **compiled, "PATH": "/usr/bin:/bin"}
