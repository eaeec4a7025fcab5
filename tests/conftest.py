"""Shared by all tests: the folder of helper modules is importable, also in worker processes."""

import os
import sys
from pathlib import Path

from hypothesis import HealthCheck, settings

pytest_plugins = ["chromium"]

_FOLDERS = (".", "browser", "callbacks", "drawing", "engine", "policies", "submissions", "worlds")
_HELPERS = [str(Path(__file__).parent / name) for name in _FOLDERS]
sys.path[:0] = _HELPERS
sys.path.append(str(Path(__file__).resolve().parents[1]))  # for perf/
os.environ["PYTHONPATH"] = os.pathsep.join([*_HELPERS, os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)

# pytest imports readline, which tells all processes that the terminal has 80 columns: tables would be cut there.
for _name in ("COLUMNS", "LINES"):
    os.environ.pop(_name, None)
    os.unsetenv(_name)

# Windows are opened where nobody sees them.
os.environ.setdefault("SDL_VIDEODRIVER", "dummy")

# A busy machine is not a failure: no test is judged by its time.
settings.register_profile("steady", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("steady")
