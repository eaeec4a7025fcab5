"""The worm's worlds: its body, its food, its senses, and the places it is put in."""
