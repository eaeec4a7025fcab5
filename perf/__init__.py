"""Benchmarks: every file prints our figure and a peer's from the same run as a ratio. ``python -m perf [NAME...]``."""
