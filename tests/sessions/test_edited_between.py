"""Sweeps, searches and scores go on with the same brain only, with what it imports and what it reads."""

import hashlib
import sys

import pytest

from nematodebench.brains.registry import get_brain
from nematodebench.cli.search import _labels
from nematodebench.edits import changed_data, one_state, refuse_edits, remember
from nematodebench.errors import EditedError, UsageError
from nematodebench.notices import listening
from nematodebench.policies.frozen import FrozenPolicy
from nematodebench.records.store import load_experiment
from nematodebench.search.study import _refuse_another
from nematodebench.search.target import BrainTarget
from nematodebench.sessions.begun import begun_with, decided_by, refuse_changes
from nematodebench.sessions.config import SessionConfig
from nematodebench.sessions.execution import resume, run_plan
from nematodebench.sessions.loading import load_session
from nematodebench.sessions.plan import make_plan
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


SELF_EDITING = """
import os
from pathlib import Path

HERE = Path(__file__)
VALUE = 0


class Mine:
    def __init__(self, observation_space, action_space, config, seed):
        if not HERE.with_suffix(".done").exists():
            HERE.with_suffix(".done").touch()
            HERE.write_text(HERE.read_text().replace("VALUE = 0", "VALUE = 1"))
            {then}

    def begin_episode(self): ...

    def act(self, observation):
        return VALUE

    def learn(self, transition): ...
"""
"""It stands for a user who edits the brain's file while the first run goes on."""
GIVEN = SessionConfig(task=TASK, brain="edits_itself.py:Mine", runs=4, episodes=2, seed=3)


@pytest.fixture
def editing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield tmp_path / "edits_itself.py"
    sys.modules.pop("edits_itself", None)


def test_a_worker_that_begins_after_an_edit_does_not_mix_two_brains(editing):
    """A run whose process dies is tried again in another one, which would import the edited file."""
    editing.write_text(first := SELF_EDITING.format(then="os._exit(3)"))
    with pytest.raises(EditedError, match=r"edits_itself\.py was edited .* To go on then: nematodebench run --resume"):
        run_plan(make_plan(GIVEN, workers=2), root=editing.parent / "kept")
    editing.write_text(first)
    sys.modules.pop("edits_itself")
    (place,) = (editing.parent / "kept").iterdir()
    assert len({run.record_hash for run in resume(place.name, place.parent).runs}) == 4


def test_a_record_names_the_brain_that_was_executed_and_not_the_edited_one(editing):
    editing.write_text(SELF_EDITING.format(then="pass"))
    wanted = hashlib.sha256(editing.read_bytes()).hexdigest()
    record = run_plan(make_plan(GIVEN, workers=1)).metadata()
    assert editing.read_text().count("VALUE = 1") and record.brain_source_hash == wanted
    assert record.provenance.brain_dirty
    place = run_plan(make_plan(GIVEN, workers=1)).save(editing.parent / "kept")
    editing.write_text("# another one\n" + editing.read_text())
    assert load_session(place, trust_code=True).metadata().brain_source_hash != wanted
    assert load_session(place, trust_code=True).plan.brain_sha256 == load_experiment(place).brain_source_hash


def test_the_second_session_of_a_command_has_the_brain_of_the_first(place):
    given = GIVEN.model_copy(update={"brain": "brain_between.py:Mine", "runs": 1})
    with one_state():
        plans = [make_plan(given.model_copy(update={"seed": seed}), workers=1) for seed in (1, 2)]
        run_plan(plans[0])
        edit(place / "helper_between.py")
        with pytest.raises(EditedError, match=r"helper_between\.py was edited"):
            run_plan(plans[1], root=place / "kept")
    assert not (place / "kept").exists()
    run_plan(make_plan(given, workers=1))  # another command reads what is there by then


def test_a_module_that_a_run_may_have_imported_late_is_told_from_one_that_is_loaded(place):
    with one_state():
        remember([place / name for name in FILES])
        refuse_edits()
        (place / "brain_between.py").touch()  # written again as it was
        refuse_edits()
        edit(place / "brain_between.py")
        with pytest.raises(EditedError):
            refuse_edits(loaded=False)
        get_brain("brain_between.py:Mine")
        refuse_edits(loaded=False)
        with pytest.raises(EditedError):
            refuse_edits()
        assert changed_data() == []
        edit(place / "weights_between.txt")
        assert changed_data() == ["weights_between.txt"]
    refuse_edits()


def test_data_that_change_while_runs_read_them_are_told(place):
    told = []
    given = GIVEN.model_copy(update={"brain": "brain_between.py:Mine", "runs": 1})
    plan = make_plan(given, workers=1, executor="threads")
    with listening(told.append), one_state():
        remember([place / "weights_between.txt"])
        edit(place / "weights_between.txt")
        (place / "weights_between.txt").write_text("")
        run_plan(plan)
    assert [line for line in told if "weights_between.txt was written while" in line]
