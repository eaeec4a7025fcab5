"""The worm's worlds: its body, its senses, and the places it lives in."""
