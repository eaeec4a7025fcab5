"""Learners of reinforcement learning: tables, networks, torch."""
