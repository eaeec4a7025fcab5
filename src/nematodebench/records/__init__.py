"""Stored results: their schemas, the experiment store, and where results come from."""
