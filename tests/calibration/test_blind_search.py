"""The search for input-blind policies: what it plays, what it begins with, recipes that may beat it."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from nematodebench.brains.scripted.blind_cycle import BlindCycle, BlindCycleConfig
from nematodebench.calibration import blind
from nematodebench.calibration.anchors import measure_blind, search_again
from nematodebench.calibration.proposals import Proposals
from nematodebench.calibration.recipes import Recipe, read_recipe, recipe_cycle
from nematodebench.calibration.rollouts import Rollouts
from nematodebench.cli import build
from nematodebench.engine.run import interface
from nematodebench.errors import UsageError
from nematodebench.sessions.config import SessionConfig
from nematodebench.sessions.execution import run_plan
from nematodebench.sessions.plan import make_plan
from nematodebench.tasks import anchoring
from nematodebench.tasks.anchoring import load_anchors
from nematodebench.tasks.registry import get_task

MOWER = """
name: lawn-mower
segments:
  - [18, forward]
  - [1, right]
  - [1, forward]
  - [1, right]
  - [18, forward]
  - [1, left]
  - [1, forward]
  - [1, left]
"""


@pytest.mark.parametrize(
    ("name", "cycle"),
    [
        ("wall-v1", ((3.0, 0.2, 0.9), (5.0, 1.0, 0.4))),
        ("cartpole_swingup-v2", ((24.0, 1.0, 0.0), (22.0, 0.0, 1.0))),
        ("forage-v2", ((10.0, 0.3, 0.0, 1.0), (7.0, 0.0, 0.3, 1.0))),
        ("bit_memory_4-v1", ((1.0, 0.0), (5.0, 1.0))),
        ("navigation-v1", ((3.0, 0.0), (2.0, 9.0))),
        ("chemotaxis_assay-v1", ((3.0, 0.0), (2.0, 1.0))),
    ],
)
def test_a_rollout_plays_what_the_brain_plays_in_the_same_run(name, cycle):
    task = get_task(name)
    untrained = task.untrained() if task.trains_first else task
    session = run_plan(
        make_plan(
            SessionConfig(task=untrained.id, brain="blind_cycle", config={"segments": cycle}, runs=2, seed=0), workers=1
        )
    )
    rollouts = Rollouts(task)
    records = rollouts._records([cycle], np.array([result.seed for result in session.results], np.uint64))
    count = rollouts.run_episodes
    for run, result in enumerate(session.results):
        theirs = result.records[task.scored][:count]
        assert np.array_equal(records[run * count : run * count + len(theirs)][: len(theirs)], theirs)


def test_a_rollout_counts_what_it_costs():
    rollouts = Rollouts(get_task("cartpole-v1"))
    rollouts.scores([((1.0, 1.0, 0.0),), ((2.0, 0.0, 1.0), (2.0, 1.0, 0.0))], [1, 2, 3])
    assert (rollouts.policies, rollouts.episodes) == (2, 6 * rollouts.run_episodes)
    assert rollouts.ticks > rollouts.episodes


@pytest.mark.parametrize("name", ["foraging_small-v2", "navigation-v1", "bit_memory_4-v1", "pong-v2", "forage-v2"])
def test_whatever_is_proposed_can_be_played(name):
    task = get_task(name)
    body = interface(task)
    proposals = Proposals(body, task.world.horizon, np.random.default_rng(1))
    cycles = [*proposals.constants(), *proposals.structured()[::50], *(proposals.random() for _ in range(300))]
    for cycle in [*cycles, *(proposals.vary(cycle) for cycle in cycles)]:
        assert len(cycle) <= 120
        BlindCycle.layout(BlindCycleConfig(segments=cycle), body)


def test_the_families_have_the_lawn_mower():
    task = get_task("foraging_small-v1")
    proposals = Proposals(interface(task), task.world.horizon, np.random.default_rng(1))
    mower = ((18.0, 0.0), (1.0, 2.0), (1.0, 0.0), (1.0, 2.0), (18.0, 0.0), (1.0, 1.0), (1.0, 0.0), (1.0, 1.0))
    assert mower in proposals.structured()


def test_a_search_keeps_to_its_budget():
    found = blind.search(get_task("cartpole-v1"), seed=5, workers=1, budget=12_000)
    assert found.episodes <= 1.2 * 12_000
    assert found.budget.startswith(f"search with seed 5: {found.policies:,} policies")


@pytest.mark.parametrize("name", ["chemotaxis_assay-v1", "bit_memory_1-v1", "foraging_small-v2"])
def test_there_is_one_score_for_every_policy_and_run(name):
    scores = Rollouts(get_task(name)).scores([((1.0, 0.0),), ((1.0, 1.0),)], [3, 4, 5])
    assert scores.shape == (2, 3)


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("foraging_small-v1", 0.409),
        ("pong-v1", 0.85),
        ("cartpole_swingup-v1", 0.470),
        ("predator_small-v1", 0.197),
        ("wall-v1", 0.999),
    ],
)
def test_the_stored_lines_of_first_versions_are_as_good_as_what_others_found(name, known):
    assert load_anchors(get_task(name)).blind.value >= known


def test_a_recipe_scores_what_others_measured(tmp_path):
    (tmp_path / "mower.yml").write_text(MOWER)
    task = get_task("foraging_small-v1")
    mower = measure_blind(task, recipe_cycle(read_recipe(tmp_path / "mower.yml"), task), 20, 0, workers=1)
    assert mower.value == pytest.approx(0.409, abs=4 * mower.se)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["cartpole_swingup-v2", "foraging_small-v2"])
def test_an_independent_search_does_not_beat_the_stored_line(name):
    task = get_task(name)
    anchors = load_anchors(task)
    found = search_again(task, workers=1)
    assert (found.value - anchors.blind.value) / (anchors.ceiling.value - anchors.floor.value) <= 0.05


def command(*arguments):
    done = CliRunner().invoke(build(), ["calibrate", *arguments, "--workers", "1", "--json"])
    return done.exit_code, json.loads(done.stdout)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Anchors that a test may overwrite."""
    before = anchoring.anchor_path("cartpole-v2").read_text()
    monkeypatch.setattr(anchoring, "anchor_path", lambda name: tmp_path / f"{name}.json")
    content = json.loads(before)
    content["blind"] = {**content["blind"], "value": 0.0, "segments": [[1.0, 1.0, 0.0]]}
    (tmp_path / "cartpole-v2.json").write_text(json.dumps(content))
    return tmp_path


