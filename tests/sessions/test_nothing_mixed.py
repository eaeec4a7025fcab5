"""A session goes on only with what it was begun with, alone, and believes no file it did not write."""

import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import nematodebench as nb
from nematodebench.errors import UsageError
from nematodebench.records.run_files import RunFiles
from nematodebench.records.store import ExperimentStore, load_experiment
from nematodebench.sessions import execution
from nematodebench.sessions.config import SessionConfig
from nematodebench.sessions.execution import Progress, resume, run_plan
from nematodebench.sessions.plan import make_plan

GIVEN = SessionConfig(task="foraging_small-v1", brain="gradient_follower", runs=4, episodes=5, seed=3)
BRAIN = """
import numpy as np
import helper_of_mine

class Mine:
    def __init__(self, observation_space, action_space, config, seed):
        self.rng = np.random.default_rng(seed)

    def begin_episode(self): ...

    def act(self, observation):
        return helper_of_mine.choose(self.rng)

    def learn(self, transition): ...
"""
LATE = BRAIN.replace("import helper_of_mine\n", "").replace(
    "return helper_of_mine.choose", "from helper_of_mine import choose\n        return choose"
)
"""It imports its helper only when a run reaches it: before the first run nothing of the helper is loaded."""
HELPER = "def choose(rng):\n    return int(rng.integers(3))\n"


class Stopped(Exception):  # noqa: N818  (no error)
    """Stands for a kill after some runs."""


def begun(root: Path, given: SessionConfig = GIVEN, after: int = 2) -> ExperimentStore:
    """A session that was stopped after some runs."""
    original, count = RunFiles.write, 0

    def write(self, run):
        nonlocal count
        if count == after:
            raise Stopped
        count += 1
        original(self, run)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RunFiles, "write", write)
        with pytest.raises(Stopped):
            run_plan(make_plan(given, workers=1), root=root)
    (folder,) = root.iterdir()
    return ExperimentStore(root, folder.name)


@pytest.fixture(scope="module")
def whole():
    return [run.record_hash for run in run_plan(make_plan(GIVEN, workers=1)).runs]


@pytest.fixture(scope="module")
def stopped_once(tmp_path_factory):
    return begun(tmp_path_factory.mktemp("stopped")).folder


@pytest.fixture
def stopped(stopped_once, tmp_path):
    shutil.copytree(stopped_once, tmp_path / stopped_once.name)
    return ExperimentStore(tmp_path, stopped_once.name)


def hashes(store):
    return [run.record_hash for run in resume(store.id, store.folder.parent).runs]


def test_a_stopped_session_goes_on_to_the_same_runs(stopped, whole):
    assert hashes(stopped) == whole


@pytest.mark.parametrize("what", ["source", "config"])
def test_other_code_or_another_config_is_refused_by_name(stopped, what):
    record = json.loads(stopped.plan_path.read_text())
    record["begun_with"][what] = "0" * 64
    stopped.plan_path.write_text(json.dumps(record))
    with pytest.raises(UsageError, match="the code of this package" if what == "source" else "its config file"):
        hashes(stopped)


def test_an_edited_config_file_is_refused(stopped):
    (config,) = stopped.folder.glob("*.yml")
    config.write_text(config.read_text() + "\n# a word more\n")
    with pytest.raises(UsageError, match="its config file changed since"):
        hashes(stopped)


def test_another_version_of_a_library_is_refused_by_name(stopped):
    record = json.loads(stopped.plan_path.read_text())
    record["begun_with"]["libraries"]["numpy"] = "1.0"
    stopped.plan_path.write_text(json.dumps(record))
    with pytest.raises(UsageError, match=r"numpy \(1\.0 then, 2\..* now\)"):
        hashes(stopped)


@pytest.mark.parametrize("brain", [BRAIN, LATE], ids=["imports first", "imports in a run"])
@pytest.mark.parametrize("name", ["brain_of_mine.py", "helper_of_mine.py"])
def test_a_brain_that_was_edited_between_is_refused(tmp_path, monkeypatch, name, brain):
    """Also where the change is in a file that the brain imports."""
    (tmp_path / "brain_of_mine.py").write_text(brain)
    (tmp_path / "helper_of_mine.py").write_text(HELPER)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    given = GIVEN.model_copy(update={"brain": "brain_of_mine:Mine", "episodes": 2})
    try:
        store = begun(tmp_path / "experiments", given)
        path = tmp_path / name
        path.write_text(path.read_text() + "\n# edited\n")
        with pytest.raises(UsageError, match=f"the brain's file {name} changed since"):
            resume(store.id, tmp_path / "experiments")
    finally:
        for module in ("brain_of_mine", "helper_of_mine"):
            sys.modules.pop(module, None)


def test_weights_that_were_replaced_between_are_refused(tmp_path, monkeypatch):
    """A file that the brain only reads decides its runs as much as its code does."""
    source = BRAIN.replace("import helper_of_mine\n", "").replace(
        "helper_of_mine.choose(self.rng)", 'int(open("weights.txt").read())'
    )
    (tmp_path / "brain_with_weights.py").write_text(source)
    (tmp_path / "weights.txt").write_text("0")
    monkeypatch.chdir(tmp_path)
    given = GIVEN.model_copy(update={"brain": "brain_with_weights.py:Mine", "episodes": 2})
    try:
        store = begun(tmp_path / "experiments", given)
        (tmp_path / "weights.txt").write_text("1")
        with pytest.raises(UsageError, match=r"the brain's file weights\.txt changed since"):
            resume(store.id, tmp_path / "experiments")
    finally:
        sys.modules.pop("brain_with_weights", None)


