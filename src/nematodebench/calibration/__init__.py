"""Measures what scores are compared with: chance, references, blind policies."""
