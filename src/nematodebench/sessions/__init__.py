"""Sessions: many seeded runs of one brain on one task, from the plan to the stored record and back."""
