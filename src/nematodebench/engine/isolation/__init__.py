"""Brains that cannot reach their score: the world and the records are in one process, the brain is in another."""