def test_a_better_recipe_is_stored_and_a_worse_one_is_not(folder):
    better, worse = folder / "better.yml", folder / "worse.json"
    better.write_text("{name: dither, segments: [[1, 1, 0], [1, 0, 1]]}")
    worse.write_text('{"segments": [[1, 0, 1]]}')
    code, (row,) = command("cartpole-v2", "--blind", "--try", str(better))
    assert (code, row["recipe"], row["verdict"]) == (0, "dither", "better: add --write to store it")
    assert load_anchors(get_task("cartpole-v2")).blind.value == 0.0
    code, (row,) = command("cartpole-v2", "--blind", "--try", str(better), "--write")
    assert (code, row["verdict"]) == (0, "better: stored")
    stored = load_anchors(get_task("cartpole-v2")).blind
    assert (stored.segments, stored.budget) == (((1.0, 1.0, 0.0), (1.0, 0.0, 1.0)), "recipe 'dither', tried by hand")
    code, (row,) = command("cartpole-v2", "--blind", "--try", str(better), "--write")
    assert (code, row["verdict"]) == (0, "not better")  # than itself
    code, (row,) = command("cartpole-v2", "--blind", "--try", str(worse), "--write")
    assert (code, row["recipe"], row["verdict"]) == (0, "worse", "not better")
    assert load_anchors(get_task("cartpole-v2")).blind == stored


def test_a_search_that_finds_more_says_so(folder, monkeypatch):
    monkeypatch.setattr(blind, "_EPISODES", (2000, 2000))
    path = folder / "cartpole-v2.json"
    content = json.loads(path.read_text())
    content["ceiling"]["value"] = 0.05
    path.write_text(json.dumps(content))
    code, rows = command("cartpole-v2", "--check", "--blind", "--again", "--runs", "200")
    assert (rows[-1]["what"], rows[-1]["verdict"], code) == ("search", "BEATEN", 1)


def test_a_recipe_is_read_by_names(tmp_path):
    (tmp_path / "mower.yml").write_text(MOWER)
    recipe = read_recipe(tmp_path / "mower.yml")
    cycle = recipe_cycle(recipe, get_task("foraging_small-v1"))
    assert cycle[:3] == ((18.0, 0.0), (1.0, 2.0), (1.0, 0.0))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("segments: []", "segments: List should have at least 1 item"),
        ("segments: [[18]]", r"segments.0: List should have at least 2 items"),
        ("steps: [[1, 0]]", "segments: Field required"),
        ("[", "cannot be read"),
        ("", "is no recipe"),
    ],
)
def test_what_is_no_recipe_says_why(tmp_path, text, message):
    (tmp_path / "recipe.yml").write_text(text)
    with pytest.raises(UsageError, match=message):
        read_recipe(tmp_path / "recipe.yml")


@pytest.mark.parametrize(
    ("name", "segment", "message"),
    [
        ("foraging_small-v1", [1, "up"], "no action 'up': its actions are forward, left, right, stay"),
        ("foraging_small-v1", [1, 4], "none of the actions 0 to 3"),
        ("pong-v2", [1, "up"], "it has effectors"),
        ("pong-v2", [0.5, 1, 1], "whole number"),
    ],
)
def test_a_recipe_that_does_not_fit_its_task_says_why(name, segment, message):
    with pytest.raises(UsageError, match=message):
        recipe_cycle(Recipe.model_validate({"segments": [segment]}), get_task(name))


def test_recipes_and_searches_belong_to_blind():
    done = CliRunner().invoke(build(), ["calibrate", "cartpole-v2", "--check", "--again"])
    assert done.exit_code != 0
