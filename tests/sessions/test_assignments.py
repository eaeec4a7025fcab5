"""What ``--set`` reads: numbers are numbers, what stands in quotes is a text, and nothing is given twice."""

import pytest

from nematodebench.errors import UsageError
from nematodebench.sessions.config import parse_assignments


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-3", 0.001),
        ("-.5E+2", -50.0),
        ("[1e-2, 3]", [0.01, 3]),
        ("{a: 1e-4}", {"a": 0.0001}),
        ('"5"', "5"),
        ('["1e3", x]', ["1e3", "x"]),
        ("null", None),
        ("true", True),
    ],
)
def test_values_are_what_they_look_like(text, value):
    assert parse_assignments([f"key={text}"]) == {"key": value}


def test_a_key_is_given_once():
    with pytest.raises(UsageError, match="--set gives 'rate' twice"):
        parse_assignments(["rate=1", "rate=2"])
