"""What is printed about somebody else's files acts on nothing; and copies of others are noticed."""

import csv
import io
import json
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from submission_workshop import SHORT, Work, command, official

from nematodebench.board.files import write_files
from nematodebench.cli.show import print_json, print_table, printable
from nematodebench.cli.tables import tables_as_csv
from nematodebench.errors import UsageError
from nematodebench.figures.figure import Figure
from nematodebench.records.plain_text import looks_like, plain, uncomputed, without_commands
from nematodebench.site.board_data import _NUMBERS, _TEXTS, board_csv
from nematodebench.site.report import report_csv
from nematodebench.submissions.guarded import verdict_on

NASTY = "\x1b[2J\x9b31m\u202e::error::x ##[group]y\r\n::set-output name=a::b"


@pytest.mark.parametrize("show", [printable, plain])
def test_nothing_that_acts_is_left(show) -> None:
    shown = show(NASTY)
    assert shown.isprintable()
    assert "::" not in shown
    assert "##[" not in shown


def test_many_colons_are_no_command_either() -> None:
    assert "::" not in without_commands("a:::::b")


def test_json_says_the_same_without_commands(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"text": NASTY})
    out = capsys.readouterr().out
    assert json.loads(out) == {"text": NASTY}
    assert "##[" not in out
    assert out.replace("\n", "").isprintable()


@pytest.mark.parametrize("words", [("report",), ("report", "--runs"), ("rerun",), ("compare",)])
def test_commands_do_not_pass_on_what_a_record_says(tmp_path: Path, words: tuple[str, ...]) -> None:
    work = official(tmp_path / "repo", "null_random", SHORT)
    folder = work.folder(0)
    record = work.record(0)
    record["brain"] = "::error::x ##[group]y"
    record["provenance"]["machine"] = "::warning::riscv"
    work.save_record(0, record, sign=False)
    more = [folder] if words[0] == "compare" else []
    outcome = command(work.root, words[0], folder, *more, *words[1:])
    assert "::" not in outcome.out + outcome.err
    assert "##[" not in outcome.out + outcome.err
    assert "Traceback" not in outcome.err


@pytest.mark.parametrize("words", [("report",), ("rerun",), ("compare",)])
@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[" * 100_000, "nested too deeply"),
        ('{"\\u001b[31m": 1}', "is not an experiment"),
        ("", "is not an experiment"),
    ],
)
def test_commands_say_in_one_line_what_is_no_record(
    tmp_path: Path, words: tuple[str, ...], content: str, message: str
) -> None:
    path = tmp_path / "x.json"
    path.write_text(content)
    outcome = command(tmp_path, words[0], path, *([path] if words[0] == "compare" else []))
    assert (outcome.code, outcome.err.count("\n")) == (2, 1)
    assert message in outcome.err
    assert "\x1b" not in outcome.err


@pytest.mark.parametrize("name", ["README.md", "docs/nematodebench/LEADERBOARD.md"])
def test_the_board_is_not_written_through_a_link(tmp_path: Path, name: str) -> None:
    root, elsewhere = tmp_path / "repo", tmp_path / "elsewhere"
    elsewhere.mkdir()
    root.mkdir()
    top = name.partition("/")[0]
    (root / top).symlink_to(elsewhere if "/" in name else elsewhere / "README.md")
    with pytest.raises(UsageError, match="is a symbolic link"):
        write_files(root, {name: "the board\n"})
    assert list(elsewhere.iterdir()) == []


def _copy(work: Work, **changes: object) -> Work:
    """Somebody else's sessions under other names, one second later, with the original still there."""
    original = work.path.read_bytes()
    earlier = work.path
    for k in range(10):
        source = work.folder(k)
        shutil.copytree(source, source.with_name(f"copy{k}"))
        record = {**work.record(k), "experiment_id": f"copy{k}"}
        (source.with_name(f"copy{k}") / f"{source.name}.json").unlink()
        path = f"artifacts/experiments/copy{k}/copy{k}.json"
        work.claims["sessions"][k].update(experiment_id=f"copy{k}", file_path=path)
        work.save_record(k, record)
    work.claims.update(changes)
    work.move(timestamp=f"{int(str(work.claims['timestamp'])[:8])}_235958")
    earlier.write_bytes(original)
    return work


def test_sessions_under_other_names_are_still_somebody_elses(tmp_path: Path) -> None:
    work = _copy(official(tmp_path / "repo", "null_random", SHORT), contributor="Mallory")
    reasons = " ".join(verdict_on(work.path, work.root).reasons)
    assert "of this brain are already in" in reasons
    assert "holds the same episodes" in reasons


