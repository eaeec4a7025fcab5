"""Compiled primitives: signatures, random numbers, math functions, matrix tiles, optimiser. Imports nothing of ours."""
