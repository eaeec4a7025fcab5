"""Stored runs are watched and recorded without changing a bit of them."""

import json
import sys

import numpy as np
import pytest
from PIL import Image

import nematodebench as nb
from nematodebench.cli import main
from nematodebench.tasks.registry import get_task
from nematodebench.trajectories.files import read_episodes
from nematodebench.trajectories.offline import export
from nematodebench.trajectories.watching import Wanted, see_run

SWARM = "forage_untrained-v1"


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """A short session with choices and one of a swarm."""
    root = tmp_path_factory.mktemp("experiments")
    found = {}
    for task, episodes in (("gridworld-v1", 4), (SWARM, None)):
        session = nb.run(task, "null_random", runs=2 if episodes else 1, episodes=episodes, seed=3)
        found[task] = session, session.save(root)
    return found


@pytest.fixture
def command(monkeypatch, capsys):
    def run(*words):
        monkeypatch.setattr(sys, "argv", ["nematodebench", *map(str, words)])
        with pytest.raises(SystemExit) as end:
            main()
        return end.value.code, *capsys.readouterr()

    return run


def place(stored, task):
    path = stored[task][1]
    return path if path.is_dir() else path.parent


def test_watching_shows_the_stored_run(stored, command):
    code, out, _ = command("watch", place(stored, "gridworld-v1"), "--run", 1, "--episode", 2, "--json")
    told = json.loads(out)
    assert code == 0 and told["identical"] and told["episode"] == 2
    session = stored["gridworld-v1"][0]
    row = session.runs[1].records["train"][2]
    assert (told["reward"], told["steps"]) == (pytest.approx(row[0], abs=1e-12), row[1])
    assert told["record_hash"] == session.runs[1].record_hash


def test_without_a_terminal_the_last_moment_is_printed(stored, command):
    code, out, _ = command("watch", place(stored, "gridworld-v1"))
    assert code == 0 and "IDENTICAL to the stored run" in out and "o" in out.splitlines()[0] + out


def test_a_run_that_nobody_stored_is_watched(command, tmp_path):
    film = tmp_path / "a.gif"
    words = ("watch", "gridworld-v1", "--brain", "null_random", "--seed", 3, "--episodes", 2, "--gif", film, "--json")
    code, out, _ = command(*words)
    assert code == 0 and json.loads(out)["identical"] is None
    assert Image.open(film).n_frames == 111
    first = film.read_bytes()
    command(*words)
    assert film.read_bytes() == first


def test_a_swarm_becomes_a_film_and_a_picture(stored, command, tmp_path):
    pytest.importorskip("imageio_ffmpeg")
    film, picture = tmp_path / "a.mp4", tmp_path / "a.png"
    where = place(stored, SWARM)
    code, _, _ = command("watch", where, "--mp4", film, "--png", picture, "--every", 200, "--width", 200)
    assert code == 0 and film.stat().st_size > 1000
    assert Image.open(picture).width == 200


@pytest.mark.parametrize(("task", "phase"), [("gridworld-v1", "train"), (SWARM, "scored")])
def test_recorded_trajectories_are_those_of_the_run(stored, command, tmp_path, task, phase):
    code, out, _ = command("rerun", place(stored, task), "--record", tmp_path / "kept", "--json")
    assert code == 0 and json.loads(out)["identical"]
    schema = json.loads((tmp_path / "kept" / "schema.json").read_text())
    session = stored[task][0]
    assert schema["record_hash"] == session.runs[0].record_hash
    records = session.runs[0].records[phase]
    episodes = list(read_episodes(tmp_path / "kept", phase))
    assert [episode["steps"] for episode in episodes] == records[:, 1].tolist()
    for row, episode in zip(records, episodes, strict=True):
        assert float(episode["reward"].sum()) / episode["reward"].shape[1] == pytest.approx(row[0], rel=1e-12)
        assert (bool(episode["terminated"][-1]), bool(episode["truncated"][-1])) == (row[2] == 1, row[3] == 1)
        assert not episode["terminated"][:-1].any() and not episode["truncated"][:-1].any()
        assert len(episode["observation"]) == len(episode["state"]) == episode["steps"] + 1
    (told,) = [told for told in schema["phases"] if told["phase"] == phase]
    assert episodes[0]["state"].shape[1] == sum(int(np.prod(field["shape"])) for field in told["state"])


