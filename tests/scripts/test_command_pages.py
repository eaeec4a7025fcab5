"""The pages of commands under docs/commands."""

import importlib.util
import re
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "command_pages.py"
spec = importlib.util.spec_from_file_location("command_pages", SCRIPT)
command_pages = importlib.util.module_from_spec(spec)
spec.loader.exec_module(command_pages)
NAMES = sorted(command_pages.program())


def test_the_pages_say_what_the_program_says():
    """If not: ``python scripts/command_pages.py --help-only``."""
    assert command_pages.stale() == []


@pytest.mark.parametrize("name", NAMES)
def test_every_command_has_an_example_with_its_output(name):
    """If not: add it to ``scripts/command_examples.py`` and call ``python scripts/command_pages.py --write NAME``."""
    text = command_pages.examples_part((command_pages.PAGES / f"{name}.md").read_text(encoding="utf-8"))
    shown = re.findall(r"^\$ (.*)\n(?!```)", text, re.M)
    lines = [re.escape(line) for _, line in command_pages.EXAMPLES[name]]
    assert len(shown) == len(lines) > 0
    for line, wanted in zip(shown, lines, strict=True):
        assert re.fullmatch(re.sub(r"\\\{\w+\\\}", r"\\S+", wanted), line)


def test_no_example_belongs_to_a_command_that_is_gone():
    assert set(command_pages.EXAMPLES) == set(NAMES)


def test_a_page_that_is_missing_or_says_something_else_is_stale(tmp_path):
    (tmp_path / "run.md").write_text("# nematodebench run\n")
    (tmp_path / "gone.md").write_text("# nematodebench gone\n")
    assert {"run.md", "gone.md", "README.md", "tasks.md"} <= set(command_pages.stale(tmp_path))
