"""Figures: declarative specifications made from plain data, drawn as SVG or PNG, written as CSV or JSON."""
