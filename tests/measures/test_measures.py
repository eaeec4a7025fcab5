"""Kinds of scores: what each computes from episodes, and what it says of its columns."""

import pickle

import numpy as np
import pytest

from nematodebench.measures.anchored import ANCHORED
from nematodebench.measures.base import Episodes, Measure, Measurement, rows_of
from nematodebench.measures.chemotaxis import CHEMOTAXIS
from nematodebench.measures.composite import COMPOSITE
from nematodebench.measures.descriptive import DESCRIPTIVE
from nematodebench.tasks.registry import all_tasks, get_task

every_measure = pytest.mark.parametrize("measure", [COMPOSITE, CHEMOTAXIS, ANCHORED, DESCRIPTIVE], ids=lambda m: m.name)
FORAGING = ("reward", "steps", "terminated", "truncated", "success", "foods", "optimal", "travelled")


def foraging_run(successes):
    """Episodes that reach the target of ten foods after ten steps, or eat nothing for twenty."""
    rows = [(1.0, 10, 1, 0, 1, 10, 4.0, 8.0) if good else (0.0, 20, 1, 0, 0, 0, 0.0, 0.0) for good in successes]
    return np.array(rows, dtype=float)


def plate(*zones):
    return Episodes(("reward", "zone", "distance"), [np.array([[0.0, zone, 3.0]]) for zone in zones])


def test_columns_become_one_mapping_a_run():
    assert rows_of({"a": [1, None], "b": np.array([2.0, 3.0])}) == [{"a": 1.0, "b": 2.0}, {"a": None, "b": 3.0}]


def test_a_column_is_one_row_a_run():
    episodes = Episodes(FORAGING, [foraging_run([1, 0]), foraging_run([1, 1])])
    assert episodes.column("foods").tolist() == [[10.0, 0.0], [10.0, 10.0]]


def test_composite_measures_runs_and_session():
    found = COMPOSITE.measure(Episodes(FORAGING, [foraging_run([1] * 40), foraging_run([1] * 40)]), None)
    first = found.runs[0]
    assert (first["success_rate"], first["distance_efficiency"], first["learning_speed"]) == (1.0, 0.5, 0.5)
    assert first["composite_score"] == pytest.approx(0.4 + 0.3 * 0.5 + 0.2 * 0.5 + 0.1)
    assert first["assay_zone"] is None
    assert found.chemotaxis is None
    assert found.session["stability"].mean == 1.0
    assert COMPOSITE.level(found.session["composite_score"].mean) == "Good"


def test_composite_counts_worms_on_the_plate():
    scored = Episodes(FORAGING, [foraging_run([1] * 40)] * 3)
    found = COMPOSITE.measure(scored, plate(1.0, 1.0, -1.0))
    assert (found.chemotaxis.attractant, found.chemotaxis.control, found.chemotaxis.total) == (2, 1, 3)
    assert [run["assay_zone"] for run in found.runs] == [1.0, 1.0, -1.0]


def test_composite_finds_a_success_that_did_not_happen():
    world = get_task("foraging_small-v1").world
    honest = foraging_run([1, 0, 1])
    assert COMPOSITE.contradiction(Episodes(FORAGING, [honest]), world) is None
    forged = honest.copy()
    forged[1, FORAGING.index("success")] = 1.0
    found = COMPOSITE.contradiction(Episodes(FORAGING, [forged]), world)
    assert found == "episode 1: success does not follow from foods and end"


def test_chemotaxis_scores_where_worms_end():
    assay = plate(1.0, 0.0)
    found = CHEMOTAXIS.measure(assay, assay)
    assert found.session["chemotaxis_index"].mean == found.chemotaxis.index == 0.5
    assert CHEMOTAXIS.descriptors(found.session, "chemotaxis_index") == ["end_distance"]


@pytest.mark.parametrize("measure", [ANCHORED, DESCRIPTIVE], ids=lambda m: m.name)
def test_means_of_every_metric_but_the_bookkeeping(measure):
    rows = np.array([[1.0, 5, 1, 0, 0.25], [3.0, 7, 0, 1, 0.75]])
    found = measure.measure(Episodes(("reward", "steps", "terminated", "truncated", "hit_rate"), [rows]), None)
    assert found.runs == [{"reward": 2.0, "hit_rate": 0.5}]


def test_a_gate_is_shown_by_its_name_and_is_no_descriptor():
    metrics = ("reward", "lock", "gate", "ungated", "period")
    assert ANCHORED.columns(metrics, "amplitude") == {"gate": "gate (amplitude)", "ungated": "ungated"}
    assert ANCHORED.columns(("reward", "lock"), "") == {}
    assert ANCHORED.descriptors(metrics, "lock") == ["period"]


def test_only_the_composite_has_levels_and_only_descriptive_tasks_lack_a_score():
    measures = (COMPOSITE, CHEMOTAXIS, ANCHORED, DESCRIPTIVE)
    assert [measure.name for measure in measures if measure.has_levels] == ["composite"]
    assert [measure.name for measure in measures if not measure.has_score] == ["descriptive"]
    assert ANCHORED.level(0.9) is None


@every_measure
def test_a_measure_survives_the_way_to_another_process(measure):
    assert pickle.loads(pickle.dumps(measure)) == measure


@every_measure
def test_every_measure_is_used(measure):
    assert any(task.scoring == measure for task in all_tasks().values())


def test_tasks_have_a_score_key_where_their_measure_has_a_score():
    assert all(bool(task.score_key) == task.scoring.has_score for task in all_tasks().values())


def test_a_measure_of_ones_own_needs_nothing_but_its_name_and_its_computation():
    class Best(Measure):
        name = "best"

        def measure(self, scored, assay):
            return Measurement(rows_of({"best": scored.column("reward").max(axis=1)}), {})

    own = Best()
    found = own.measure(Episodes(("reward",), [np.array([[1.0], [4.0]])]), None)
    assert found.runs == [{"best": 4.0}]
    assert (own.level(4.0), own.columns({}, "")) == (None, {})
