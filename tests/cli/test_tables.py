"""Tables fit the terminal: texts are wrapped, columns without room are left out and named."""

import contextlib
import csv
import fcntl
import json
import os
import pty
import struct
import subprocess
import sys
import termios

import pytest

import nematodebench as nb
from nematodebench.cli.printing import print_table
from nematodebench.cli.tables import fit, folded

HEADER = ["brain", "score", "what it is like", "runs", "date"]
ROWS = [["mlp_ppo", "0.811", "a network that learns from whole rollouts of many steps", "500", "20261116"]]


def test_without_a_width_nothing_changes():
    lines, widths, hidden = fit(HEADER, ROWS, None)
    assert lines == [HEADER, *ROWS]
    assert widths == [7, 5, 55, 4, 8]
    assert hidden == []


@pytest.mark.parametrize("width", range(20, 100))
def test_no_line_is_wider_than_there_is_room_and_no_column_goes_unnamed(width):
    lines, widths, hidden = fit(HEADER, ROWS, width)
    assert sum(widths) + 3 * len(widths) + 1 <= max(width, 20)
    assert all(len(cell) <= room for line in lines for cell, room in zip(line, widths, strict=True))
    assert lines[0] + hidden == HEADER


def test_texts_are_wrapped_before_columns_go():
    lines, _, hidden = fit(HEADER, ROWS, 72)
    assert hidden == []
    assert " ".join(line[2] for line in lines[1:]) == ROWS[0][2]
    assert [line[0] for line in lines[1:]] == ["mlp_ppo", ""]


@pytest.mark.parametrize(("words", "fits"), [((), True), (("--wide",), False)])
def test_a_command_in_a_narrow_terminal(tmp_path, words, fits):
    terminal, end = pty.openpty()
    fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 72, 0, 0))
    env = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    command = [sys.executable, "-m", "nematodebench", "tasks", *words]
    shown = b""
    with subprocess.Popen(command, stdin=end, stdout=end, stderr=subprocess.DEVNULL, env=env, cwd=tmp_path) as done:
        os.close(end)
        with contextlib.suppress(OSError):  # the terminal is gone when the command has ended
            while part := os.read(terminal, 65536):
                shown += part
    os.close(terminal)
    assert done.returncode == 0
    assert (max(len(line) for line in shown.decode().splitlines()) <= 72) is fits


@pytest.mark.parametrize(
    ("given", "words", "fits"), [("100", (), True), ("100", ("--wide",), False), ("", (), False), ("wide", (), False)]
)
def test_a_pipe_gets_everything_unless_the_environment_says_how_wide_it_is(tmp_path, given, words, fits):
    command = [sys.executable, "-m", "nematodebench", "tasks", *words]
    env = {**os.environ, "COLUMNS": given}
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=True, env=env)
    assert (max(len(line) for line in done.stdout.splitlines()) <= 100) is fits


@pytest.mark.parametrize(("given", "lines"), [("40", 3), ("", 1)])
def test_a_text_below_a_table_fits_too(monkeypatch, given, lines):
    monkeypatch.setenv("COLUMNS", given)
    text = "best blind policy: cycle of 6 x (forward), 1 x (left), 5 x (forward), 1 x (right), 7 x (forward)"
    assert len(folded(text).splitlines()) == lines
    assert folded(text).replace("\n", " ") == text


@pytest.mark.parametrize(("columns", "explained"), [("", True), ("30", False)])
def test_a_mark_is_explained_where_it_is_seen(monkeypatch, capsys, columns, explained):
    monkeypatch.setenv("COLUMNS", columns)
    print_table(["brain", "score", "stability"], [["mlp_ppo", "0.811", "0.999 ± 0.001 (!)"]])
    assert ("may cover less" in capsys.readouterr().out) is explained


@pytest.mark.parametrize("words", [("tasks", "foraging_small-v2"), ("brains", "active_inference")])
def test_a_page_about_one_thing_fits_a_terminal_and_is_markdown_elsewhere(tmp_path, words):
    def page(columns):
        command = [sys.executable, "-m", "nematodebench", *words]
        env = {**os.environ, "COLUMNS": columns}
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=True, env=env).stdout

    assert max(len(line) for line in page("100").splitlines()) <= 100
    assert max(len(line) for line in page("").splitlines()) > 100
    assert "no room" not in page("100").lower()


def test_tables_as_csv_are_all_of_the_standard_output(tmp_path):
    command = [sys.executable, "-m", "nematodebench", "tasks", "--csv"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=True)
    header, *rows = csv.reader(done.stdout.splitlines())
    assert "task" in header
    assert len(rows) > 20
    assert {len(row) for row in rows} == {len(header)}


@pytest.mark.parametrize(("words", "header"), [(("info",), "what,value"), (("tasks", "wall-v2"), "line,score")])
def test_pages_and_facts_are_csv_too(tmp_path, words, header):
    command = [sys.executable, "-m", "nematodebench", *words, "--csv"]
    printed = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=True).stdout
    assert printed.startswith(header)
    assert all(len(row) > 1 for row in csv.reader(printed.splitlines()))
    assert words != ("info",) or not {"None", "True", "False"} & set(printed.replace("\n", ",").split(","))


def test_the_table_of_a_rerun_fits_a_narrow_terminal(tmp_path):
    folder = nb.run("pattern_memory_easy-v2", "null_random", runs=1, episodes=2, seed=1).save(tmp_path)
    command = [sys.executable, "-m", "nematodebench", "rerun", str(folder)]
    env = {**os.environ, "COLUMNS": "60"}
    printed = subprocess.run(command, capture_output=True, text=True, check=True, env=env).stdout
    assert max(len(line) for line in printed.splitlines() if line.startswith("|")) <= 60
    assert printed.count("the same") == 3


def test_csv_and_json_exclude_each_other(tmp_path):
    command = [sys.executable, "-m", "nematodebench", "tasks", "--csv", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 2
    assert done.stderr == "nematodebench: --csv and --json are two forms of the same: give one of them.\n"


def test_the_list_of_tasks_begins_with_the_newest_versions(tmp_path):
    """Whoever chooses a task from the list does not take one that is no longer ranked."""

    def listed(*words):
        command = [sys.executable, "-m", "nematodebench", "tasks", *words]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=True)

    newest, every = listed(), listed("--all")
    assert "| pong-v2 " in newest.stdout
    assert "| pong-v1 " not in newest.stdout
    assert "nematodebench tasks --all" in newest.stdout
    assert "| pong-v1 " in every.stdout
    assert "--all" not in every.stdout
    known = json.loads(listed("--json").stdout)
    assert {task["id"]: task["newest"] for task in known if task["id"].startswith("pong-")} == {
        "pong-v1": False,
        "pong-v2": True,
    }
