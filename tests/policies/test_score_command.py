"""``nematodebench score`` prints what ``run`` prints, and marks what a frozen policy cannot show."""

import json
from functools import partial

import pytest
from policy_files import TASK, rule, write_nir, write_onnx

from nematodebench.cli import build
from nematodebench.cli.show import session_lines
from nematodebench.tasks.registry import get_task


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("scored")
    write_onnx(place / "rule.onnx")
    write_nir(place / "rule.nir")
    return place


def shown(capsys, *words):
    build()(["score", *words, "--task", TASK, "--workers", "1", "--executor", "threads"], standalone_mode=False)
    return capsys.readouterr().out


def test_the_table_stands_between_the_anchors(folder, capsys, monkeypatch):
    monkeypatch.chdir(folder)
    text = shown(capsys, "rule.onnx", "--runs", "2", "--seed", "1")
    assert "| rule.onnx, learning off" in text
    for line in ("(floor: null_random)", "(best blind policy)", "(reference)", "(ceiling: analytic)"):
        assert line in text
    assert "(*) A policy that was trained elsewhere does not learn here." in text
    assert "rule.onnx, learning off: seed 1," in text


def test_several_policies_meet_the_same_worlds_and_are_stored(folder, capsys, monkeypatch):
    monkeypatch.chdir(folder)
    words = ("rule.onnx", "rule.nir", "--runs", "2", "--episodes", "3", "--json", "--track")
    first, second = json.loads(shown(capsys, *words))
    assert [run["record_hash"] for run in first["runs"]] == [run["record_hash"] for run in second["runs"]]
    assert (first["brain_class"], first["official"]) == ("pretrained", False)
    assert len(list((folder / "experiments").iterdir())) == 2
    build()(["rerun", f"experiments/{first['experiment_id']}", "--run", "1", "--trust-code"], standalone_mode=False)
    assert "IDENTICAL" in capsys.readouterr().out


def test_only_the_learning_speed_of_frozen_policies_is_marked():
    import nematodebench as nb

    task = get_task(TASK)
    frozen = nb.score(partial(rule), TASK, runs=2, episodes=3, seed=1).metadata()
    learner = nb.run(TASK, "null_random", runs=2, episodes=3, seed=1).metadata()
    header, rows = session_lines(task, [frozen, learner])
    marked = [[name for name, cell in zip(header, row, strict=True) if "(*)" in cell] for row in rows[:2]]
    assert marked == [["learning speed"], []]
