"""Brains with an inner state that is carried from step to step and trained through time."""
