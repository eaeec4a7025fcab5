"""A killed session resumes and ends as if it had never been killed."""

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

RUNS, EPISODES, SEED = 30, 60, 77


def _session(root: Path, *more: str) -> subprocess.Popen[str]:
    line = [sys.executable, "-m", "nematodebench", "run", *more, "--output", str(root), "--json"]
    return subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def _start(root: Path) -> subprocess.Popen[str]:
    numbers = ["--runs", str(RUNS), "--episodes", str(EPISODES), "--seed", str(SEED)]
    return _session(root, "foraging_small-v1", "mlp_ppo", *numbers, "--track")


def _content(folder: Path) -> tuple[dict, bytes, bytes]:
    record = json.loads((folder / f"{folder.name}.json").read_text())
    record.pop("timing")
    assert record.pop("experiment_id") == folder.name
    (config,) = folder.glob("*.yml")
    return record, (folder / "episodes.parquet").read_bytes(), config.read_bytes()


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict, bytes, bytes]:
    root = tmp_path_factory.mktemp("unbroken")
    process = _start(root)
    _, errors = process.communicate()
    assert process.returncode == 0, errors
    (folder,) = root.iterdir()
    return _content(folder)


def _kill_and_resume(root: Path, kills: int, rng: random.Random) -> tuple[Path, list[int]]:
    """Kills the session again and again; returns its folder and how many runs were kept each time."""
    kept = []
    process = _start(root)
    folder = None
    for _ in range(kills):
        _wait_for_another_run(root, process, kept[-1] if kept else -1)
        time.sleep(rng.uniform(0.0, 0.15))
        process.kill()
        _, errors = process.communicate()
        assert process.returncode in {-signal.SIGKILL, 0}, errors
        (folder,) = root.iterdir()
        kept.append(len(list(folder.glob("runs/*.npz"))))
        if (folder / f"{folder.name}.json").exists():
            break
        process = _session(root, "--resume", folder.name)
    if folder is not None and not (folder / f"{folder.name}.json").exists():
        _, errors = process.communicate()
        assert process.returncode == 0, errors
    else:
        process.kill()
        process.wait()
    (folder,) = root.iterdir()
    return folder, kept


def _wait_for_another_run(root: Path, process: subprocess.Popen[str], before: int) -> None:
    deadline = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < deadline:
        if len(list(root.glob("*/runs/*.npz"))) > max(0, before):
            return
        time.sleep(0.002)


@pytest.mark.slow
def test_killed_three_times_and_resumed(tmp_path, unbroken):
    folder, kept = _kill_and_resume(tmp_path, 3, random.Random(1))
    assert _content(folder) == unbroken
    assert kept == sorted(kept)
    assert kept[0] > 0
    assert not list(folder.glob("runs")) and not (folder / "session.json").exists()


@pytest.mark.slow
def test_killed_twenty_times_and_resumed(tmp_path, unbroken):
    rng = random.Random(2)
    killed = 0
    for attempt in range(20):
        folder, kept = _kill_and_resume(tmp_path / str(attempt), 20 - killed, rng)
        assert _content(folder) == unbroken
        killed += len(kept)
        if killed >= 20:
            break
    assert killed >= 20


@pytest.mark.parametrize("moment", ["before the record", "after the record"])
def test_killed_while_finishing(tmp_path, unbroken, moment):
    """The end of a session is a sequence of atomic writes; a kill between any two of them loses nothing."""
    script = f"""
import os, signal, sys
from nematodebench.records import store
original = store.atomic_write
def hooked(path, content):
    if path.name == path.parent.name + ".json" and {moment == "before the record"}:
        os.kill(os.getpid(), signal.SIGKILL)
    original(path, content)
    if path.name == path.parent.name + ".json":
        os.kill(os.getpid(), signal.SIGKILL)
store.atomic_write = hooked
sys.argv[1:] = ["run", "foraging_small-v1", "mlp_ppo", "--runs", "{RUNS}", "--episodes", "{EPISODES}",
                "--seed", "{SEED}", "--track", "--output", r"{tmp_path}"]
from nematodebench.cli import main
main()
"""
    assert (
        subprocess.run([sys.executable, "-c", script], check=False, capture_output=True).returncode == -signal.SIGKILL
    )
    (folder,) = tmp_path.iterdir()
    done = _session(tmp_path, "--resume", folder.name)
    _, errors = done.communicate()
    if moment == "before the record":
        assert done.returncode == 0, errors
    else:
        assert "is complete" in errors
    assert _content(folder) == unbroken


def test_ctrl_c_says_how_to_go_on(tmp_path):
    process = _start(tmp_path)
    _wait_for_another_run(tmp_path, process, 0)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    (folder,) = tmp_path.iterdir()
    assert process.returncode == 130
    assert errors.strip().endswith(f"nematodebench run --resume {folder.name} --output {tmp_path}")


def test_other_code_cannot_continue_a_session(tmp_path):
    process = _start(tmp_path)
    _wait_for_another_run(tmp_path, process, 0)
    process.kill()
    process.wait()
    (folder,) = tmp_path.iterdir()
    plan = json.loads((folder / "session.json").read_text())
    (folder / "session.json").write_text(json.dumps({**plan, "begun_with": {"source": "0" * 64}}))
    done = _session(tmp_path, "--resume", folder.name)
    _, errors = done.communicate()
    assert done.returncode == 2
    assert "the code of this package" in errors
