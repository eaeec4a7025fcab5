"""Brains, one file each, found by their names. A brain imports kernels and nothing else of ours."""
