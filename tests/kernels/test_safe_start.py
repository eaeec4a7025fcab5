"""Only this user's own code is compiled and loaded."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from nematodebench.errors import UsageError
from nematodebench.kernels.safe_start import distrust, refuse_compiler_settings, use_own_cache


def test_a_folder_of_ones_own_is_trusted(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    folder.mkdir(mode=0o700)
    assert distrust(folder) is None


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777, 0o1777])
def test_a_folder_that_others_can_write_to_is_not_trusted(tmp_path: Path, mode: int) -> None:
    folder = tmp_path / "cache"
    folder.mkdir()
    folder.chmod(mode)
    assert distrust(folder) == f"other users may write to it (mode {mode:o})"


def test_a_folder_that_others_can_replace_is_not_trusted(tmp_path: Path) -> None:
    folder = tmp_path / "open" / "cache"
    folder.mkdir(mode=0o700, parents=True)
    folder.parent.chmod(0o777)
    assert "everybody may write to" in str(distrust(folder))


def test_a_folder_of_another_owner_is_not_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    assert "not to 12345" in str(distrust(tmp_path))


def test_where_the_cache_is_not_safe_another_one_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "cache"
    folder.mkdir()
    folder.chmod(0o777)
    monkeypatch.setenv("NEMATODEBENCH_CACHE_DIR", str(folder))
    with pytest.warns(RuntimeWarning, match="is not safe: other users may write to it"):
        use_own_cache()
    taken = Path(os.environ["NEMATODEBENCH_CACHE_DIR"])
    assert taken != folder
    assert distrust(taken) is None


def test_a_new_cache_is_closed_to_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "cache"
    monkeypatch.setenv("NEMATODEBENCH_CACHE_DIR", str(folder))
    before = os.umask(0)
    try:
        use_own_cache()
    finally:
        os.umask(before)
    assert folder.stat().st_mode & 0o777 == 0o700


def test_settings_of_the_compiler_are_refused(tmp_path: Path) -> None:
    refuse_compiler_settings(tmp_path)
    (tmp_path / ".numba_config.yaml").write_text("disable_jit: 1\n")
    with pytest.raises(UsageError, match="would change how code is compiled"):
        refuse_compiler_settings(tmp_path)


def test_the_command_does_not_start_in_a_folder_with_settings(tmp_path: Path) -> None:
    (tmp_path / ".numba_config.yaml").write_text("cache_locator_classes: evil\n")
    done = subprocess.run(
        [sys.executable, "-m", "nematodebench", "info"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert ".numba_config.yaml would change how code is compiled" in done.stderr
    assert "Traceback" not in done.stderr
