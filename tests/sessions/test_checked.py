"""``report`` and ``compare`` believe no number that the episodes do not give."""

import json

import pytest

import nematodebench as nb
from nematodebench.errors import UsageError
from nematodebench.figures.sources import open_sources
from nematodebench.sessions.checked import load_checked


@pytest.fixture
def stored(tmp_path):
    session = nb.run("foraging_small-v1", "gradient_follower", runs=3, episodes=4, seed=1, workers=1)
    folder = session.save(tmp_path)
    return folder / f"{folder.name}.json"


def test_a_session_as_it_was_stored_is_believed(stored):
    assert load_checked(stored) == load_checked(stored.parent)


def _edit(path, change):
    record = json.loads(path.read_text())
    change(record)
    path.write_text(json.dumps(record))


EDITS = {
    "success_rate of run 1": lambda record: record["runs"][1]["metrics"].update(success_rate=0.123),
    "the hash of run 2": lambda record: record["runs"][2].update(record_hash="0" * 64),
    "4 runs": lambda record: record.update(num_runs=4),
    "the seed of run 1": lambda record: record["runs"][1].update(seed=3),
    "the level 'Excellent'": lambda record: record.update(level="Excellent"),
    "the mean of composite_score": lambda record: record["metrics"]["composite_score"].update(mean=0.99),
}


@pytest.mark.parametrize("wrong", EDITS)
def test_an_edited_record_is_refused_by_what_was_edited(stored, wrong):
    _edit(stored, EDITS[wrong])
    with pytest.raises(UsageError, match=f"was edited or damaged: its episodes do not give {wrong}"):
        load_checked(stored)


def test_a_record_without_episodes_is_shown_with_a_word(stored, monkeypatch):
    told = []
    monkeypatch.setattr("nematodebench.sessions.checked.tell", told.append)
    (stored.parent / "episodes.parquet").unlink()
    assert load_checked(stored).num_runs == 3
    assert "has no episodes beside it" in told[0]


@pytest.mark.parametrize("wrong", EDITS)
def test_figures_and_pages_believe_no_edited_record_either(stored, wrong):
    assert open_sources([stored.parent.parent]).samples[0].runs == 3
    _edit(stored, EDITS[wrong])
    with pytest.raises(UsageError, match=f"was edited or damaged: its episodes do not give {wrong}"):
        open_sources([stored.parent])
