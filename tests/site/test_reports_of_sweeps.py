"""Reports of sweeps, searches and continual runs say how each run is executed again, and sweeps show their runs."""

import json
import shlex
import sys
from dataclasses import replace

import polars as pl
import pytest

import nematodebench as nb
from nematodebench.cli import main
from nematodebench.errors import UsageError
from nematodebench.figures.samples import best_first, distinct
from nematodebench.figures.sources import open_sources
from nematodebench.site.origins import continual_origin, origin_of, search_origin
from nematodebench.site.report import _parameter, html_report, report_markdown


def told(words, capsys, monkeypatch):
    """What a command prints."""
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit) as end:
        main()
    assert not end.value.code
    return capsys.readouterr().out


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    """A sweep of two brains, one of them with two values of a parameter."""
    place = tmp_path_factory.mktemp("swept") / "a sweep"
    words = ["--tasks", "association-v2", "--brains", "q_table,null_random", "--grid", "q_table.gamma=0.5,0.95"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            sys, "argv", ["nematodebench", "sweep", *words, "--runs", "3", "--seed", "5", "--output", str(place)]
        )
        with pytest.raises(SystemExit) as end:
            main()
    assert not end.value.code
    return place


def test_the_command_of_a_run_of_a_sweep_executes_it(swept, capsys, monkeypatch):
    sample = next(one for one in open_sources([swept]).samples if one.cell.config.get("gamma") == 0.5)
    facts = origin_of(sample)
    run = facts["runs"][2]
    assert "--set gamma=0.5" in run[4] and "bins" not in run[4]
    again = json.loads(told([*shlex.split(run[4]), "--json"], capsys, monkeypatch))
    assert (again["run"], again["seed"]) == (run[0], run[1]) == (2, sample.cell.runs[2].seed)


def test_a_report_of_a_sweep_shows_its_runs(swept, page):
    report = swept.parent / "report.html"
    report.write_text(html_report(open_sources([swept])), encoding="utf-8")
    page.goto(report.as_uri())
    text = page.locator("body").inner_text()
    assert "A sweep keeps no episodes" in text and "provenance and the command of every run" in text
    assert page.locator("nb-run").count() == 0, "there is no hash to compare with"
    page.get_by_role("button", name="Watch the best, median and worst run").first.click()
    page.locator("nb-viewer .nb-gauges b").first.wait_for(timeout=60_000)


def test_the_commands_stand_in_markdown_too(swept):
    text = report_markdown(open_sources([swept]))
    assert "    nematodebench watch association-v2 --brain null_random --seed 5 --run 1\n" in text


def test_continual_runs_name_their_commands(continual):
    report = json.loads(continual.with_suffix(".json").read_text(encoding="utf-8"))
    (facts,) = continual_origin(report)
    assert facts["runs"][1][4] == (
        "nematodebench continual q_table --order association,gridworld --episodes association=4,gridworld=3 "
        "--test-episodes 2 --seed 5 --runs 2"
    )
    assert continual_origin({"brain": "q_table", "environments": {}}) == []


def test_a_search_names_the_command_of_its_champion():
    result = {"brain": "q_table", "task": "gridworld-v2", "sampler": "tpe", "seed": 0, "runs": 4, "held_out": 6}
    (facts,) = search_origin({**result, "place": "my search"})
    assert facts["commands"] == ["nematodebench run --config 'my search/best.yml'"]
    assert search_origin(result)[0]["commands"] == []


def test_parameters_of_a_champion_have_four_digits():
    assert [_parameter(value) for value in (0.04501000415078178, 762, True)] == ["0.04501", "762", "True"]


def test_labels_say_sweep_and_the_best_come_first(tmp_path):
    session = nb.run("association-v2", "q_table", runs=2, episodes=3, seed=1)
    session.save(tmp_path)
    one = open_sources([tmp_path]).samples[0]
    cell = replace(one, detail="", scores=replace(one.scores, values=one.scores.values - 50))
    assert [sample.label for sample in distinct([one, cell])] == ["q_table (seed 1)", "q_table (sweep)"]
    low = replace(cell, metrics={"reward": replace(one.metrics["reward"], mean=-99.0)})
    assert best_first([low, one]) == [one, low]


@pytest.mark.parametrize(
    "damage",
    [
        {"task": None}, {"seed": "north"}, {"seed": None}, {"config": "[" * 3000}, {"config": "x"}, {"config": None},
        {"session_seed": None}, {"run": None}, {"task": "levitation-v1"}, {"metric.reward": "much"}, {},
    ],
)  # fmt: skip
def test_what_is_no_table_of_a_sweep_is_told_in_a_line(swept, tmp_path, damage):
    frame = pl.read_parquet(swept / "sweep.parquet").with_columns(**{name: pl.lit(one) for name, one in damage.items()})
    (frame if damage else frame.drop("brain")).write_parquet(tmp_path / "sweep.parquet")
    with pytest.raises(UsageError) as error:
        html_report(open_sources([tmp_path]))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("report", [html_report, report_markdown])
@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("result.json", {"verdict": "x"}),
        ("result.json", {"verdict": "x", "champion": [], "search": 1, "brain": None}),
        ("continual.json", {"environments": {}, "profiles": []}),
        ("continual.json", {"environments": {"a": 1}, "profiles": 7, "brain": [], "runs": "many"}),
    ],
)
def test_what_is_no_search_or_continual_run_is_told_in_a_line(tmp_path, report, file, content):
    (tmp_path / file).write_text(json.dumps(content))
    with pytest.raises(UsageError, match=r"is not a (search's result|continual run's report)"):
        report(open_sources([tmp_path if file == "result.json" else tmp_path / file]))
