"""Brains that compute with simulated quantum circuits, and their classical twin."""
