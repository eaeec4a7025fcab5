"""The genuine submission that the tests of submissions use is used here too."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "submissions"))

from gate_workshop import published, repo  # noqa: F401  # fixtures of the gate's tests
