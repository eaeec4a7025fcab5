"""What is stored: schemas, the experiment store, provenance."""
