"""Bad input gets one clear line, exit code 2 for usage and 1 for failed runs, and nothing is lost."""

import json
import os
import subprocess
import sys

import pytest

RUN = ["run", "foraging_small-v1", "null_random", "--runs", "1", "--episodes", "20"]


def command(*arguments, cwd=None, **environment):
    line = [sys.executable, "-m", "nematodebench", *arguments]
    return subprocess.run(line, capture_output=True, text=True, check=False, cwd=cwd, env={**os.environ, **environment})


def complaint(*arguments, code=2, cwd=None):
    done = command(*arguments, cwd=cwd)
    assert done.returncode == code, done.stderr
    lines = done.stderr.strip().splitlines()
    assert "Traceback" not in done.stderr
    return lines[-1] if len(lines) == 1 or lines[0].startswith("nematodebench:") else done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "foragin_small", "null_random"], "Did you mean 'foraging_small-v2'"),
        (["run", "foraging_small-v1", "mlp_pp"], "Did you mean 'mlp_ppo'"),
        (["run", "foraging_small-v1", "mlp_ppo", "--set", "hiden=3"], "no parameter 'hiden'. It has: hidden"),
        (["run", "foraging_small-v1", "mlp_ppo", "--set", "gamma=2"], "less than or equal to 1"),
        (["run", "foraging_small-v1", "mlp_ppo", "--set", "gamma=fast"], "valid number"),
        (["run", "foraging_small-v1", "mlp_ppo", "--set", "gamma"], "not of the form key=value"),
        (["run", "foraging_small-v1", "mlp_ppo", "--set", "gamma=.nan"], "finite number"),
        (["run", "foraging_small-v1", "mlp_ppo", "--set", "rollout=2.5"], "valid integer"),
        ([*RUN, "--runs", "0"], "runs is 0"),
        ([*RUN, "--runs", "-3"], "runs is -3"),
        ([*RUN, "--episodes", "0"], "episodes is 0"),
        ([*RUN, "--workers", "0"], "workers is 0"),
        ([*RUN, "--workers", "-1"], "workers is -1"),
        ([*RUN, "--seed", "-1"], "seed is -1"),
        ([*RUN, "--seed", str(2**53)], f"seed is {2**53}"),
        ([*RUN, "--executor", "fibers"], "Choose threads, processes or ray"),
        (["run"], "Say what to run"),
        (["run", "foraging_small-v1", "null_random", "--config", "x.yml"], "not both"),
        (["run", "--resume", "nothing"], "no session to resume"),
        ([*RUN, "--checkpoint", "0"], "--checkpoint 0: give a number of episodes, at least 1"),
        (["run", "foraging_small-v1", "--from", "nothing"], "There is no file nothing"),
        (["run", "foraging_small-v1", "a", "b", "--from", "nothing"], "There is no file nothing"),
        (["run", "foraging_small-v1", "--from", sys.executable], "is not a brain that nematodebench has saved"),
        (["rerun", "nothing"], "no experiment at nothing"),
        (["tasks", "pong_"], "does not exist"),
        (["brains", "mlp_"], "Did you mean"),
    ],
)
def test_usage_errors(tmp_path, arguments, message):
    assert message in complaint(*arguments, cwd=tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("task: foraging_small-v1\nbrain: null_random\nrunz: 3\n", "no key 'runz'"),
        ("task: foraging_small-v1\nbrain: null_random\nruns: many\n", "runs: Input should be a valid integer"),
        ("task: foraging_small-v1\nbrain: null_random\nruns: -2\n", "runs: Input should be greater"),
        ("task: foraging_small-v1\n", "the key 'brain' is missing"),
        ("task: foraging_small-v1\nbrian: null_random\n", "no key 'brian'. Did you mean 'brain'?"),
        ("- a\n- b\n", "must be a mapping"),
        ("task: [unclosed\n", "is not YAML"),
        ("task: !!python/object/apply:os.system ['true']\nbrain: x\n", "is not YAML"),
        ("task: a\ntask: b\nbrain: c\n", "given twice"),
        ("\x00\x01\x02", "is not YAML"),
    ],
)
def test_config_errors(tmp_path, text, message):
    path = tmp_path / "session.yml"
    path.write_text(text)
    assert message in complaint("run", "--config", str(path))


