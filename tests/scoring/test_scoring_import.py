"""Importing the scoring package stays cheap."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize("package", ["scoring", "stats"])
def test_importing_does_not_load_scipy(package):
    code = f"import nematodebench.{package}, sys; sys.exit('scipy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
