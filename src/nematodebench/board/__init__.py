"""The board: which submissions are on it, in what order, and the tables that show them."""
