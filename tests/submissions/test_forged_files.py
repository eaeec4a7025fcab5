"""Submissions whose fields, places or files are forged, or that hold too little."""

import os
import shutil
from pathlib import Path

import polars as pl
import pytest
from forgery_workshop import Forgeries, Spoil, assert_rejected, claim
from submission_workshop import Work

FORGERIES = Forgeries()
forgery, named = FORGERIES.register, FORGERIES.named

# What the schema refuses.
named("extra_field", "schema", "Extra inputs are not permitted", claim(verified=True))
named("text_for_a_number", "schema", "total_runs: Input should be a valid integer", claim(total_runs="500"))
named("html_in_notes", "schema", "notes: may not contain < or >", claim(notes="<script>alert(1)</script>"))
named("html_in_contributor", "schema", "contributor: may not contain < or >", claim(contributor="<b>Ada</b>"))
named(
    "escape_sequence_in_contributor",
    "schema",
    "control or invisible characters (U+001B)",
    claim(contributor="\x1b[2J"),
)
named(
    "text_that_runs_backwards",
    "schema",
    "invisible characters (U+202E RIGHT-TO-LEFT OVERRIDE)",
    claim(contributor="Ada\u202eexe"),
)
named("line_break_in_notes", "schema", "(U+000A)", claim(notes="a\n| forged | row |"))
named("endless_notes", "schema", "notes: String should have at most 1000", claim(notes="x" * 1001))
named("bad_github_handle", "schema", "github: String should match pattern", claim(github="ada)[x](http://e"))
named("markup_as_brain", "schema", "brain_type: String should match pattern", claim(brain_type="<img>"))
named("category_out_of_the_tree", "schema", "category: may not contain '.', '..'", claim(category="../../etc"))
named("config_out_of_the_tree", "schema", "config_file: may not contain", claim(config_file="configs/../../x.yml"))
named("other_schema_version", "schema", "schema version 99: versions up to", claim(schema_version=99))
named("no_sessions", "schema", "sessions: List should have at least 1", claim(sessions=[]))


@forgery("schema", "metrics.composite_score: Field required")
def _missing_metric(work: Work) -> None:
    del work.claims["metrics"]["composite_score"]
    work.save()


@forgery("schema", "std: Input should be greater than or equal to 0")
def _negative_deviation(work: Work) -> None:
    work.claims["metrics"]["other"]["reward"]["std"] = -0.1
    work.save()


@forgery("schema", "session_seed: Input should be less than 9007199254740992")
def _seed_out_of_range(work: Work) -> None:
    work.claims["sessions"][0]["session_seed"] = 2**53
    work.save()


@forgery("schema", "file_path: must be a relative path")
def _absolute_path(work: Work) -> None:
    work.claims["sessions"][0]["file_path"] = "/etc/passwd"
    work.save()


@forgery("schema", "file_path: may not contain '.', '..'")
def _path_traversal(work: Work) -> None:
    work.claims["sessions"][0]["file_path"] = "artifacts/experiments/../../../secret.json"
    work.save()


@forgery("schema", "file_path: must be a relative path with forward slashes")
def _backslashes(work: Work) -> None:
    work.claims["sessions"][0]["file_path"] = "artifacts\\experiments\\x.json"
    work.save()


# Where things lie.
@forgery("place", "the file does not lie where it says")
def _renamed_file(work: Work) -> None:
    work.path = work.path.rename(work.path.with_name("20200101_000000.json"))


named("other_submission_id", "place", "submission_id is not", claim(submission_id="winner"))


@forgery("session paths", "is not 'artifacts/experiments/")
def _path_of_another_session(work: Work) -> None:
    work.claims["sessions"][0]["file_path"] = work.claims["sessions"][1]["file_path"]
    work.save()


@forgery("session paths", "is listed twice")
def _session_listed_twice(work: Work) -> None:
    work.claims["sessions"].append(work.claims["sessions"][0])
    work.save()


@forgery(
    "category",
    "category is 'foraging_large/scripted', but the task and the brain belong to 'pattern_memory_easy/scripted'",
)
def _wrong_category(work: Work) -> None:
    work.move(category="foraging_large/scripted")


# The files.
@forgery("files", "does not exist")
def _missing_session(work: Work) -> None:
    shutil.rmtree(work.folder(3))


@forgery("files", "episodes.parquet does not exist")
def _missing_episodes(work: Work) -> None:
    (work.folder(3) / "episodes.parquet").unlink()


