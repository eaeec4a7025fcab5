"""Hyperparameter search that cannot fool itself: what is found is judged on seeds the search never saw."""
