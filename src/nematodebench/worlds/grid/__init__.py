"""Agents that move from cell to cell."""
