"""Brains that are run together meet the same worlds."""

import json

import pytest
from typer.testing import CliRunner

from nematodebench.cli import build


def seeds(*words):
    done = CliRunner().invoke(build(), ["run", "pattern_memory_easy-v2", *words, "--dry-run", "--json"])
    assert done.exit_code == 0, done.output
    return [plan["seed"] for plan in json.loads(done.stdout)]


@pytest.mark.parametrize("sessions", [1, 3])
def test_brains_share_the_seeds_that_are_drawn(sessions):
    found = seeds("null_random", "q_table", "--sessions", str(sessions))
    assert found[:sessions] == found[sessions:]
    assert len(set(found)) == sessions


def test_a_given_seed_counts_up_for_every_brain():
    assert seeds("null_random", "q_table", "--sessions", "2", "--seed", "7") == [7, 8, 7, 8]


def test_one_brains_sessions_have_seeds_of_their_own():
    assert len(set(seeds("null_random", "--sessions", "3"))) == 3
