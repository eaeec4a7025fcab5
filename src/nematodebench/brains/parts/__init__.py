"""Parts that several brains are made of."""
