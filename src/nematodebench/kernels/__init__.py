"""Compiled primitives: signatures, random numbers, math functions, matrix tiles, optimiser. Imports nothing of ours."""

from pathlib import Path

from nematodebench.kernels.safe_start import refuse_compiler_settings, use_own_cache

__all__: list[str] = []

refuse_compiler_settings(Path.cwd())
use_own_cache()
