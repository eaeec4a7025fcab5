"""Figures: what they show comes from the stored results, and the same results give the same bytes."""

import csv
import io
import json
import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import nematodebench as nb
from nematodebench.errors import UsageError
from nematodebench.figures.comparing import _name_places, _profile_chart
from nematodebench.figures.kinds import KINDS, all_figures, figure_of
from nematodebench.figures.render import page_svg, png, svg, written
from nematodebench.figures.samples import distinct
from nematodebench.figures.searching import search_history, search_importances
from nematodebench.figures.sources import Sources, open_sources
from nematodebench.figures.style import LIGHT, LINE_ROLES, SERIES, series_colours
from nematodebench.figures.transfer import transfer_matrix
from nematodebench.records.store import load_experiment

OF_SESSIONS = ["curves", "scores", "runs", "composite", "profiles", "improvement"]
HOSTILE = '<script>alert(1)</script>" onload="alert(2)'


@pytest.fixture(scope="module")
def sources(stored):
    return open_sources([stored])


@pytest.mark.parametrize("kind", ["scores", "improvement"])
def test_same_results_same_bytes(stored, kind):
    first, second = (figure_of(kind, open_sources([stored])) for _ in range(2))
    for form in ("svg", "png", "csv", "json"):
        assert written(first, form) == written(second, form)


@pytest.mark.parametrize("kind", OF_SESSIONS)
def test_every_kind_draws_marks(sources, kind):
    figure = figure_of(kind, sources)
    drawn = svg(figure)
    assert drawn.startswith("<svg") and "q_table" in drawn
    assert any(mark in drawn for mark in ("mark-symbol", "mark-line", "mark-rect")), "no marks: the data got lost"
    assert figure.caption and json.loads(figure.json())["data"]["values"] == list(figure.rows)


def test_scores_are_those_of_the_session(sources, stored):
    rows = [row for row in figure_of("scores", sources).rows if row["what"] == "score"]
    records = {r.brain: r for r in (load_experiment(path) for path in stored.iterdir())}
    for row in rows:
        values = [run.metrics["composite_score"] for run in records[row["brain"]].runs]
        anchors = next(sample.anchors for sample in sources.samples)
        share = (np.mean(values) - anchors.floor.value) / (anchors.ceiling.value - anchors.floor.value)
        assert row["value"] == pytest.approx(share, abs=1e-6)


def test_curves_are_means_of_the_last_episodes(sources, stored):
    import polars as pl

    figure = figure_of("curves", sources)
    folder = next(path for path in stored.iterdir() if load_experiment(path).brain == "q_table")
    frame = pl.read_parquet(folder / "episodes.parquet").filter((pl.col("phase") == "train") & (pl.col("run") == 1))
    mine = [r for r in figure.rows if r["what"] == "run" and r["brain"] == "q_table" and r["run"] == 1]
    assert mine[-1]["x"] == 40
    assert mine[-1]["value"] == pytest.approx(frame["success"].to_numpy()[-8:].mean())


def test_the_parts_of_the_composite_add_up(sources):
    rows = figure_of("composite", sources).rows
    for sample in sources.samples:
        added = sum(row["value"] for row in rows if row["brain"] == sample.label)
        assert added == pytest.approx(sample.score.mean, abs=1e-5)


def test_improvement_is_symmetric(sources):
    rows = {(row["row"], row["column"]): row["value"] for row in figure_of("improvement", sources).rows}
    assert rows["q_table", "null_random"] + rows["null_random", "q_table"] == pytest.approx(1.0)


def test_csv_has_the_rows(sources):
    figure = figure_of("scores", sources)
    assert len(list(csv.DictReader(io.StringIO(figure.csv())))) == len(figure.rows)


def test_png_is_one(sources):
    assert png(figure_of("scores", sources)).startswith(b"\x89PNG")


def test_page_form_follows_light_and_dark_and_has_a_name(sources):
    drawn = page_svg(figure_of("scores", sources), "f1")
    assert "var(--series-0" in drawn and 'aria-labelledby="f1-title"' in drawn and "Liberation" not in drawn


def test_names_from_outside_stay_text(sources):
    from dataclasses import replace

    named = Sources([replace(sources.samples[0], label=HOSTILE), sources.samples[1]])
    for kind in ("scores", "curves", "improvement"):
        elements = list(ElementTree.fromstring(page_svg(figure_of(kind, named), "f1")).iter())
        assert not any(element.tag.endswith("script") for element in elements)
        assert not any(name.startswith("on") for element in elements for name in element.attrib)
        assert any((element.text or "").startswith("<script>alert(1)<") for element in elements)


def test_sessions_of_one_brain_get_names_of_their_own(sources):
    labels = [sample.label for sample in distinct([sources.samples[0]] * 2 + [sources.samples[1]])]
    assert len(set(labels)) == 3