def test_missing_and_unreadable_config(tmp_path):
    assert "There is no file" in complaint("run", "--config", str(tmp_path / "none.yml"))
    assert "Cannot read" in complaint("run", "--config", str(tmp_path))
    (tmp_path / "latin.yml").write_bytes(b"task: caf\xe9\n")
    assert "is not YAML" in complaint("run", "--config", str(tmp_path / "latin.yml"))


def test_unwritable_output_is_said_before_anything_runs(tmp_path):
    blocker = tmp_path / "file"
    blocker.write_text("")
    assert "Cannot write" in complaint(*RUN, "--track", "--output", str(blocker / "below"), code=1)


@pytest.mark.skipif(sys.platform != "linux", reason="needs tmpfs")
def test_full_disk_keeps_what_was_done(tmp_path):
    """A 1 MiB file system fills up; the session stops with one line and can be resumed once there is room."""
    mount = tmp_path / "small"
    mount.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(mount)], check=False).returncode:
        pytest.skip("cannot mount a small file system")
    try:
        run = ["run", "foraging_small-v1", "null_random", "--runs", "20", "--seed", "1", "--output", str(mount)]
        line = complaint(*run, "--track", code=1)
        assert "No space left on device" in line
        (experiment,) = mount.iterdir()
        assert f"resume {experiment.name}" in line
        kept = len(list((experiment / "runs").glob("*.npz")))
        assert 0 < kept < 20
        subprocess.run(["mount", "-o", "remount,size=64m", str(mount)], check=True)
        done = command("run", "--resume", experiment.name, "--output", str(mount), "--json")
        assert done.returncode == 0, done.stderr
        (record,) = json.loads(done.stdout)
        assert [run["status"] for run in record["runs"]] == ["finished"] * 20
    finally:
        subprocess.run(["umount", str(mount)], check=False)


def test_failed_runs_are_listed_kept_apart_and_make_the_command_fail(tmp_path):
    brain = "brains_for_tests:RaisesSometimes"
    done = command(
        "run", "foraging_small-v1", brain, "--runs", "4", "--episodes", "2", "--seed", "3", "--track", cwd=tmp_path
    )
    assert done.returncode == 1
    assert "FAILED: RuntimeError: thirty is enough" in done.stderr
    (path,) = tmp_path.glob("experiments/*/*.json")
    record = json.loads(path.read_text())
    states = {run["status"] for run in record["runs"]}
    assert states == {"finished", "failed"}
    failed = [run for run in record["runs"] if run["status"] == "failed"]
    assert all("thirty is enough" in run["failure"]["traceback"] and run["metrics"] == {} for run in failed)
    assert record["metrics"]["composite_score"]["n"] == 4 - len(failed)


def test_every_command_explains_itself():
    names = ["run", "rerun", "tasks", "brains", "info", "calibrate"]
    for name in names:
        done = command(name, "--help")
        assert done.returncode == 0
        assert "Usage" in done.stdout


def test_a_session_is_stored_where_output_says_without_another_word(tmp_path):
    assert command(*RUN, "--output", str(tmp_path / "kept"), "--json").returncode == 0
    (folder,) = (tmp_path / "kept").iterdir()
    assert (folder / f"{folder.name}.json").is_file()


@pytest.mark.parametrize("words", [[*RUN, "--output"], ["run", "--sessions", "2", *RUN[1:], "--output"]])
@pytest.mark.parametrize("kind", ["file", "link", "pipe"])
def test_sessions_cannot_be_stored_in_what_is_no_folder(tmp_path, words, kind):
    place = tmp_path / "kept"
    {"file": place.touch, "link": lambda: place.symlink_to("nowhere"), "pipe": lambda: os.mkfifo(place)}[kind]()
    line = [sys.executable, "-m", "nematodebench", *words, str(place)]
    done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 1
    assert "Cannot write to" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_pipe_in_the_place_of_a_new_key_is_not_waited_for(tmp_path):
    (tmp_path / "clone").mkdir()
    os.mkfifo(tmp_path / "private.pem")
    line = [sys.executable, "-m", "nematodebench", "keys", "new", "../private.pem", "--owner", "A"]
    done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=300, cwd=tmp_path / "clone")
    assert done.returncode == 2
    assert "give a new file" in done.stderr