@pytest.mark.parametrize(("task", "shape"), [("gridworld-v1", (28,)), (SWARM, (8, 128))])
def test_minari_loads_what_was_exported(stored, command, tmp_path, monkeypatch, task, shape):
    minari = pytest.importorskip("minari")
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    code, _, _ = command("rerun", place(stored, task), "--minari", "ours/test-v0")
    assert code == 0
    data = minari.load_dataset("ours/test-v0")
    records = stored[task][0].runs[0].records
    rewards = np.concatenate([rows[:, 0] for rows in records.values()])
    assert data.total_episodes == len(rewards)
    for episode, reward in zip(data.iterate_episodes(), rewards, strict=True):
        assert episode.observations.shape[1:] == shape
        assert episode.rewards.sum() == pytest.approx(reward, rel=1e-9)
        assert data.action_space.contains(episode.actions[0])
    again, _, told = command("rerun", place(stored, task), "--minari", "ours/test-v0")
    assert again == 2 and "already has a data set ours/test-v0" in told


@pytest.mark.parametrize("task", ["association-v2", "gridworld-v1", SWARM])
def test_minari_finds_the_environment_of_a_recorded_run(tmp_path, monkeypatch, task):
    pytest.importorskip("minari")
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    episode = see_run(task, "null_random", Wanted(), seed=1, episodes=None if task == SWARM else 2).episode
    data = export("ours/one-v0", get_task(task), [episode], "null_random", 1)
    if task == "association-v2":
        env = data.recover_environment()
        assert env.spec.id == f"nematodebench/{task}"
        assert env.reset(seed=1)[0].shape == data.observation_space.shape
    else:  # a body with more inputs than its world, and a swarm
        assert data.spec.env_spec is None


WRONG = [
    (("watch", "{gridworld}", "--run", "9"), "has no run 9: it has runs 0 to 1"),
    (("watch", "{gridworld}", "--episode", "9"), "has no episode 9: it has episodes 0 to 3"),
    (("watch", "{gridworld}", "--phase", "night"), "Phase 'night' does not exist. There are: train"),
    (("watch", "nowhere"), "nowhere"),
    (("watch", "gridworld-v1"), "is a task: say whose run is shown, with --brain NAME"),
    (("watch", "{gridworld}", "--seed", "3"), "are for a new run"),
    (("watch", "{gridworld}", "--gif", "/nowhere/a.gif"), "there is no folder /nowhere"),
    (("watch", "{gridworld}", "--gif", "a.mp4"), "does not end in .gif"),
    (("watch", "{gridworld}", "--png", "a.png", "--width", "7"), "120 to 4000 pixels wide, not 7"),
    (("watch", "{gridworld}", "--png", "a.png", "--theme", "sepia"), "Theme 'sepia' does not exist"),
    (("watch", "{gridworld}", "--every", "0"), "--every is 0: give at least 1"),
    (("watch", "gridworld-v1", "--brain", "nobody"), "Brain 'nobody' does not exist"),
    (("rerun", "{gridworld}", "--run", "9", "--record", "kept"), "has no run 9"),
    (("rerun", "{gridworld}", "--minari", "no name"), "is no name of a Minari data set"),
]


@pytest.mark.parametrize(("words", "line"), WRONG)
def test_wrong_uses_are_one_line(stored, command, tmp_path, monkeypatch, words, line):
    monkeypatch.chdir(tmp_path)
    code, out, told = command(*(word.format(gridworld=place(stored, "gridworld-v1")) for word in words))
    assert code != 0 and not out
    assert line in told and len(told.splitlines()) == 1
    assert not list(tmp_path.iterdir()), "nothing is left behind"


@pytest.mark.parametrize(
    ("library", "words", "extra"),
    [
        ("imageio_ffmpeg", ("watch", "{gridworld}", "--mp4", "a.mp4"), "nematodebench[video]"),
        ("minari", ("rerun", "{gridworld}", "--minari", "ours/test-v0"), "nematodebench[minari]"),
    ],
)
def test_a_missing_extra_is_one_line(stored, command, tmp_path, monkeypatch, library, words, extra):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, library, None)
    code, _, told = command(*(word.format(gridworld=place(stored, "gridworld-v1")) for word in words))
    assert code == 2 and extra in told and len(told.splitlines()) == 1


def test_trajectories_are_not_written_over(stored, command, tmp_path):
    (tmp_path / "schema.json").write_text("{}")
    code, _, told = command("rerun", place(stored, "gridworld-v1"), "--record", tmp_path)
    assert code == 2 and "already holds trajectories" in told
