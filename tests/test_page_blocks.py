"""Every code block of the documents is executed: Python page by page, commands in a folder of their own."""

import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
spec = importlib.util.spec_from_file_location("page_blocks", ROOT / "scripts" / "page_blocks.py")
page_blocks = importlib.util.module_from_spec(spec)
sys.modules["page_blocks"] = page_blocks
spec.loader.exec_module(page_blocks)

WRITTEN_BY_SCRIPTS = ("docs/commands/",)  # scripts/command_pages.py executes them all while it writes
TEXTS = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for path in [*sorted((ROOT / "docs").rglob("*.md")), *(ROOT / name for name in ("README.md", "BENCHMARKS.md"))]
}
NAMES = [name for name in TEXTS if not name.startswith(WRITTEN_BY_SCRIPTS)]


def to_execute(name, language):
    """Blocks of this language that no other test executes."""
    if page_blocks.page_note(TEXTS[name]):
        return []
    return [b for b in page_blocks.blocks(TEXTS[name]) if b.language == language and not b.left_out]


def plain_python(name):
    return [block for block in to_execute(name, "python") if ">>> " not in block.code]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder with the examples, as a reader would have it."""
    monkeypatch.chdir(tmp_path)
    page_blocks.furnish(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", [name for name in NAMES if plain_python(name)])
def test_the_python_of_a_page_is_executed_from_top_to_bottom(name, folder, monkeypatch):
    monkeypatch.syspath_prepend(str(folder))
    before = set(sys.modules)
    page_blocks.write_files(TEXTS[name], folder)
    scope = {"__name__": "page"}
    try:
        for number, block in enumerate(plain_python(name)):
            exec(compile(block.code, f"{name}, block {number + 1}", "exec"), scope)
    finally:
        for module in set(sys.modules) - before:
            if str(getattr(sys.modules[module], "__file__", None) or "").startswith(str(folder)):
                del sys.modules[module]


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in NAMES if to_execute(name, "console")])
def test_the_commands_of_a_page_print_what_it_shows(name, folder):
    page_blocks.write_files(TEXTS[name], folder)
    for block in to_execute(name, "console"):
        for command in page_blocks.commands(block):
            code, output = page_blocks.shell(command.line, folder)
            assert code == 0 or command.shown, f"{command.line}: exit code {code}\n{output}"
            assert page_blocks.agree(command.shown, output), f"{command.line}\n{output}"


@pytest.mark.parametrize("name", NAMES)
def test_every_block_says_what_it_is(name):
    """A block without a language is a picture in letters or a file's content, never code or a command."""
    for block in page_blocks.blocks(TEXTS[name]):
        assert block.language in {"", "text", "python", "console", "yaml", "json", "bibtex"}, block.language
        if block.language in {"", "text"}:
            assert not block.code.startswith(("$ ", "nematodebench ", "import ", "make "))


@pytest.mark.parametrize("name", NAMES)
def test_what_another_test_executes_is_executed_there(name):
    notes = {page_blocks.page_note(TEXTS[name]), *(block.note for block in page_blocks.blocks(TEXTS[name]))}
    for test in (note.removeprefix("by ") for note in notes if note.startswith("by ")):
        assert Path(name).name in (ROOT / test).read_text(encoding="utf-8"), test


def test_blocks_are_found_with_their_comments():
    page = "# T\n\n<!-- file: a.py -->\n```python\nx = 1\n```\n\n```console\n$ echo a \\\n  b\na b\n$ true\n```\n"
    first, second = page_blocks.blocks(page)
    assert (first.file, first.code, second.note) == ("a.py", "x = 1\n", "")
    assert [(c.line, c.shown) for c in page_blocks.commands(second)] == [("echo a \\\n  b", "a b\n"), ("true", "")]


@pytest.mark.parametrize(
    ("shown", "output", "same"),
    [
        ("a\n[...]\nd", "a\nb\nc\nd\n", True),
        ("a\n[...]\nd", "a\nb\nc\n", False),
        ("0.5 in 1.2 s (3,000 steps/s)", "0.5 in 12 s (99 steps/s)", True),
        ("0.5 in 1.2 s", "0.6 in 1.2 s", False),
        ("| a    | b |", "| a | b |", True),
        ("", "anything", True),
    ],
)
def test_output_is_compared_but_for_what_differs_each_time(shown, output, same):
    assert page_blocks.agree(shown, output) == same


def test_outputs_are_renewed_where_they_are_asked_for_or_differ(tmp_path):
    page = "```console\n$ echo 1\n[?]\n$ echo 2\n2\n$ echo 3\n```\n"
    page += "\n<!-- recorded: why -->\n```console\n$ false\nno\n```\n"
    assert page_blocks.renewed(page, tmp_path) == page.replace("[?]", "1")
