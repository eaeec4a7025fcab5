"""The folder of a site is written again, whatever became of its list of pages, and nobody else loses anything."""

import pytest

from nematodebench.cli.site import _MARK, _write
from nematodebench.errors import UsageError

PAGES = {"index.html": b"new", "tasks/a.html": b"a"}


@pytest.mark.parametrize(
    "mark",
    [
        b"",
        b"\xff\xfe\n",
        b"index.html\n\0\n",
        b"\n\n",
        b"tasks\nkept\n",
        b"../own.txt\n",
        b"index.html\r\nold.html\x1b[0m\n",
    ],
)
def test_a_damaged_list_of_pages_is_replaced(tmp_path, mark, capsys):
    output = tmp_path / "pages"
    (output / "kept").mkdir(parents=True)
    (tmp_path / "own.txt").write_text("own")
    (output / _MARK).write_bytes(mark)
    _write(output, PAGES)
    assert {name: (output / name).read_bytes() for name in PAGES} == PAGES
    assert (output / _MARK).read_text().splitlines() == list(PAGES)
    assert (tmp_path / "own.txt").read_text() == "own" and (output / "kept").is_dir()
    capsys.readouterr()


def test_a_page_that_is_no_more_is_removed_and_no_other_file(tmp_path, capsys):
    output = tmp_path / "pages"
    _write(output, {**PAGES, "old.html": b"old"})
    (output / "mine.txt").write_text("mine")
    _write(output, PAGES)
    found = {path.relative_to(output).as_posix() for path in output.rglob("*") if path.is_file()}
    assert found == {*PAGES, _MARK, "mine.txt"}
    capsys.readouterr()


def test_a_folder_of_somebody_else_is_refused(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(UsageError, match="is not empty and no site of ours"):
        _write(tmp_path, PAGES)
