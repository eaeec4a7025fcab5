"""Pages: the board as a static site, and reports of stored results. No page asks another machine for anything."""
