"""The workflows: when they start, what they may do, and that the commands in them exist and do what they should."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from command_lines import check, commands_in

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / ".github" / "workflows"
NAMES = sorted(path.name for path in FOLDER.glob("*.yml"))
JOBS = [(name, job) for name in NAMES for job in yaml.safe_load((FOLDER / name).read_text())["jobs"]]
JUDGE, MERGED = "submissions.yml", "verification.yml"
LONGEST_COMMENT = 65_536


def workflow(name):
    return yaml.safe_load((FOLDER / name).read_text(encoding="utf-8"))


def triggers(name):
    # YAML 1.1 reads the key `on` as true.
    return workflow(name)[True]


def steps(name, job=None):
    return [step for key, one in workflow(name)["jobs"].items() if job in {None, key} for step in one["steps"]]


def scripts(name, job=None):
    return [step["run"] for step in steps(name, job) if "run" in step]


def commands(name):
    return [command for script in scripts(name) for line in script.splitlines() for command in commands_in(line)]


def rights(name, job):
    return workflow(name)["jobs"][job].get("permissions", workflow(name)["permissions"])


def test_every_pull_request_is_judged_by_the_workflow_of_the_default_branch():
    """No filter of paths: GitHub looks at the first 300 files only. The event takes the file from the target branch."""
    assert triggers(JUDGE) == {
        "pull_request_target": {"branches": ["main"], "types": ["opened", "synchronize", "reopened"]}
    }


def test_tests_run_on_every_pull_request_that_is_not_results_alone():
    assert "pull_request" in triggers("tests.yml")
    assert triggers("tests.yml")["pull_request"] == {"paths-ignore": ["benchmarks/**", "artifacts/**", "configs/**"]}
    assert "make test" in scripts("tests.yml")


@pytest.mark.parametrize("name", NAMES)
def test_a_workflow_may_only_read(name):
    assert workflow(name)["permissions"] == {"contents": "read"}


@pytest.mark.parametrize(("name", "job"), JOBS)
def test_a_job_that_may_write_checks_out_and_executes_nothing(name, job):
    if "write" in rights(name, job).values():
        assert scripts(name, job) == []
        assert not [step for step in steps(name, job) if "checkout" in step.get("uses", "")]


def test_what_may_be_written():
    found = {(name, job): set(rights(name, job).items()) - {("contents", "read")} for name, job in JOBS}
    assert {place: right for place, right in found.items() if right} == {
        (JUDGE, "comment"): {("pull-requests", "write")},
        (MERGED, "attest"): {("id-token", "write"), ("attestations", "write")},
        ("pages.yml", "publish"): {("id-token", "write"), ("pages", "write")},
    }


@pytest.mark.parametrize("name", NAMES)
def test_no_secret_and_no_key_is_used(name):
    text = (FOLDER / name).read_text(encoding="utf-8")
    assert "secrets." not in text
    assert "--key" not in text
    assert "cache" not in text, "a cache of the default branch could be filled by a pull request"


@pytest.mark.parametrize("name", NAMES)
def test_actions_are_pinned_by_hash_with_their_version(name):
    used = re.findall(r"uses: (.*)", (FOLDER / name).read_text(encoding="utf-8"))
    assert used
    assert [one for one in used if not re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", one)] == []


def test_an_action_has_one_version_everywhere():
    used = {one for name in NAMES for one in re.findall(r"uses: (.*)", (FOLDER / name).read_text(encoding="utf-8"))}
    assert len({one.partition("@")[0] for one in used}) == len(used)


@pytest.mark.parametrize("name", [JUDGE, MERGED])
def test_only_the_default_branch_is_checked_out(name):
    checkouts = [step["with"] for step in steps(name) if "checkout" in step.get("uses", "")]
    assert [(one["ref"], one["path"], one["fetch-depth"]) for one in checkouts] == [("${{ github.sha }}", "trusted", 0)]


@pytest.mark.parametrize(("name", "job"), [(JUDGE, "judge"), (MERGED, "verify")])
def test_commands_run_in_an_empty_folder(name, job):
    made = workflow(name)["jobs"][job]
    assert made["defaults"]["run"]["working-directory"] == "empty"
    assert made["env"]["PYTHONSAFEPATH"] == "1"
    first, *others = [step for step in made["steps"] if "run" in step]
    assert first["run"].startswith("mkdir empty ")
    assert [step for step in others if "working-directory" in step] == []


def test_files_of_a_pull_request_are_written_after_the_gate_and_only_if_it_passed():
    order = [step.get("id", step.get("name")) for step in steps(JUDGE, "judge")]
    assert order.index("gate") < order.index("The files that are judged") < order.index("verify")
    for step in steps(JUDGE, "judge"):
        if "../proposed" in step.get("run", "").replace("refs/proposed", ""):
            assert "steps.gate.outcome == 'success'" in step["if"]


def test_every_new_submission_is_verified_in_a_sandbox_and_the_board_made():
    found = commands(JUDGE)
    assert any(one.startswith("nematodebench board gate") and "--author" in one for one in found)
    assert any(one.startswith("nematodebench verify") for one in found)
    assert any(one.startswith("nematodebench board regenerate") for one in found)
    for name in NAMES:
        assert any("sandbox.sh" in script for script in scripts(name))
    assert "bubblewrap" in (ROOT / ".github" / "sandbox.sh").read_text()


def test_what_was_merged_is_attested_as_the_result_of_a_test():
    (step,) = [step for step in steps(MERGED, "attest") if "actions/attest" in step["uses"]]
    assert step["with"]["predicate-type"] == "https://in-toto.io/attestation/test-result/v0.1"
    assert triggers(MERGED) == {"push": {"branches": ["main"]}}


def test_the_comment_is_about_the_report_that_the_judge_uploads():
    (sent,) = [step["with"]["name"] for step in steps(JUDGE) if "upload-artifact" in step.get("uses", "")]
    (got,) = [step["with"]["name"] for step in steps(JUDGE) if "download-artifact" in step.get("uses", "")]
    assert sent == got


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


@pytest.mark.parametrize("script", [one for name in NAMES for one in scripts(name)])
def test_every_script_is_one_of_bash(script):
    assert subprocess.run(["bash", "-n"], input=script, text=True, capture_output=True, check=False).stderr == ""


@pytest.mark.parametrize(
    "line",
    ["::error::x", "  ::set-output name=a::b", "a ##[error]x", "\r::warning::y", "::add-mask::|", "\x1b[31m::x::"],
)
def test_text_in_a_log_is_no_command_of_the_runner(line):
    done = subprocess.run(["bash", ROOT / ".github/shown.sh"], input=f"{line}\n", text=True, capture_output=True,
                          check=True)  # fmt: skip
    first, *shown, last = [one for one in done.stdout.splitlines() if one]
    token = first.removeprefix("::stop-commands::")
    assert (len(token), last) == (32, f"::{token}::")
    assert all(one.startswith("| ") and "##[" not in one and "\x1b" not in one for one in shown)


@pytest.mark.skipif(shutil.which("jq") is None, reason="the runner has jq")
def test_the_gates_step_says_what_it_refuses_and_lists_what_is_new(tmp_path):
    """The very script of the workflow, in folders like the runner's."""
    for name in ("empty", "report", "work", "trusted"):
        (tmp_path / name).mkdir()
    git = ["git", "-C", tmp_path / "trusted", "-c", "user.name=T", "-c", "user.email=t@x.org"]
    for words in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "start"]):
        subprocess.run([*git, *words], check=True)
    shutil.copytree(ROOT / ".github", tmp_path / "trusted" / ".github")
    (tmp_path / "trusted" / ".gitattributes").write_text("* -diff\n")
    subprocess.run([*git, "add", ".gitattributes"], check=True)
    subprocess.run([*git, "commit", "-q", "-m", "evil"], check=True)
    subprocess.run([*git, "update-ref", "refs/proposed/merge", "HEAD"], check=True)
    subprocess.run([*git, "reset", "-q", "--hard", "HEAD~1"], check=True)
    (step,) = [step for step in steps(JUDGE) if step.get("id") == "gate"]
    tool = tmp_path / "bin" / "nematodebench"
    tool.parent.mkdir()
    tool.write_text(f'#!/bin/sh\nexec {sys.executable} -m nematodebench "$@"\n')
    tool.chmod(0o755)
    path = f"{tool.parent}:{os.environ['PATH']}"
    given = {**os.environ, "PATH": path, "AUTHOR": "ada", "GITHUB_OUTPUT": str(tmp_path / "output")}
    words = ["bash", "-euo", "pipefail", "-c", step["run"]]
    done = subprocess.run(words, cwd=tmp_path / "empty", env=given, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert (tmp_path / "report" / "report.txt").read_text().startswith("refused: .gitattributes: such a file hides")
    assert (tmp_path / "output").read_text() == "new=0\n"


@pytest.mark.skipif(shutil.which("node") is None, reason="the comment is made by JavaScript")
@pytest.mark.parametrize(
    "text", ["`" * 500_000, "@everyone ```\n" * 50_000, "\U0001f600" * 100_000, "", "fine\x00\x1b[1m\u202e"]
)
def test_a_comment_is_never_longer_than_github_takes_and_never_leaves_its_fence(tmp_path, text):
    (step,) = [step for step in steps(JUDGE, "comment") if "script" in step.get("with", {})]
    (tmp_path / "report").mkdir()
    for name in ("report.txt", "board.diff"):
        (tmp_path / "report" / name).write_text(text)
    (tmp_path / "run.js").write_text(f"""
const context = {{ payload: {{ pull_request: {{ number: 7, head: {{ sha: 'a'.repeat(40) }} }} }}, serverUrl: 'https://x',
  repo: {{ owner: 'o', repo: 'r' }}, runId: 1 }};
const made = [];
const issues = {{ listComments: 0, createComment: async (one) => made.push(one), updateComment: async () => 0 }};
const github = {{ paginate: async () => [], rest: {{ issues }} }};
(async () => {{ {step["with"]["script"]} }})().then(() => console.log(JSON.stringify(made)));
""")
    done = subprocess.run(["node", "run.js"], cwd=tmp_path, capture_output=True, text=True, check=True)
    ((comment),) = json.loads(done.stdout)
    assert comment["issue_number"] == 7
    assert len(comment["body"].encode("utf-16-le")) // 2 <= LONGEST_COMMENT
    assert comment["body"].count("```") == 4
    assert "\u202e" not in comment["body"]


STUB = """#!/bin/bash
case "$1 $2" in
  "board gate") echo '{"submissions": ["odd.json", "bad.json", "good.json"]}'; exit 1 ;;
  "verify ../trusted/good.json") echo '{"predicate": {"result": "PASSED"}}' > "${@: -1}" ;;
  *) exit 2 ;;
esac
"""


@pytest.mark.skipif(shutil.which("jq") is None, reason="jq is not installed")
def test_a_submission_that_cannot_be_verified_keeps_no_other_from_being_attested(tmp_path):
    for folder in ("empty", "records", "work", "bin", "trusted/.github"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "bin" / "nematodebench").write_text(STUB)
    (tmp_path / "bin" / "nematodebench").chmod(0o755)
    shutil.copy(ROOT / ".github" / "shown.sh", tmp_path / "trusted" / ".github")
    for name, given in {"odd": "../x", "bad": "bad", "good": "good"}.items():
        (tmp_path / "trusted" / f"{name}.json").write_text(json.dumps({"submission_id": given}))
    (step,) = [step for step in steps(MERGED, "verify") if step.get("id") == "verify"]
    environment = {"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}", "BEFORE": "x",
                   "GITHUB_OUTPUT": str(tmp_path / "output")}  # fmt: skip
    words = ["bash", "-euo", "pipefail", "-c", step["run"]]
    subprocess.run(words, cwd=tmp_path / "empty", env=environment, check=True, capture_output=True)
    assert (tmp_path / "output").read_text() == 'ids=["good"]\n'
    assert json.loads((tmp_path / "records/good/predicate.json").read_text()) == {"result": "PASSED"}
