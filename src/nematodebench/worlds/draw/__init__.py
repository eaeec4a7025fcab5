"""Pictures of worlds."""
