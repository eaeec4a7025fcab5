"""One body, a few effectors: balance, follow, hit, avoid, keep time."""
