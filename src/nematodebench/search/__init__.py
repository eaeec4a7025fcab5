"""Hyperparameter search: what it finds is judged on seeds that the search never used."""
