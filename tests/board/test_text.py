"""Text of others inside Markdown."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nematodebench.board.text import code, escape, link, table

# How long an example takes says nothing about the text.
_REFERENCE = re.compile(r"&#[0-9]+;")


@given(st.text())
def test_no_character_that_structures_markdown_or_html_is_left(text):
    rest = _REFERENCE.sub("", escape(text))
    assert not set(rest) & set('|<>`*_[]{}\\#~!&@"$=+^/:;?%\n\r\t')


@given(st.text())
def test_the_text_stays_on_one_line(text):
    assert len(escape(text).splitlines()) <= 1


@given(st.text())
def test_a_table_row_keeps_its_number_of_cells(text):
    line = table(("a", "b"), [[escape(text), code(text)]])[-1]
    assert line.count("|") == 3


@pytest.mark.parametrize("name", ["Ada Lovelace", "J. O'Neil", "Müller-Lüdenscheidt", "李明"])
def test_ordinary_names_stay_readable(name):
    assert escape(name) == name


def test_an_address_is_not_turned_into_a_link():
    assert "www." not in escape("www.example.org")
    assert "://" not in escape("https://example.org")


def test_invisible_characters_become_spaces():
    assert escape("a\u202eb\u200bc\x00d") == "a b c d"


def test_a_plain_name_is_code_and_any_other_is_not():
    assert code("mlp_ppo") == "`mlp_ppo`"
    assert "`" not in code("x` y")


def test_a_link_target_cannot_end_the_link_early():
    assert link("data", "a) [b](c d.json") == "[data](a%29%20%5Bb%5D%28c%20d.json)"
