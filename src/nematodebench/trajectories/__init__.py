"""What happened in a run, step by step: kept in files, shown again, exported for other libraries."""