def test_chance_is_grey_and_learners_are_not():
    colours = series_colours(["null_random", "mlp_ppo"])
    assert colours == {"null_random": LINE_ROLES["null"], "mlp_ppo": SERIES[0]}
    assert LINE_ROLES["null"] not in SERIES


def cell(mean):
    return {"mean": mean, "ci95": [mean - 0.1, float("nan")]}


def test_transfer_rows_and_unknown_intervals():
    report = {"brain": "b", "runs": 1, "environments": {"x": {}, "y": {}},
              "transfer": {"matrix": [[cell(0.5), cell(0.1)], [cell(0.4), cell(0.9)]]}}  # fmt: skip
    figure = transfer_matrix(report)
    assert [(row["after"], row["on"], row["value"]) for row in figure.rows][2] == ("y", "x", 0.4)
    assert figure.rows[0]["high"] is None and "NaN" not in figure.json()
    with pytest.raises(UsageError, match="test-episodes"):
        transfer_matrix({**report, "transfer": None})


def test_search_history_keeps_the_best_so_far():
    score = {"mean": 1.0, "ci95": [0.5, 1.5]}
    trials = [{"number": k, "state": s, "value": v} for k, (s, v) in
              enumerate([("complete", 1.0), ("pruned", 9.0), ("complete", 0.5), ("complete", 2.0)])]  # fmt: skip
    result = {"brain": "b", "task": "t", "score": "reward", "verdict": "none", "history": trials,
              "champion_score": score, "default_score": score, "importances": {"rate": 1.0}}  # fmt: skip
    best = [row["best"] for row in search_history(result).rows if row["what"] == "trial"]
    assert best == [1.0, 1.0, 2.0]
    assert search_importances(result).rows[0]["parameter"] == "rate"
    with pytest.raises(UsageError, match="list of its trials"):
        search_history({**result, "history": []})


def test_what_cannot_be_drawn_is_said(sources):
    with pytest.raises(UsageError, match="does not exist"):
        figure_of("curvs", sources)
    with pytest.raises(UsageError, match="needs the folder of a search"):
        figure_of("search", sources)
    with pytest.raises(UsageError, match="There is no experiment"):
        open_sources([Path("nowhere")])


def test_everything_that_sessions_have(sources):
    assert {figure.kind for figure in all_figures(sources)} == set(OF_SESSIONS) - {"scores"}
    assert set(OF_SESSIONS) < set(KINDS)


def test_folders_of_folders_of_sessions_are_read(tmp_path):
    for name in ("one", "other"):
        nb.run("association-v2", "null_random", runs=2, seed=3).save(tmp_path / name)
    assert len(open_sources([tmp_path]).samples) == 2


def test_names_of_profiles_stand_clear_of_curves_and_of_each_other():
    shares = {"low": [1.0] * 20 + [0.1] * 61 + [0.0] * 20, "high": [1.0] * 60 + [0.1] * 21 + [0.0] * 20}
    rows = [{"brain": name, "x": k / 100, "value": v} for name, line in shares.items() for k, v in enumerate(line)]
    places = _name_places(rows)
    assert set(places) == {"low", "high"} and len(set(places.values())) == 2
    for x, height in places.values():
        crossed = [line[round(100 * x)] for line in shares.values()]
        assert all(abs(value - height) > 0.02 for value in crossed)


def test_where_a_name_has_no_free_place_a_legend_names_all():
    shares = {"null_random": [0.2] * 2 + [0.0] * 99, "table": [1.0] * 8 + [0.4] * 3 + [0.0] * 90}
    rows = [{"brain": name, "x": k / 100, "value": v} for name, line in shares.items() for k, v in enumerate(line)]
    assert _name_places(rows) == {}
    drawn = _profile_chart(list(shares), {}).to_dict()
    assert [one["encoding"]["color"].get("legend", {}) is not None for one in drawn["layer"]] == [True]


def test_a_file_names_fonts_that_every_system_has_and_a_page_none(sources):
    figure = figure_of("scores", sources)
    fonts = set(re.findall(r'font-family="([^"]*)"', svg(figure)))
    assert fonts == {"Liberation Sans, Arial, Helvetica, sans-serif"}
    assert "font-family" not in page_svg(figure, "one")


def test_names_of_lines_are_not_in_their_pale_colours(sources):
    pale = {LIGHT["roles"][role] for role in ("reference", "blind")}
    for kind in ("scores", "runs"):
        drawn = ElementTree.fromstring(svg(figure_of(kind, sources)))
        words = {one.text: one.get("fill") for one in drawn.iter() if one.tag.endswith("text")}
        assert {"blind", "reference"} <= set(words) and not pale & set(words.values())


def test_ends_of_intervals_of_shares_are_shares():
    cell = {"mean": 0.9, "ci95": [-0.2, 1.4]}
    report = {"brain": "b", "runs": 4, "environments": {"a": {}}, "transfer": {"matrix": [[cell]]}}
    (row,) = transfer_matrix(report).rows
    assert (row["low"], row["high"]) == (0.0, 1.0)
