"""What contributors and reviewers can rely on, from a run to the board: checks, seeds, metrics, schemas, storage."""

import datetime
import json
import re
from pathlib import Path

import numpy as np
import pytest
from submission_workshop import (
    Work,
    command,
    copied,
    folders,
    git,
    new_repository,
    official,
    official_repository,
    run_session,
    sessions_repository,
    submit,
)

import nematodebench as nb
from nematodebench.engine import seeds
from nematodebench.engine.python_brain import seed_everything
from nematodebench.records.schemas import ExperimentMetadata
from nematodebench.records.store import load_experiment
from nematodebench.records.submission_schema import MIN_RUNS_PER_SESSION, AggregateMetrics, SessionReference
from nematodebench.sessions.rerun import rerun
from nematodebench.stats import StatValue
from nematodebench.submissions.store import load_submission

SOURCE = Path(nb.__file__).parent


# Evaluating a submission
def test_structure_validation(tmp_path: Path) -> None:
    work = official(tmp_path / "repo")
    del work.claims["contributor"]
    work.claims["total_runs"] = "many"
    work.claims["sessions"][0]["session_seed"] = -1
    work.save()
    message = work.evaluate().check("schema")["message"]
    assert "contributor: Field required" in message
    assert "total_runs: Input should be a valid integer" in message
    assert "sessions.0.session_seed: Input should be greater than or equal to 0" in message


def test_minimum_runs_check(tmp_path: Path) -> None:
    work = official(tmp_path / "repo")
    record = work.record(0)
    record["num_runs"] = 49
    work.save_record(0, record)
    outcome = work.evaluate()
    assert outcome.code == 1
    assert "has 49 runs: at least 50 are required" in outcome.check("runs")["message"]


def test_config_existence_check(tmp_path: Path) -> None:
    work = official(tmp_path / "repo")
    config = work.root / work.claims["config_file"]
    config.write_text(config.read_text() + "\n")
    assert "modified since the submission" in work.evaluate().check("config file")["message"]
    git(work.root, "rm", "-q", "--cached", work.claims["config_file"])
    assert "is not tracked in git" in work.evaluate().check("config file")["message"]
    config.unlink()
    assert "does not exist" in work.evaluate().check("config file")["message"]


def test_optional_reproduction(tmp_path: Path) -> None:
    work = official(tmp_path / "repo")
    assert work.evaluate().report["reproduction"] is None
    outcome = work.evaluate("--reproduce", "3")
    assert [run["outcome"] for run in outcome.report["reproduction"]["runs"]] == ["identical"] * 3
    for k in range(10):
        record = work.record(k)
        for run in record["runs"]:
            run["memory_hash"] = run["memory_hash"][:-64] + "0" * 64
        work.save_record(k, record)
    outcome = work.evaluate("--reproduce", "3")
    assert outcome.code == 1
    assert "3 different" in outcome.check("re-execution")["message"]


def test_evaluation_report(tmp_path: Path) -> None:
    work = official(tmp_path / "repo")
    text = command(work.root, "evaluate", work.path).out
    assert "\n\nPASS\nThis verifies nothing" in text
    assert re.search(r"^composite_score +0\.956 ± 0\.0002 \(Exceptional\)", text, re.M)
    assert re.search(r"^category +foraging_small/scripted$", text, re.M)
    assert len(re.findall(r"^(?:PASS|WARN)  \w", text, re.M)) >= 20
    work.claims["total_runs"] = 1
    work.save()
    text = command(work.root, "evaluate", work.path).out
    assert "FAIL  counts" in text
    assert "-> Numbers are never typed in: make the submission again" in text
    assert text.rstrip().endswith("FAIL (1 failed)")


# Seeds
def test_automatic_seed_generation(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(seeds.secrets, "randbelow", lambda bound: asked.append(bound) or 123)
    session = nb.run("foraging_small-v1", "null_random", runs=2, episodes=20)
    assert asked == [2**32]
    assert session.plan.seed == 123
    assert [run.seed for run in session.runs] == [seeds.run_seed(123, k) for k in range(2)]


def test_explicit_seed_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seeds.secrets, "randbelow", lambda bound: pytest.fail("a seed was drawn"))
    root = new_repository(tmp_path / "repo")
    folder = run_session(root, 77, runs=2, episodes=20)
    assert load_experiment(folder).session_seed == 77


