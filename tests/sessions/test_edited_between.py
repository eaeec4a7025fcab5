"""Sweeps, searches and scores go on with the same brain only, with what it imports and what it reads."""

import sys

import pytest

from nematodebench.brains.registry import get_brain
from nematodebench.cli.search import _labels
from nematodebench.errors import UsageError
from nematodebench.policies.frozen import FrozenPolicy
from nematodebench.search.study import _refuse_another
from nematodebench.search.target import BrainTarget
from nematodebench.sessions.begun import begun_with, decided_by, refuse_changes
from nematodebench.sessions.sweep import make_cells
from nematodebench.tasks.registry import get_task

TASK = "foraging_small-v1"
BRAIN = """
class Mine:
    def __init__(self, observation_space, action_space, config, seed): ...

    def begin_episode(self): ...

    def act(self, observation):
        import helper_between
        return helper_between.VALUE + len(open("weights_between.txt").read())

    def learn(self, transition): ...
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with a brain, a module that it imports late, and a file that it reads."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "brain_between.py").write_text(BRAIN)
    (tmp_path / "helper_between.py").write_text("VALUE = 0\n")
    (tmp_path / "weights_between.txt").write_text("")
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield tmp_path
    for module in ("brain_between", "helper_between", "rule_between"):
        sys.modules.pop(module, None)


FILES = ("brain_between.py", "helper_between.py", "weights_between.txt")


def edit(path):
    path.write_text(path.read_text() + "\n# edited\n")


@pytest.mark.parametrize("name", FILES)
def test_a_sweep_runs_cells_of_an_edited_brain_again(place, name):
    def key():
        (cell,) = make_cells([TASK], ["brain_between.py:Mine"], {}, 2, 3, 1)
        return cell.key

    before = key()
    assert key() == before
    edit(place / name)
    assert key() != before


def target(brain):
    """What a search improves; nothing is compiled for it."""
    return BrainTarget(get_task(TASK), brain, get_brain(brain), {}, 1, "threads")


@pytest.mark.parametrize("name", FILES)
def test_a_search_does_not_go_on_with_an_edited_brain(place, name):
    def labels():
        return _labels(target("brain_between.py:Mine"))

    before = labels()
    _refuse_another("mine", labels(), before)
    edit(place / name)
    with pytest.raises(UsageError, match="was begun with another brain_files"):
        _refuse_another("mine", labels(), before)


def test_a_search_does_not_go_on_with_other_code_or_libraries(place, monkeypatch):
    before = _labels(target("q_table"))
    assert before["brain_files"] == []
    for name in ("source_hash", "_version"):
        with monkeypatch.context() as patch:
            patch.setattr(f"nematodebench.sessions.begun.{name}", lambda *given: "another")
            with pytest.raises(UsageError, match="another package" if name == "source_hash" else "another libraries"):
                _refuse_another("mine", _labels(target("q_table")), before)


class Scored:
    """A plan of a policy that is a function in a file."""

    brain = FrozenPolicy
    config_text = "brain: frozen_policy\nconfig: {policy: 'rule_between.py:choose'}\n"


@pytest.mark.parametrize("name", ["rule_between.py", "helper_between.py"])
def test_a_score_does_not_go_on_with_an_edited_function(place, name):
    (place / "rule_between.py").write_text("def choose(observation):\n    import helper_between\n    return 0\n")
    begun = begun_with(Scored)
    refuse_changes("It", begun, Scored)
    assert len(decided_by(Scored)["brain_files"]) == 2
    edit(place / name)
    with pytest.raises(UsageError, match=f"the brain's file {name} changed since"):
        refuse_changes("It", begun, Scored)
