"""Figures: each one is a declarative specification made from plain data, drawn as SVG or PNG, or written as CSV, JSON."""
