"""Brains, one file each, found by name. A brain imports kernels and nothing else of ours."""
