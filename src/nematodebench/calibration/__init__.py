"""Calibration measures what scores are compared with: chance, references and input-blind policies."""
