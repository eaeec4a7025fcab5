"""Commands: every file here is one, and is found by itself."""
