"""Evaluating genuine submissions: they pass, are executed again, and the verdict can be kept."""

import contextlib
import json
from pathlib import Path

import pytest
from submission_workshop import Work, command, commit, git, official, official_repository, relabelled

from nematodebench.errors import UsageError
from nematodebench.records.evaluation_schema import EvaluationReport
from nematodebench.submissions import reproduce
from nematodebench.submissions.evaluate import evaluate, root_of
from nematodebench.submissions.store import load_submission


@pytest.fixture(scope="module")
def genuine() -> Work:
    """The submission as it was made; not to be changed."""
    return Work(official_repository())


@pytest.fixture(scope="module")
def reproduced(genuine: Work) -> EvaluationReport:
    """Evaluated with twenty runs executed again."""
    return evaluate(genuine.path, reproduce=20)


def test_genuine_submission_passes_every_check(genuine: Work) -> None:
    outcome = genuine.evaluate()
    assert outcome.code == 0
    assert {check["outcome"] for check in outcome.report["checks"]} == {"PASS"}


def test_report_for_people_shows_checks_score_level_and_category(genuine: Work) -> None:
    text = command(genuine.root, "evaluate", genuine.path).out
    assert "\n\nPASS\nThis verifies nothing" in text
    assert "PASS  record hashes" in text
    assert "composite_score  0.956 ± 0.0002 (Exceptional)" in text
    assert "category   foraging_small/scripted" in text
    assert "found only by --reproduce" in text


def test_score_in_the_report_is_the_one_computed_here(genuine: Work, reproduced: EvaluationReport) -> None:
    assert reproduced.score == load_submission(genuine.path).score
    assert reproduced.level == "Exceptional"
    assert reproduced.chemotaxis == load_submission(genuine.path).chemotaxis


def test_twenty_runs_are_the_same_bit_for_bit(reproduced: EvaluationReport) -> None:
    assert reproduced.passed
    again = reproduced.reproduction
    assert again is not None
    assert (len(again.runs), again.count("identical"), again.total_runs) == (20, 20, 500)


def test_runs_to_execute_are_chosen_anew_each_time(genuine: Work, reproduced: EvaluationReport) -> None:
    other = evaluate(genuine.path, reproduce=5)
    assert reproduced.reproduction is not None
    assert other.reproduction is not None
    assert {run.seed for run in reproduced.reproduction.runs} != {run.seed for run in other.reproduction.runs}


@pytest.mark.parametrize("words", [["--reproduce"], ["--reproduce", "10"]])
def test_reproduce_alone_means_ten_runs(genuine: Work, words: list[str]) -> None:
    outcome = command(genuine.root, "evaluate", *words, genuine.path, "--json")
    assert len(outcome.report["reproduction"]["runs"]) == 10


@pytest.mark.parametrize("count", ["0", "-3"])
def test_reproducing_no_run_is_a_mistake(genuine: Work, count: str) -> None:
    outcome = command(genuine.root, "evaluate", genuine.path, "--reproduce", count)
    assert (outcome.code, "give at least 1 run" in outcome.err) == (2, True)


def test_evaluating_leaves_no_file_and_says_that_it_verifies_nothing(genuine: Work) -> None:
    before = {path: path.stat().st_mtime_ns for path in genuine.root.rglob("*") if ".git" not in path.parts}
    outcome = command(genuine.root, "evaluate", genuine.path, "--reproduce", "1")
    assert (outcome.code, "verifies nothing" in outcome.out + outcome.err) == (0, True)
    assert before == {path: path.stat().st_mtime_ns for path in genuine.root.rglob("*") if ".git" not in path.parts}


@pytest.mark.slow
def test_constant_action_brain_called_mlp_ppo_is_caught_by_execution_only(tmp_path: Path) -> None:
    from nematodebench.brains.classical.mlp_ppo import MlpPpo

    config = MlpPpo.config().model_dump(mode="json")
    work = relabelled(official(tmp_path / "repo", "motionless"), "mlp_ppo", "classical", config)
    assert work.evaluate().code == 0
    outcome = work.evaluate("--reproduce", "2")
    assert outcome.code == 1
    assert "only re-execution finds that" in outcome.check("re-execution")["advice"]


