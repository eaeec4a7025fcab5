"""Results are printed whatever the output is, and what cannot be written is one line."""

import os
import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from nematodebench.cli import progress
from nematodebench.cli.progress import plain_notices, show_progress
from nematodebench.notices import tell
from nematodebench.sessions.execution import Progress

TASKS = [sys.executable, "-m", "nematodebench", "tasks"]


def listed(output=subprocess.PIPE, **environment):
    environment = {name: value for name, value in {**os.environ, **environment}.items() if value is not None}
    return subprocess.run(TASKS, stdout=output, stderr=subprocess.PIPE, text=True, check=False, env=environment)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("buffered", ["", "1"])
def test_a_full_device_is_one_line(buffered):
    with open("/dev/full", "w") as full:  # noqa: PTH123  (a device)
        done = listed(full, PYTHONUNBUFFERED=buffered)
    assert done.returncode == 1
    assert done.stderr == "nematodebench: The output cannot be written: No space left on device.\n"


def test_a_reader_that_goes_away_is_no_error():
    reading, writing = os.pipe()
    os.close(reading)
    done = listed(writing)
    os.close(writing)
    assert done.returncode != 0
    assert done.stderr == ""


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_streams_that_are_closed_are_no_error(closed, tmp_path):
    line = f"'{sys.executable}' -m nematodebench tasks {closed}"
    done = subprocess.run(line, shell=True, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert bool(done.stdout) == (" >&-" not in f" {closed}")


def test_output_that_knows_only_ascii():
    code = "from nematodebench.cli.streams import careful_streams\n"
    code += "with careful_streams():\n    print('0.8 \\xb1 0.1 \\u2192 \\u4e2d')"
    environment = {**os.environ, "LC_ALL": "C", "PYTHONIOENCODING": "ascii"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, env=environment)
    assert (done.returncode, done.stdout.split()) == (0, [b"0.8", b"+-", b"0.1", b"->", b"?"])


def test_a_user_without_a_home_and_without_a_cache():
    done = listed(HOME=None, XDG_CACHE_HOME=None, NEMATODEBENCH_CACHE_DIR=os.devnull)
    assert done.returncode == 0
    assert "foraging_small-v2" in done.stdout
    assert "Traceback" not in done.stderr


def test_what_is_compiled_is_told_without_a_terminal_too(capsys):
    with plain_notices(), show_progress(Progress(), "a session"):
        tell("compiling mlp_ppo.learn, 2 of 4")
    assert capsys.readouterr().err == "nematodebench: compiling mlp_ppo.learn, 2 of 4\n"


def test_a_warning_is_one_line_with_its_place_in_the_code_of_the_user(capsys):
    with plain_notices():
        warnings.simplefilter("always")
        warnings.warn("a division\n by \x1b[31m zero", stacklevel=1)
        warnings.warn_explicit("of the package", UserWarning, progress.__file__, 3)
    first, second = capsys.readouterr().err.splitlines()
    assert re.fullmatch(r"nematodebench: test_streams.py, line \d+: a division by \\x1b\[31m zero", first)
    assert second == "nematodebench: of the package"
