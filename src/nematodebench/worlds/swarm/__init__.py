"""Many agents at once on a periodic square."""
