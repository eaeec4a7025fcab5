"""One file a command, found by itself."""
