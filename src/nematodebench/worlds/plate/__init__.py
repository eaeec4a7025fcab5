"""Plates: a worm that crawls in continuous space, with noisy senses, through fields of smell, oxygen and warmth."""
