"""A small repository with one published entry, and proposals to it, for the tests of the gate."""

import json
import shutil

import pytest
from submission_workshop import commit, git

from nematodebench.board.changes import open_proposal
from nematodebench.board.gate import MAINTAINERS, judge_proposal
from nematodebench.board.markdown import BEGIN, END, LEADERBOARD
from nematodebench.verification.keys import new_key

OLD, NEW = "20200101_000000", "20200202_000000"


def write(root, name, content="x\n"):
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


SHA = "0" * 64


def shape(timestamp, sessions, github, config):
    """A submission that claims nothing sensible and has every field."""
    score = {"mean": 0.5, "std": 0.1, "min": 0.4, "max": 0.6, "n": 2, "ci95": [0.4, 0.6]}
    named = ("success_rate", "distance_efficiency", "learning_speed", "stability")
    return {
        "schema_version": 3,
        "submission_id": f"foraging_small_classical_{timestamp}",
        "timestamp": timestamp,
        "brain_type": "mlp_ppo",
        "brain_class": "classical",
        "brain_config": {},
        "environment": {"task": "foraging_small-v1", "version": 1, "spec_hash": SHA, "world": "worm",
                        "grid_size": 20, "episodes_per_run": 500},
        "category": "foraging_small/classical",
        "config_file": config,
        "config_sha256": SHA,
        "sessions": sessions,
        "total_sessions": len(sessions),
        "total_runs": 2,
        "score_key": "composite_score",
        "metrics": {"composite_score": score, "other": {}, **dict.fromkeys(named)},
        "level": None,
        "normalised": None,
        "chemotaxis": None,
        "all_seeds_unique": True,
        "contributor": "Somebody",
        "github": github,
        "provenance": {"package_version": "0", "source_hash": SHA, "git_commit": None, "git_dirty": None,
                       "python": "3", "numpy": "2", "numba": "0", "llvmlite": "0", "torch": None, "platform": "x",
                       "machine": "x86_64", "cpu": "x", "code_generation": "x"},
    }  # fmt: skip


def submission(root, timestamp, github="ada", config="configs/mine.yml"):
    """A submission, its sessions' files and its config."""
    kept = []
    for k in range(2):
        name = f"{timestamp}_{k:08x}"
        kept.append({"experiment_id": name, "file_path": f"artifacts/experiments/{name}/{name}.json",
                     "session_seed": k, "num_runs": 1, "run_seeds": [k], "metadata_sha256": SHA,
                     "config_sha256": SHA})  # fmt: skip
        for file in (f"{name}.json.xz", "episodes.xz", "mine.yml"):
            write(root, f"artifacts/experiments/{name}/{file}", f"{name} {file}\n")
    path = f"benchmarks/foraging_small/classical/{timestamp}.json"
    write(root, path, json.dumps(shape(timestamp, kept, github, config)))
    write(root, config, f"{timestamp}\n")
    return path


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """A repository with one published entry, one key and one maintainer."""
    root = tmp_path_factory.mktemp("gate") / "repo"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    submission(root, OLD, github="grace", config="configs/old.yml")
    new_key(root, "Grace", root.parent / "private.pem")
    write(root, MAINTAINERS, "# who may sign\n@Grace\n")
    write(root, "README.md", f"# Title\n{BEGIN}\nleaders\n{END}\n")
    write(root, LEADERBOARD)
    write(root, "src/code.py")
    write(root, f"verifications/foraging_small_classical_{OLD}.dsse.json", "{}")
    commit(root, "start")
    return root


@pytest.fixture
def repo(published, tmp_path):
    root = shutil.copytree(published, tmp_path / "repo", symlinks=True)
    git(root, "switch", "-q", "-c", "proposed")
    return root


def judged(root, author="ada", message="proposal"):
    commit(root, message)
    return judge_proposal(open_proposal(root, "main", "HEAD"), author)


def entry(name=""):
    return f"artifacts/experiments/{OLD}_00000000/{name}"
