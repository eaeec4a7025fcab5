"""Two stored sessions of one task, made once."""

import pytest

import nematodebench as nb


@pytest.fixture(scope="session")
def stored(tmp_path_factory):
    """A folder with a session of a learner and one of chance, paired by seed."""
    root = tmp_path_factory.mktemp("experiments")
    for brain in ("q_table", "null_random"):
        nb.run("foraging_small-v2", brain, runs=4, episodes=40, seed=3).save(root)
    return root
