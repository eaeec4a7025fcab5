"""Which benchmarks `python -m perf` runs, and that it runs none where a word is wrong."""

import importlib.util
from pathlib import Path

import pytest

_PATH = Path(__file__).parents[2] / "perf" / "__main__.py"
_spec = importlib.util.spec_from_file_location("perf_main", _PATH)
_module = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_module)
chosen = _module.chosen


def test_those_that_take_hours_are_run_only_where_they_are_named():
    assert "peers" not in chosen([])
    assert "vector_env" in chosen([])
    assert chosen(["peers", "session"]) == ["peers", "session"]


@pytest.mark.parametrize(("words", "code"), [(["peers", "--help"], 0), (["peers", "nosuch"], 2)])
def test_help_and_wrong_names_run_nothing(words, code, capsys):
    with pytest.raises(SystemExit) as ended:
        chosen(words)
    assert ended.value.code == code
    printed = capsys.readouterr()
    assert "peers" in printed.out if code == 0 else "no benchmark 'nosuch'" in printed.err
