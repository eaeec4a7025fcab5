"""The page about clusters works as written: its nodes are started by its commands, and its commands do what it says."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from ray_cluster import cluster, free_port

PAGE = (Path(__file__).parents[1] / "docs" / "cluster.md").read_text(encoding="utf-8")
PORT = "6399"


def commands(program):
    consoles = "".join(re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL))
    return [words for line in re.findall(r"^\$ (.*)$", consoles, re.M) if (words := shlex.split(line))[0] == program]


def test_the_page_shows_two_nodes_and_every_command():
    assert [("--head" in words, "--block" in words) for words in commands("ray")] == [(True, True), (False, True)]
    assert commands("export") == [["export", f"RAY_ADDRESS=127.0.0.1:{PORT}"]]
    assert {words[1] for words in commands("nematodebench")} >= {"run", "sweep", "search", "continual"}


@pytest.mark.slow
@pytest.mark.xdist_group("ray")
def test_every_command_of_the_page_works_on_its_two_nodes(tmp_path):
    pytest.importorskip("ray")
    port = str(free_port())
    nodes = [[word.replace(PORT, port) for word in words] for words in commands("ray")]
    shown = []
    with cluster(nodes, f"127.0.0.1:{port}"):
        environment = {**os.environ, "RAY_ADDRESS": f"127.0.0.1:{port}", "RAY_AUTH_MODE": "disabled"}
        for words in commands("nematodebench"):
            line = [sys.executable, "-m", *words]
            done = subprocess.run(line, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
            shown.append(re.sub(r" in [\d.]+ s \(.*", "", done.stdout))
    assert "q_table" in shown[0]
    assert shown[0] == shown[1]