def _rewrite(path, **changes):
    with np.load(path) as content:
        arrays = {key: content[key] for key in content}
    facts = json.loads(str(arrays.pop("facts"))) | {key: value for key, value in changes.items() if key != "rows"}
    if "rows" in changes:
        arrays["phase0"] = arrays["phase0"] + changes["rows"]
    np.savez(path.with_suffix(""), facts=np.array(json.dumps(facts)), **arrays)


DAMAGE = {
    "empty": lambda path: path.write_bytes(b""),
    "cut": lambda path: path.write_bytes(path.read_bytes()[:200]),
    "no archive": lambda path: path.write_bytes(b"PK" + bytes(100)),
    "altered rows": lambda path: _rewrite(path, rows=1.0),
    "another seed": lambda path: _rewrite(path, seed=1),
    "another run": lambda path: _rewrite(path, index=3),
    "a hash that is none": lambda path: _rewrite(path, record_hash="x"),
    "an index that is a word": lambda path: _rewrite(path, index="0"),
    "a fact too many": lambda path: _rewrite(path, bonus=1),
    "phases of nobody": lambda path: _rewrite(path, phases=["a", "b"]),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_run_is_executed_again_and_named(stopped, whole, damage):
    path = sorted(stopped.folder.glob("runs/*.npz"))[0]
    DAMAGE[damage](path)
    progress = Progress()
    found = resume(stopped.id, stopped.folder.parent, progress)
    assert [run.record_hash for run in found.runs] == whole
    assert progress.damaged == [path.name]


def test_two_processes_never_work_on_one_session(stopped):
    with stopped.held(), pytest.raises(UsageError, match=rf"is being run already, by process {os.getpid()} on "):
        hashes(stopped)
    assert len(hashes(stopped)) == GIVEN.runs


def test_a_session_that_another_process_ends_meanwhile_is_not_run_again(stopped, monkeypatch, whole):
    """Between the look at the session and its lock the other one may end it, and removes what is needed to go on."""
    original = ExperimentStore.plan

    def plan(store):
        found = original(store)
        with monkeypatch.context() as patch:
            patch.setattr(ExperimentStore, "plan", original)
            assert hashes(store) == whole
        return found

    monkeypatch.setattr(ExperimentStore, "plan", plan)
    with pytest.raises(UsageError, match="is complete"):
        hashes(stopped)
    assert sorted(path.suffix for path in stopped.folder.iterdir()) == [".json", ".parquet", ".yml"]


def test_sessions_of_one_second_get_folders_of_their_own(tmp_path, monkeypatch):
    names = iter(["same", "same", "other"])
    monkeypatch.setattr(execution, "new_experiment_id", lambda plan: next(names))
    plan = make_plan(GIVEN.model_copy(update={"runs": 1, "episodes": 2}), workers=1)
    assert [run_plan(plan, root=tmp_path).experiment_id for _ in range(2)] == ["same", "other"]


def test_what_a_kill_left_in_a_finished_session_is_cleaned(stopped):
    plan = stopped.plan_path.read_bytes()
    hashes(stopped)
    stopped.plan_path.write_bytes(plan)
    (stopped.folder / "runs").mkdir()
    with pytest.raises(UsageError, match="is complete"):
        hashes(stopped)
    assert sorted(path.suffix for path in stopped.folder.iterdir()) == [".json", ".parquet", ".yml"]


def test_the_umask_is_respected(tmp_path):
    before = os.umask(0o077)
    try:
        session = run_plan(make_plan(GIVEN.model_copy(update={"runs": 1, "episodes": 2}), workers=1), root=tmp_path)
    finally:
        os.umask(before)
    modes = {path.stat().st_mode & 0o777 for path in (tmp_path / session.experiment_id).iterdir()}
    assert modes == {0o600}


def _started(tmp_path, *words):
    line = [sys.executable, "-m", "nematodebench", "run", *words, "--track", "--output", str(tmp_path / "experiments")]
    return subprocess.Popen(line, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, cwd=tmp_path)


def _until(condition, seconds=120.0):
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert condition()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_request_to_end_is_answered_like_ctrl_c(tmp_path, number):
    process = _started(tmp_path, "foraging_small-v1", "gradient_follower", "--runs", "100000", "--seed", "1")
    _until(lambda: list(tmp_path.glob("experiments/*/runs/*.npz")))
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    (folder,) = (tmp_path / "experiments").iterdir()
    assert (process.returncode, f"--resume {folder.name}" in errors) == (130, True)


def _children(pid):
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _busy(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] not in "Z"
    except OSError:
        return False


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="needs /proc")
def test_workers_end_with_a_parent_that_is_killed(tmp_path):
    (tmp_path / "slow_brain.py").write_text(BRAIN.replace("import helper_of_mine\n", "import time\n").replace(
        "return helper_of_mine.choose(self.rng)", "time.sleep(60)\n        return 0"))  # fmt: skip
    process = _started(
        tmp_path, "foraging_small-v1", "slow_brain:Mine", "--runs", "2", "--episodes", "2", "--workers", "1"
    )
    _until(lambda: len(_children(process.pid)) >= 2)  # the worker, and the tracker of resources
    time.sleep(1.0)
    children = _children(process.pid)
    process.kill()
    process.wait()
    _until(lambda: not any(_busy(pid) for pid in children), 20.0)


def test_a_clock_that_runs_backwards_loses_no_session(tmp_path, monkeypatch):
    clock = itertools.count(1000.0, -1.0)
    monkeypatch.setattr("nematodebench.sessions.execution.time.perf_counter", lambda: next(clock))
    made = nb.run("foraging_small-v1", "null_random", runs=2, episodes=2, seed=3, workers=1)
    assert load_experiment(made.save(tmp_path)).timing.wall_seconds == 0.0
