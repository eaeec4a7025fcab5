"""The documents say what is true: examples run, commands exist, links lead somewhere, the board is current."""

import doctest
import re
from pathlib import Path

import pytest
from command_lines import check, commands_in

from nematodebench.board.collect import collect
from nematodebench.board.files import current_files, stale_files

ROOT = Path(__file__).parents[1]
PAGES = sorted([*(ROOT / "docs").rglob("*.md"), ROOT / "BENCHMARKS.md", ROOT / "README.md", ROOT / "CONTRIBUTING.md"])
NAMES = [page.relative_to(ROOT).as_posix() for page in PAGES]


def text(name):
    return (ROOT / name).read_text(encoding="utf-8")


def commands(name):
    """Lines after a prompt, and code that begins with the program's name."""
    content = text(name)
    lines = re.findall(r"^\$ (.*)$", content, re.M) + re.findall(r"`(nematodebench [^`]+)`", content)
    return [command for line in lines for command in commands_in(line)]


def links(name):
    return re.findall(r"\]\(([^)\s]+)\)", re.sub(r"```.*?```", "", text(name), flags=re.S))


def anchors(path):
    """Names of the places a link can lead to, as GitHub makes them from headings."""
    headings = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("name", NAMES)
def test_examples_give_what_is_printed(name):
    example = doctest.DocTestParser().get_doctest(text(name), {}, name, name, 0)
    report = []
    doctest.DocTestRunner(verbose=False).run(example, out=report.append)
    assert not report, "".join(report)


@pytest.mark.parametrize("name", ["docs/nematodebench/EVALUATION.md", "docs/nematodebench/REPRODUCIBILITY.md"])
def test_there_are_examples(name):
    assert ">>> " in text(name)


@pytest.mark.parametrize(("name", "command"), [(name, command) for name in NAMES for command in commands(name)])
def test_every_command_exists_with_its_flags(name, command):
    check(command)


def test_a_flag_that_does_not_exist_would_be_noticed():
    with pytest.raises(AssertionError, match="--reprodduce"):
        check("nematodebench evaluate FILE --reprodduce 3")
    with pytest.raises(AssertionError, match="no command"):
        check("nematodebench leaderboard")


@pytest.mark.parametrize(("name", "link"), [(name, link) for name in NAMES for link in links(name)])
def test_every_link_leads_somewhere(name, link):
    if "://" in link:
        return
    path, _, place = link.partition("#")
    target = (ROOT / name).parent / path if path else ROOT / name
    assert target.exists(), f"{name}: {link}"
    assert not place or place in anchors(target), f"{name}: {link}"


def test_every_section_that_code_refers_to_exists():
    wanted = {
        section
        for path in (ROOT / "src").rglob("*.py")
        for section in re.findall(r"\(EVALUATION\.md, ([a-z ]+)\)", path.read_text(encoding="utf-8"))
    }
    headings = re.findall(r"^## (.*)$", text("docs/nematodebench/EVALUATION.md"), re.M)
    assert wanted
    assert wanted <= {heading.lower() for heading in headings}


@pytest.mark.skipif(not (ROOT / "benchmarks").is_dir(), reason="nothing is published in this tree")
def test_the_published_board_is_current_and_everything_on_it_passes():
    found = collect(ROOT)
    assert found.rejected == []
    assert stale_files(ROOT, current_files(ROOT, found)) == []
