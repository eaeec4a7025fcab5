"""Many seeded runs of one brain on one task: planned, executed, stored, executed again."""
