"""Puts the lock file into a wheel, and compiled kernels: those in the folder that ``NEMATODEBENCH_COMPILED`` names.

Without the variable the wheel is the same for every platform. With it the wheel is for this platform and this version
of Python, and whoever installs it with the same versions of Numba, llvmlite and NumPy compiles nothing at first.
"""

import os
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompiledKernels(BuildHookInterface[Any]):
    """The hook; Hatch calls it before it builds."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Adds the lock file, whose hash every record has, and the compiled kernels; names the platform."""
        if version == "standard":
            build_data["force_include"][str(Path(self.root) / "requirements.lock")] = "nematodebench/requirements.lock"
        folder = os.environ.get("NEMATODEBENCH_COMPILED")
        if not folder or version != "standard":
            return
        if not any(Path(folder).rglob("*.nbc")):
            raise RuntimeError(f"{folder} holds no compiled kernels: run scripts/compile_kernels.py first.")
        python = f"cp{sys.version_info.major}{sys.version_info.minor}"
        system = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["force_include"][str(Path(folder).resolve())] = "nematodebench/compiled"
        build_data["pure_python"] = False
        build_data["tag"] = f"{python}-{python}-{system}"