@pytest.fixture
def from_elsewhere(tmp_path: Path) -> Work:
    """Sessions that say they come from another kind of machine, where the last bits of a memory are others."""
    work = official(tmp_path / "repo")
    for k in range(10):
        record = work.record(k)
        record["provenance"]["machine"] = "aarch64"
        for run in record["runs"]:
            run["memory_hash"] = run["memory_hash"][:-64] + "0" * 64
        work.save_record(k, record)
    return work


def test_what_a_submission_says_of_its_machine_excuses_nothing(from_elsewhere: Work) -> None:
    outcome = from_elsewhere.evaluate("--reproduce", "3")
    assert outcome.code == 1
    assert {run["outcome"] for run in outcome.report["reproduction"]["runs"]} == {"different"}


def test_on_another_kind_of_machine_runs_may_differ_by_a_tenth(
    from_elsewhere: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reproduce.platform, "machine", lambda: "aarch64")
    outcome = from_elsewhere.evaluate("--reproduce", "3")
    assert outcome.code == 0
    assert {run["outcome"] for run in outcome.report["reproduction"]["runs"]} == {"within"}
    assert "3 within 10 %" in outcome.check("re-execution")["message"]


def test_every_metric_counts_and_a_tenth_is_a_tenth_of_its_value() -> None:
    claimed = {"score": 0.02, "steps": 100.0, "reward": 0.0}
    assert reproduce._far(claimed, {"score": 0.0219, "steps": 91.0, "reward": 0.0}) == []
    assert len(reproduce._far(claimed, {"score": 0.03, "steps": 111.0, "reward": 0.1})) == 3
    assert reproduce._far(claimed, {"score": 0.02, "reward": 0.0}) == ["steps is claimed as 100, re-executed nan"]


@pytest.fixture
def foreign(tmp_path: Path) -> Work:
    """Sessions said to be of a brain whose code lies in the repository."""
    work = relabelled(official(tmp_path / "repo"), "still_life:Still", "classical", {})
    life = "".join(f"    def {name}(self, *given): return 3\n" for name in ("act", "learn", "begin_episode"))
    life += "    def __init__(self, observation_space, action_space, config, seed): pass\n"
    (work.root / "still_life.py").write_text(f"open('it_ran', 'w').close()\nclass Still:\n{life}")
    commit(work.root)
    return work


def test_somebodys_code_is_neither_imported_nor_executed(foreign: Work) -> None:
    outcome = foreign.evaluate("--reproduce", "1")
    assert outcome.code == 1
    assert "carries no bundle of its source" in outcome.check("brain")["message"]
    assert "--trust-code" in outcome.check("brain")["advice"]
    assert "not executed, because of: brain" in outcome.check("re-execution")["message"]
    assert not (foreign.root / "it_ran").exists()


def test_trusted_code_must_be_the_code_the_sessions_were_made_with(foreign: Work) -> None:
    with contextlib.chdir(foreign.root):
        outcome = foreign.evaluate("--trust-code")
    assert (foreign.root / "it_ran").exists()
    assert "is not the code the sessions were made with" in outcome.check("brain")["message"]


def test_python_function_and_command_agree(genuine: Work) -> None:
    report = evaluate(genuine.path)
    assert [check.model_dump() for check in report.checks] == genuine.evaluate().report["checks"]


def test_root_is_found_from_the_place_of_the_file(genuine: Work) -> None:
    assert root_of(genuine.path) == genuine.root
    assert root_of(Path("/somewhere/else.json")) == Path.cwd()


def test_loading_what_is_no_submission_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("{}")
    with pytest.raises(UsageError, match=r"is not a submission: submission_id: Field required"):
        load_submission(tmp_path / "x.json")


def test_committed_submission_passes_in_a_fresh_clone(genuine: Work, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", str(genuine.root), "clone")
    path = tmp_path / "clone" / genuine.path.relative_to(genuine.root)
    outcome = command(tmp_path / "clone", "evaluate", path, "--reproduce", "1", "--json")
    assert outcome.code == 0, json.dumps(outcome.report["checks"], indent=1)
