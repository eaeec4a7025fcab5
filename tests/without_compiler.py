"""Runs a script where nothing is compiled."""

import json
import os
import subprocess
import sys


def interpreted_output(script):
    """What a script prints as JSON in a process that compiles nothing."""
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    # The random generator's products overflow on purpose, of which NumPy's numbers warn.
    command = [sys.executable, "-W", "ignore::RuntimeWarning", script]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