def test_environment_reproducibility() -> None:
    first, second = (nb.run("predator_small-v1", "null_random", runs=2, episodes=20, seed=4) for _ in range(2))
    assert first.episodes.equals(second.episodes)
    users = [path for path in SOURCE.rglob("*.py") if re.search(r"^(import|from) secrets", path.read_text(), re.M)]
    assert sorted(path.name for path in users) == ["challenge.py", "seeds.py"]


def test_brain_reproducibility() -> None:
    first, second = (nb.run("foraging_small-v1", "mlp_ppo", runs=2, episodes=20, seed=4) for _ in range(2))
    assert [run.memory_hash for run in first.runs] == [run.memory_hash for run in second.runs]
    torch = pytest.importorskip("torch")
    drawn = []
    for _ in range(2):
        seed_everything(9)
        drawn.append((np.random.random(3).tolist(), torch.rand(3).tolist()))
    assert drawn[0] == drawn[1]


def test_per_run_seed_tracking() -> None:
    work = Work(official_repository())
    reference = load_submission(work.path).sessions[2]
    assert reference.run_seeds == [seeds.run_seed(reference.session_seed, k) for k in range(50)]
    again = rerun(load_experiment(work.folder(2)), 17)
    assert again.recorded.seed == reference.run_seeds[17]
    assert again.identical


# Metrics
def test_learning_speed_calculation() -> None:
    assert nb.scoring.learning_speed([False] * 59 + [True] * 441) == 1.0 - 75 / 500
    assert nb.scoring.learning_speed([False] * 500) == 0.0
    assert 0.0 <= nb.scoring.learning_speed([True] * 500) <= 1.0


def test_stability_metric_calculation() -> None:
    rates = np.array([0.9, 0.8, 1.0])
    assert nb.scoring.stability(rates) == pytest.approx(1.0 - rates.std(ddof=1) / rates.mean())
    assert nb.scoring.stability([0.0, 0.0]) == 0.0
    assert nb.scoring.stability([0.7]) == 0.0
    assert nb.scoring.stability([0.0, 0.0, 0.0, 1.0]) == 0.0


def test_statistical_aggregation() -> None:
    work = Work(official_repository())
    metrics = load_submission(work.path).metrics
    records = [ExperimentMetadata.model_validate(work.record(k)) for k in range(10)]
    for name in ("success_rate", "composite_score", "distance_efficiency", "learning_speed", "stability"):
        value, means = getattr(metrics, name), np.array([record.metrics[name].mean for record in records])
        assert isinstance(value, StatValue)
        assert (value.mean, value.std) == pytest.approx((means.mean(), means.std(ddof=1)))
        assert (value.min, value.max, value.n) == (means.min(), means.max(), 10)


# Sessions and submissions
def test_session_experiments(tmp_path: Path) -> None:
    root = new_repository(tmp_path / "repo")
    words = ("run", "--config", "configs/follower.yml", "--runs", 2, "--episodes", 20, "--track")
    assert command(root, *words).code == 0
    folder = folders(root)[0]
    ExperimentMetadata.model_validate_json((folder / f"{folder.name}.json").read_bytes())
    assert (folder / "follower.yml").is_file()
    ignored = (Path(__file__).parents[1] / ".gitignore").read_text().splitlines()
    assert "/experiments/" in ignored


def test_nematodebench_submissions(tmp_path: Path) -> None:
    root = copied(sessions_repository(), tmp_path / "repo")
    names = {path.name for path in folders(root)}
    outcome = submit(root, "--json")
    assert outcome.code == 0
    assert {path.name for path in (root / "artifacts" / "experiments").iterdir()} == names
    assert folders(root) == []
    made = json.loads(outcome.out)
    assert made["path"] == f"benchmarks/foraging_small/scripted/{made['submission']['timestamp']}.json"
    assert made["submission"]["metrics"]["composite_score"]["n"] == 10
    assert f"waiting for verification: {made['path']}" in command(root, "board", "show").out