@forgery("files", "follower.yml does not exist")
def _missing_session_config(work: Work) -> None:
    (work.folder(3) / "follower.yml").unlink()


@forgery("files", "is a symbolic link")
def _linked_session(work: Work) -> None:
    elsewhere = work.root.parent / "elsewhere"
    work.folder(0).rename(elsewhere)
    work.folder(0).symlink_to(elsewhere)


@forgery("files", "episodes.parquet is a symbolic link")
def _linked_episodes(work: Work) -> None:
    path = work.folder(0) / "episodes.parquet"
    path.unlink()
    path.symlink_to("/dev/zero")


@forgery("files", "is not a regular file")
def _pipe_for_episodes(work: Work) -> None:
    path = work.folder(0) / "episodes.parquet"
    path.unlink()
    os.mkfifo(path)


@forgery("files", "holds files that are not part of a session: 'brain.pkl'")
def _stowaway(work: Work) -> None:
    (work.folder(0) / "brain.pkl").write_bytes(b"cos\nsystem\n")


@forgery("files", "key 'session_seed' is given twice")
def _session_with_a_key_twice(work: Work) -> None:
    path = work.folder(0) / f"{work.folder(0).name}.json"
    path.write_text(path.read_text().replace("{", '{"session_seed": 1,', 1))


@forgery("files", "NaN is not a number")
def _session_with_nan(work: Work) -> None:
    record = work.record(0)
    record["metrics"]["reward"]["mean"] = float("nan")
    work.save_record(0, record)


@forgery("files", "is not a session's record: official: Field required")
def _session_without_a_field(work: Work) -> None:
    record = work.record(0)
    del record["official"]
    work.save_record(0, record)


@forgery("files", "is not the name of a YAML file")
def _session_config_out_of_the_tree(work: Work) -> None:
    work.edit_record(0, config_file="../../../configs/follower.yml")


@forgery("files", "is the record of 'another'")
def _session_of_another_name(work: Work) -> None:
    work.edit_record(0, experiment_id="another")


@forgery("references", "is not the file that was submitted")
def _session_edited_after_submission(work: Work) -> None:
    record = work.record(0)
    record["timing"]["wall_seconds"] = 0.001
    work.save_record(0, record, sign=False)


@forgery("references", "session_seed is")
def _swapped_seeds(work: Work) -> None:
    first, second = work.claims["sessions"][:2]
    first["session_seed"], second["session_seed"] = second["session_seed"], first["session_seed"]
    work.save()


@forgery("references", "run_seeds are not the seeds of the session's runs")
def _invented_seed_in_submission(work: Work) -> None:
    work.claims["sessions"][0]["run_seeds"][7] = 12345
    work.save()


@forgery("references", "num_runs is 5000, but the session has 50")
def _more_runs_claimed(work: Work) -> None:
    work.claims["sessions"][0]["num_runs"] = 5000
    work.save()


@forgery("record hashes", "run 0: its episodes do not have the recorded hash")
def _swapped_episodes(work: Work) -> None:
    one, two = work.folder(0) / "episodes.parquet", work.folder(1) / "episodes.parquet"
    first, second = one.read_bytes(), two.read_bytes()
    one.write_bytes(second)
    two.write_bytes(first)


# Too little.
@forgery("sessions", "9 sessions: at least 10 are required")
def _nine_sessions(work: Work) -> None:
    work.claims["sessions"].pop()
    work.claims.update(total_sessions=9, total_runs=450)
    work.save()


@forgery("runs", "has 49 runs: at least 50 are required")
def _forty_nine_runs(work: Work) -> None:
    record = work.record(0)
    record["runs"].pop()
    record["num_runs"] = 49
    work.save_record(0, record)
    work.save_table(0, work.table(0).filter(pl.col("run") < 49))


@forgery("complete", "run 5 is failed")
def _failed_run(work: Work) -> None:
    record = work.record(0)
    record["runs"][5].update(status="failed", failure={"message": "it broke"})
    work.save_record(0, record)


@forgery("complete", "says 50 runs but lists 49")
def _bad_run_left_out(work: Work) -> None:
    record = work.record(0)
    record["runs"].pop(17)
    work.save_record(0, record)


@pytest.mark.parametrize(("spoil", "check", "message", "task"), FORGERIES)
def test_it_is_rejected_by_the_check_meant_for_it(
    tmp_path: Path, spoil: Spoil, check: str, message: str, task: str
) -> None:
    assert_rejected(tmp_path, spoil, check, message, task)
