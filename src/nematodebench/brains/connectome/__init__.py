"""Brains that are wired like the nervous system of C. elegans."""
