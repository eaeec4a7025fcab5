"""Runs: seeds, the loop, executors, progress, resume."""
