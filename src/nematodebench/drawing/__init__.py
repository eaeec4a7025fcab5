"""Pictures of worlds: what a scene wrote, drawn."""
