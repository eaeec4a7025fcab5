"""Tables fit the terminal: texts are wrapped, columns without room are left out and named."""

import os
import subprocess
import sys

import pytest

from nematodebench.cli.tables import fit

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


def test_a_command_in_a_narrow_terminal(tmp_path):
    def width(*more):
        command = [sys.executable, "-m", "nematodebench", "tasks", *more]
        env = {**os.environ, "COLUMNS": "72"}
        done = subprocess.run(command, capture_output=True, text=True, env=env, cwd=tmp_path, check=True)
        return max(map(len, done.stdout.splitlines()))

    assert width() <= 72
    assert width("--wide") > 72
