"""One brain through several environments: scores, transfer, forgetting."""