@pytest.mark.parametrize("name", ["Ada ExampIe", "ADA Example", "Ada Examp1e", "ꓮꓓꓮ ꓰꓫꓮꓟꓑꓡꓰ", "Adɑ Exɑmple"])
def test_a_name_that_looks_like_another_contributors_is_refused(tmp_path: Path, name: str) -> None:
    work = _copy(official(tmp_path / "repo", "null_random", SHORT), contributor=name)
    reasons = " ".join(verdict_on(work.path, work.root).reasons)
    assert f"contributor {name!r} looks like 'Ada Example'" in reasons


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("IAH", "ІАН"), ("IAH", "ꓲꓮꓧ"), ("COP", "ⲤⲞⲢ"), ("PAC", "ᏢᎪᏟ"), ("Ida", "ɪda"), ("lola", "Ɩoꞁɑ"), ("Bo", "ʙᴏ"),
        ("O'Neil", "O’Neil"), ("O'Neil", "Oʼneil"), ("Li-Na", "Li‐Na"), ("Li-Na", "Li‑Na"), ("Li-Na", "Li–Na"),
    ],
)  # fmt: skip
def test_letters_and_marks_of_one_shape_are_one(name: str, other: str) -> None:
    assert looks_like(name) == looks_like(other)


def test_another_contributors_very_name_is_refused_for_another_account(tmp_path: Path) -> None:
    work = _copy(official(tmp_path / "repo", "null_random", SHORT), github="Mallory")
    reasons = " ".join(verdict_on(work.path, work.root).reasons)
    assert "contributor 'Ada Example' is the name of somebody without a GitHub account in" in reasons
    assert "not of @mallory" in reasons
    work.claims["github"] = None
    work.save()
    assert "contributor" not in " ".join(verdict_on(work.path, work.root).reasons)


def test_sessions_of_unequal_lengths_are_refused(tmp_path: Path) -> None:
    work = official(tmp_path / "repo", "null_random", SHORT)
    record = work.record(1)
    record["num_runs"] = 60
    work.save_record(1, record)
    assert "every session must have the same number" in " ".join(verdict_on(work.path, work.root).reasons)


def test_a_brain_whose_library_is_missing_is_a_rejection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib

    from nematodebench.brains.registry import get_brain

    load = importlib.import_module

    def fail(name: str, *more: object) -> object:
        if "torch_reinforce" in name:
            raise ModuleNotFoundError("No module named 'torch'", name="torch")
        return load(name)

    monkeypatch.setattr(importlib, "import_module", fail)
    with pytest.raises(UsageError, match="Brain 'torch_reinforce' needs what is not installed here: No module named"):
        get_brain("torch_reinforce")


FORMULAS = ['=HYPERLINK("http://x")', "@SUM(A1)", "+cmd|' /C calc'!A0", "-cmd|'x'!A0", "\uff1dA1", " =A1"]


@pytest.mark.parametrize("text", FORMULAS)
def test_no_table_that_is_written_holds_a_formula_of_somebody_elses(text: str, capsys: Any) -> None:
    sources: Any = SimpleNamespace(samples=[
        SimpleNamespace(anchors=None, task=SimpleNamespace(id="t"), label=text,
                        scores=SimpleNamespace(seeds=[1], values=np.array([-0.5])))
    ])  # fmt: skip
    with tables_as_csv():
        print_table(["brain", "score"], [[text, "-0.5"]])
    tables = {
        "printed": capsys.readouterr().out,
        "report": report_csv(sources),
        "figure": Figure("k", "t", "c", [{"brain": text, "score": -0.5}], {}).csv(),
        "board": board_csv([dict.fromkeys([*_TEXTS, *_NUMBERS.values()], text) | {"value": -0.5}]).decode(),
    }
    for name, table in tables.items():
        cells = [cell for row in csv.reader(io.StringIO(table)) for cell in row]
        assert f"'{text}" in cells, name
        assert text not in cells, name
        assert "-0.5" in cells, name


@pytest.mark.parametrize("value", ["-", "-0.5", "+1e-3", "-0.500 ± 0.100", "2026-01-01", "", "a=b", 7, -0.5, None])
def test_numbers_and_words_stay_as_they_are(value: object) -> None:
    assert uncomputed(value) == value


@pytest.mark.parametrize("form", [[], ["--format", "csv"], ["--format", "html"]])
@pytest.mark.parametrize("spec", [{"phases": 7}, {"phases": [7]}, {"phases": [{}], "scored": "x"}, {}, None])
def test_a_report_of_a_record_that_no_session_wrote_is_no_traceback(tmp_path: Path, form: list[str], spec: Any) -> None:
    """Without a specification the metrics are beyond any score."""
    work = official(tmp_path / "repo", "null_random", SHORT)
    record = work.record(0)
    if spec is None:
        for run in record["runs"]:
            run["metrics"] = dict.fromkeys(run["metrics"], 1e308)
    else:
        record["task_spec"] = spec
    work.save_record(0, record)
    done = command(work.root, "report", work.folder(0), *form, *(["--output", "r.out"] if form else []))
    assert done.code in ({2} if spec is None or not form else {0, 2}), done.out
    assert "Traceback" not in done.err
