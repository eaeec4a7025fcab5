"""The board: which submissions stand, in what order, and the tables that show them."""
