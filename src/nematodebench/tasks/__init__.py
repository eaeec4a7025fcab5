"""Tasks: versioned, frozen uses of worlds, with their scores, gates and anchors; every file with ``TASKS`` is found."""
