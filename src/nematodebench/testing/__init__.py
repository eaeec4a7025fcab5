"""The contracts of worlds and brains as test suites (for pytest): subclass one for your own.

from nematodebench.testing import BrainSuite

class TestMyBrain(BrainSuite):
    brain = MyBrain
    config = {"hidden": 16}
"""

import pytest

# Before they are imported: failures then show the values that were compared.
pytest.register_assert_rewrite("nematodebench.testing.worlds", "nematodebench.testing.brains")

from nematodebench.testing.brains import BrainSuite  # noqa: E402
from nematodebench.testing.worlds import WorldSuite  # noqa: E402

__all__ = ["BrainSuite", "WorldSuite"]
