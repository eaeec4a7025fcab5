"""Continual learning: one brain goes through several environments and is scored for what it learns and keeps."""
