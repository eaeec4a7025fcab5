"""The workflows: when they start, what they may do, and that the commands in them exist."""

import re
from pathlib import Path

import pytest
import yaml
from command_lines import check, commands_in

FOLDER = Path(__file__).parents[1] / ".github" / "workflows"
NAMES = sorted(path.name for path in FOLDER.glob("*.yml"))


def workflow(name):
    return yaml.safe_load((FOLDER / name).read_text(encoding="utf-8"))


def triggers(name):
    # YAML 1.1 reads the key `on` as true.
    return workflow(name)[True]


def steps(name):
    return [step for job in workflow(name)["jobs"].values() for step in job["steps"]]


def scripts(name):
    return [step["run"] for step in steps(name) if "run" in step]


def commands(name):
    return [command for script in scripts(name) for line in script.splitlines() for command in commands_in(line)]


def test_submissions_are_checked_on_pull_requests_that_touch_results():
    assert triggers("submissions.yml") == {"pull_request": {"paths": ["benchmarks/**", "artifacts/**"]}}


def test_tests_run_on_every_pull_request():
    assert "pull_request" in triggers("tests.yml")
    assert "make test" in scripts("tests.yml")


def test_only_the_workflow_that_executes_nothing_may_write():
    writing = {name for name in NAMES if "write" in workflow(name)["permissions"].values()}
    assert writing == {"submission-comment.yml"}
    assert workflow("submission-comment.yml")["permissions"] == {
        "actions": "read", "contents": "read", "pull-requests": "write",
    }  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_no_job_widens_the_permissions_of_its_workflow(name):
    assert all("permissions" not in job for job in workflow(name)["jobs"].values())


@pytest.mark.parametrize("name", NAMES)
def test_no_workflow_runs_code_of_a_pull_request_with_rights(name):
    assert "pull_request_target" not in triggers(name)


def test_the_comment_follows_the_check_and_checks_out_nothing():
    assert triggers("submission-comment.yml")["workflow_run"]["workflows"] == [workflow("submissions.yml")["name"]]
    assert not [step for step in steps("submission-comment.yml") if "checkout" in step.get("uses", "")]
    assert scripts("submission-comment.yml") == []


def test_the_comment_is_about_the_report_that_the_check_uploads():
    (sent,) = [step["with"]["name"] for step in steps("submissions.yml") if "upload-artifact" in step.get("uses", "")]
    (got,) = [
        step["with"]["name"] for step in steps("submission-comment.yml") if "download-artifact" in step.get("uses", "")
    ]
    assert sent == got


def test_submissions_are_judged_by_the_code_of_the_target_branch():
    (trusted, proposed) = [step["with"] for step in steps("submissions.yml") if "checkout" in step.get("uses", "")]
    assert "base.sha" in trusted["ref"]
    assert "ref" not in proposed
    assert f"python -m pip install ./{trusted['path']}" in scripts("submissions.yml")


def test_every_changed_submission_is_reexecuted_and_the_board_checked():
    found = commands("submissions.yml")
    assert any(command.startswith("nematodebench evaluate") and "--reproduce 20" in command for command in found)
    assert "nematodebench board regenerate --check" in [re.sub(r"\s+\d$", "", command) for command in found]


@pytest.mark.parametrize("name", NAMES)
def test_nobody_elses_code_is_ever_trusted(name):
    assert "--trust-code" not in (FOLDER / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_no_text_of_a_pull_request_is_pasted_into_a_script(name):
    bodies = scripts(name) + [step["with"]["script"] for step in steps(name) if "script" in step.get("with", {})]
    assert not [body for body in bodies if "${{" in body]


@pytest.mark.parametrize("name", NAMES)
def test_no_checkout_leaves_its_token_behind(name):
    checkouts = [step for step in steps(name) if "checkout" in step.get("uses", "")]
    assert all(step["with"]["persist-credentials"] is False for step in checkouts)


@pytest.mark.parametrize(("name", "command"), [(name, command) for name in NAMES for command in commands(name)])
def test_every_command_exists_with_its_flags(name, command):
    check(command)