def test_nematodebench_submission_schema() -> None:
    claims = Work(official_repository()).claims
    required = {
        "submission_id", "brain_type", "brain_config", "environment", "category", "sessions", "total_sessions",
        "total_runs", "metrics", "all_seeds_unique", "contributor",
    }  # fmt: skip
    assert required <= set(claims)
    assert {"experiment_id", "file_path", "session_seed", "num_runs"} <= set(SessionReference.model_fields)
    assert {"success_rate", "composite_score", "learning_speed", "stability"} <= set(AggregateMetrics.model_fields)
    assert (claims["total_sessions"], claims["total_runs"], claims["all_seeds_unique"]) == (10, 500, True)


def test_seed_uniqueness_validation(tmp_path: Path) -> None:
    root = new_repository(tmp_path / "repo")
    first = run_session(root, 8, runs=3, episodes=20)
    run_session(root, 9, runs=3, episodes=20)
    twin = first.with_name("twin")
    first_record = json.loads((first / f"{first.name}.json").read_text())
    copied(first, twin)
    (twin / f"{first.name}.json").unlink()
    (twin / "twin.json").write_text(json.dumps({**first_record, "experiment_id": "twin"}))
    outcome = submit(root)
    assert outcome.code == 1
    assert "have the same session seed 8" in outcome.err
    assert f"seed {seeds.run_seed(8, 0)} is used by {first.name} run 0 and twin run 0" in outcome.err


def test_seed_uniqueness_flag_is_false_with_duplicates(tmp_path: Path) -> None:
    root = copied(sessions_repository(), tmp_path / "repo")
    first = folders(root)[0]
    record = json.loads((first / f"{first.name}.json").read_text())
    twin = copied(first, first.with_name("twin"))
    (twin / f"{first.name}.json").unlink()
    (twin / "twin.json").write_text(json.dumps({**record, "experiment_id": "twin"}))
    assert json.loads(submit(root, "--draft").out)["all_seeds_unique"] is False


def test_minimum_session_requirements(tmp_path: Path) -> None:
    assert MIN_RUNS_PER_SESSION == 50
    root = new_repository(tmp_path / "repo")
    run_session(root, 1, runs=49)
    outcome = submit(root, "--draft")
    assert "sessions: 1 sessions: at least 10 are required" in outcome.err
    assert "warning: would be refused: runs:" in outcome.err
    assert "has 49 runs: at least 50 are required" in outcome.err
    assert submit(root).code == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"brain": "null_random"}, "differ in brain: "),
        ({"task": "predator_small-v1"}, "differ in task: "),
        ({"task": "foraging_medium-v1"}, "differ in grid size"),
        ({"config": {"randomness": 0.2}}, "differ in brain_config"),
    ],
    ids=["brain", "task", "grid", "parameters"],
)
def test_configuration_consistency_validation(tmp_path: Path, change: dict, message: str) -> None:
    root = new_repository(tmp_path / "repo")
    run_session(root, 1, runs=2, episodes=20)
    run_session(root, 2, **{"runs": 2, "episodes": 20, **change})
    assert message in submit(root).err


def test_configuration_consistency_allows_other_seeds() -> None:
    report = Work(official_repository()).evaluate()
    assert report.check("consistency")["outcome"] == "PASS"


# Storage
def test_experiment_folder_structure(tmp_path: Path) -> None:
    root = new_repository(tmp_path / "repo")
    folder = run_session(root, 1, runs=2, episodes=20)
    assert {path.name for path in folder.iterdir()} == {f"{folder.name}.json", "follower.yml", "episodes.parquet"}
    assert rerun(load_experiment(folder), 1).identical


def test_artifact_storage_for_submissions() -> None:
    work = Work(official_repository())
    tracked = git(work.root, "ls-files", "artifacts").splitlines()
    for reference in work.claims["sessions"]:
        assert reference["file_path"].startswith("artifacts/experiments/")
        assert f"{reference['file_path']}.xz" in tracked


def test_benchmark_submission_output() -> None:
    work = Work(official_repository())
    relative = str(work.path.relative_to(work.root))
    assert relative == f"benchmarks/{work.claims['category']}/{work.claims['timestamp']}.json"
    assert relative in git(work.root, "ls-files", "benchmarks").splitlines()
    made = datetime.datetime.strptime(work.claims["timestamp"], "%Y%m%d_%H%M%S").replace(tzinfo=datetime.UTC)
    assert all(datetime.datetime.fromisoformat(work.record(k)["timing"]["finished"]) <= made for k in range(10))
