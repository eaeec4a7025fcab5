"""How tasks are scored. One file for each kind of score holds everything that is particular to that kind."""
