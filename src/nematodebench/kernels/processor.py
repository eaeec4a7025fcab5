"""The processor: the level that code is generated for, and the cores there are. Imports no compiler."""

import os
import platform

__all__ = ["cpu_level", "usable_cores"]

_V3_FEATURES = ("avx2", "fma", "bmi2", "f16c", "lzcnt", "movbe")


def cpu_level() -> str:
    """The CPU level code is generated for; the host's own name where it is not an x86-64 one."""
    import llvmlite.binding as llvm

    if platform.machine().lower() not in {"x86_64", "amd64"}:
        return str(llvm.get_host_cpu_name())
    host = llvm.get_host_cpu_features()
    return "x86-64-v3" if all(host.get(feature, False) for feature in _V3_FEATURES) else "x86-64"


def usable_cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
