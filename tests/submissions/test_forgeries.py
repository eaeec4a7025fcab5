"""Forged and broken submissions: each is rejected, by the check that is meant to, with its own message."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from submission_workshop import FOLLOWER, FORAGING, SHORT, Work, command, commit, git, official, relabelled, sha256

from nematodebench.submissions.evaluate import evaluate

FORGERIES: list = []
BRAINS = {SHORT: "null_random", FORAGING: FOLLOWER}


def forgery(check: str, message: str, task: str = SHORT) -> Callable:
    """Registers a way to spoil a submission, with the check that must fail and what it must say."""

    def register(spoil: Callable[[Work], None]) -> Callable[[Work], None]:
        FORGERIES.append(pytest.param(spoil, check, message, task, id=spoil.__name__.removeprefix("_")))
        return spoil

    return register


def _claim(**fields: object) -> Callable[[Work], None]:
    def spoil(work: Work) -> None:
        work.claims.update(fields)
        work.save()

    return spoil


def _named(name: str, check: str, message: str, spoil: Callable[[Work], None], task: str = SHORT) -> None:
    FORGERIES.append(pytest.param(spoil, check, message, task, id=name))


# What the schema refuses.
_named("extra_field", "schema", "Extra inputs are not permitted", _claim(verified=True))
_named("text_for_a_number", "schema", "total_runs: Input should be a valid integer", _claim(total_runs="500"))
_named("html_in_notes", "schema", "notes: may not contain < or >", _claim(notes="<script>alert(1)</script>"))
_named("html_in_contributor", "schema", "contributor: may not contain < or >", _claim(contributor="<b>Ada</b>"))
_named(
    "escape_sequence_in_contributor",
    "schema",
    "control or invisible characters (U+001B)",
    _claim(contributor="\x1b[2J"),
)
_named(
    "text_that_runs_backwards",
    "schema",
    "invisible characters (U+202E RIGHT-TO-LEFT OVERRIDE)",
    _claim(contributor="Ada\u202eexe"),
)
_named("line_break_in_notes", "schema", "(U+000A)", _claim(notes="a\n| forged | row |"))
_named("endless_notes", "schema", "notes: String should have at most 1000", _claim(notes="x" * 1001))
_named("bad_github_handle", "schema", "github: String should match pattern", _claim(github="ada)[x](http://e"))
_named("markup_as_brain", "schema", "brain_type: String should match pattern", _claim(brain_type="<img>"))
_named("category_out_of_the_tree", "schema", "category: may not contain '.', '..'", _claim(category="../../etc"))
_named("config_out_of_the_tree", "schema", "config_file: may not contain", _claim(config_file="configs/../../x.yml"))
_named("other_schema_version", "schema", "schema version 99: versions up to", _claim(schema_version=99))
_named("no_sessions", "schema", "sessions: List should have at least 1", _claim(sessions=[]))


@forgery("schema", "metrics.composite_score: Field required")
def _missing_metric(work: Work) -> None:
    del work.claims["metrics"]["composite_score"]
    work.save()


@forgery("schema", "std: Input should be greater than or equal to 0")
def _negative_deviation(work: Work) -> None:
    work.claims["metrics"]["other"]["reward"]["std"] = -0.1
    work.save()


@forgery("schema", "session_seed: Input should be less than 4294967296")
def _seed_out_of_range(work: Work) -> None:
    work.claims["sessions"][0]["session_seed"] = 2**32
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


_named("other_submission_id", "place", "submission_id is not", _claim(submission_id="winner"))


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


# One brain, one task.
@forgery("consistency", "differ in brain_config")
def _one_session_with_other_parameters(work: Work) -> None:
    work.edit_record(4, brain_config={**work.record(4)["brain_config"], "randomness": 0.0})


@forgery("consistency", "differ in brain: gradient_follower and null_random")
def _one_session_of_another_brain(work: Work) -> None:
    work.edit_record(4, brain="gradient_follower")


@forgery("consistency", "differ in grid size")
def _one_session_on_a_smaller_grid(work: Work) -> None:
    spec = work.record(4)["task_spec"]
    spec["phases"][0]["side"] = 6
    work.edit_record(4, task_spec=spec)


@forgery("task", "task_spec_hash is not that of its task_spec")
def _other_task_specification(work: Work) -> None:
    for k in range(10):
        work.edit_record(k, task_spec_hash="0" * 64)


@forgery("task", "is not the registered foraging_small-v1: phases[0].side was 6 and is 20", FORAGING)
def _easier_grid_in_all_sessions(work: Work) -> None:
    for k in range(10):
        spec = work.record(k)["task_spec"]
        spec["phases"][0]["side"] = 6
        work.edit_record(k, task_spec=spec)


@forgery("task", "Task 'foraging_small-v9' is not registered")
def _other_task_version(work: Work) -> None:
    for k in range(10):
        work.edit_record(k, task="foraging_small-v9")


@forgery("task", "is not official: the number of episodes was changed")
def _fewer_episodes(work: Work) -> None:
    for k in range(10):
        work.edit_record(k, official=False)


@forgery("identity", "environment.grid_size is 10, but the data give 20", FORAGING)
def _other_grid_claimed(work: Work) -> None:
    work.claims["environment"]["grid_size"] = 10
    work.save()


@forgery("identity", "brain_type is 'mlp_ppo', but the data give 'null_random'")
def _brain_renamed_in_submission(work: Work) -> None:
    work.claims["brain_type"] = "mlp_ppo"
    work.save()


@forgery("brain", "brain 'null_random' is scripted, not classical")
def _scripted_brain_among_learners(work: Work) -> None:
    for k in range(10):
        work.edit_record(k, brain_class="classical")
    work.claims["brain_class"] = "classical"
    work.move(category="pattern_memory_easy/classical")


@forgery("brain", "'evil:Brain' is not registered in this installation, and the submission carries no bundle")
def _somebodys_code(work: Work) -> None:
    (work.root / "evil.py").write_text("raise SystemExit('somebody else's code ran')")
    for k in range(10):
        work.edit_record(k, brain="evil:Brain")


@forgery("brain", "Brain 'null_random' has no parameter")
def _unknown_parameter(work: Work) -> None:
    for k in range(10):
        work.edit_record(k, brain_config={**work.record(k)["brain_config"], "cheat": True})


@forgery("identity", "brain_config is not that of the sessions")
def _incomplete_parameters(work: Work) -> None:
    for k in range(10):
        work.edit_record(k, brain_config={"randomness": 0.1})


# Configs.
@forgery("session configs", "was changed after the session")
def _session_config_changed_after_the_fact(work: Work) -> None:
    (work.folder(0) / "follower.yml").write_text("task: foraging_small-v1\nbrain: mlp_ppo\n")
    work.sign(0)


@forgery("session configs", "does not describe the session: its parameters differ", FORAGING)
def _session_config_of_other_parameters(work: Work) -> None:
    work.edit_config(0, "task: foraging_small-v1\nbrain: gradient_follower\nconfig: {randomness: 0.5}\nruns: 50\n")


@forgery("session configs", "has seed 7, but the session has")
def _session_config_of_another_seed(work: Work) -> None:
    work.edit_config(0, "task: foraging_small-v1\nbrain: gradient_follower\nruns: 50\nseed: 7\n")


@forgery("session configs", "is not YAML: could not determine a constructor for the tag")
def _yaml_tag(work: Work) -> None:
    work.edit_config(0, "task: !!python/object/apply:os.system [touch pwned]\nbrain: x\n")


@forgery("session configs", "uses YAML aliases")
def _yaml_aliases(work: Work) -> None:
    work.edit_config(0, "task: &a foraging_small-v1\nbrain: *a\n")


@forgery("session configs", "key 'brain' is given twice")
def _yaml_key_twice(work: Work) -> None:
    work.edit_config(0, "task: foraging_small-v1\nbrain: a\nbrain: gradient_follower\n")


@forgery("config file", "configs/follower.yml does not exist")
def _config_deleted(work: Work) -> None:
    (work.root / "configs" / "follower.yml").unlink()


@forgery("config file", "configs/new.yml is not tracked in git")
def _config_not_tracked(work: Work) -> None:
    shutil.copy(work.root / "configs" / "follower.yml", work.root / "configs" / "new.yml")
    work.claims["config_file"] = "configs/new.yml"
    work.save()


@forgery("config file", "configs/follower.yml does not describe the sessions: its parameters differ", FORAGING)
def _config_changed_after_the_fact(work: Work) -> None:
    path = work.root / "configs" / "follower.yml"
    path.write_text(path.read_text() + "config: {randomness: 0.0}\n")
    commit(work.root)


@forgery("config file", "does not lie in configs/")
def _config_elsewhere(work: Work) -> None:
    _claim(config_file="artifacts/follower.yml")(work)


@forgery("config file", "configs/link.yml is a symbolic link")
def _config_is_a_link(work: Work) -> None:
    (work.root / "configs" / "link.yml").symlink_to("follower.yml")
    commit(work.root)
    _claim(config_file="configs/link.yml")(work)


# Seeds.
@forgery("seeds", "have the same session seed")
def _session_copied(work: Work) -> None:
    source, target = work.folder(0), work.folder(1)
    for name in ("episodes.parquet", "follower.yml"):
        shutil.copy(source / name, target / name)
    record = {**work.record(0), "experiment_id": target.name}
    reference = work.claims["sessions"][1]
    reference.update(session_seed=record["session_seed"], run_seeds=[run["seed"] for run in record["runs"]])
    work.save_record(1, record)


@forgery("seeds", "is not derived from session seed")
def _invented_seed(work: Work) -> None:
    record = work.record(0)
    record["runs"][7]["seed"] = work.claims["sessions"][0]["run_seeds"][7] = 12345
    work.save_record(0, record)


@forgery("seeds", "is used by")
def _duplicated_run_seed(work: Work) -> None:
    record = work.record(0)
    seed = work.record(1)["runs"][3]["seed"]
    record["runs"][7]["seed"] = work.claims["sessions"][0]["run_seeds"][7] = seed
    work.save_record(0, record)


_named("seeds_not_unique_claimed", "counts", "all_seeds_unique is False", _claim(all_seeds_unique=False))


# Episodes.
def _edited(frame: pl.DataFrame, column: str, value: object) -> pl.DataFrame:
    here = (pl.col("run") == 3) & (pl.col("episode") == 9) & (pl.col("phase") == "train")
    return frame.with_columns(
        pl.when(here).then(pl.lit(value, frame.schema[column])).otherwise(pl.col(column)).alias(column)
    )


@forgery("record hashes", "run 3: its episodes do not have the recorded hash")
def _edited_episode(work: Work) -> None:
    work.save_table(0, _edited(work.table(0), "reward", 999.0))


@forgery("episodes", "run 3 episode 9: success does not follow from foods and end", FORAGING)
def _success_without_food(work: Work) -> None:
    work.save_table(0, _edited(work.table(0), "foods", 0.0))


@forgery("episodes", "run 3: column 'reward' of phase 'train' holds a value that is not a number")
def _nan_in_episodes(work: Work) -> None:
    work.save_table(0, _edited(work.table(0), "reward", float("nan")))


@forgery("episodes", "column 'reward' of phase 'train' has 1 missing values")
def _gap_in_episodes(work: Work) -> None:
    work.save_table(0, _edited(work.table(0), "reward", None))


@forgery("episodes", "column 'termination' has unknown values", FORAGING)
def _unknown_termination(work: Work) -> None:
    work.save_table(0, _edited(work.table(0), "termination", "won"))


@forgery("episodes", "is not a readable Parquet file")
def _truncated_parquet(work: Work) -> None:
    path = work.folder(0) / "episodes.parquet"
    path.write_bytes(path.read_bytes()[:-2000])
    work.sign(0)


@forgery("episodes", "is not a readable Parquet file")
def _scrambled_parquet(work: Work) -> None:
    path = work.folder(0) / "episodes.parquet"
    content = bytearray(path.read_bytes())
    content[1000:3000] = bytes(2000)
    path.write_bytes(content)
    work.sign(0)


@forgery("episodes", "'satiety' is missing", FORAGING)
def _column_left_out(work: Work) -> None:
    work.save_table(0, work.table(0).drop("satiety"))


@forgery("episodes", "'bonus' is too much")
def _column_too_much(work: Work) -> None:
    work.save_table(0, work.table(0).with_columns(bonus=pl.lit(1.0)))


@forgery("episodes", "'success' is Float64, not Boolean", FORAGING)
def _column_of_another_type(work: Work) -> None:
    work.save_table(0, work.table(0).with_columns(pl.col("success").cast(pl.Float64)))


@forgery("episodes", "rows: pattern_memory_easy-v1 has at most 1,500")
def _rows_too_many(work: Work) -> None:
    frame = work.table(0)
    work.save_table(0, pl.concat([frame, frame]))


@forgery("episodes", "run 3 has 29 episodes in phase 'train', not 30")
def _bad_episode_left_out(work: Work) -> None:
    kept = ~((pl.col("run") == 3) & (pl.col("episode") == 29))
    work.save_table(0, work.table(0).filter(kept))


@forgery("episodes", "are not numbered 0, 1, 2")
def _episodes_in_another_order(work: Work) -> None:
    work.save_table(0, work.table(0).reverse())


@forgery("episodes", "has 49 runs, not runs 0 to 49")
def _run_without_episodes(work: Work) -> None:
    work.save_table(0, work.table(0).filter(pl.col("run") != 20))


# Numbers.
@forgery("session metrics", "run 11: metrics.reward is 1.0, but the data give")
def _edited_run_metric(work: Work) -> None:
    record = work.record(0)
    record["runs"][11]["metrics"]["reward"] = 1.0
    work.save_record(0, record)


@forgery("session metrics", "metrics.reward.mean is 0.999, but the data give")
def _edited_session_metric(work: Work) -> None:
    record = work.record(0)
    record["metrics"]["reward"]["mean"] = 0.999
    work.save_record(0, record)


@forgery("session metrics", "steps is 1, but the episodes add up to")
def _edited_steps(work: Work) -> None:
    record = work.record(0)
    record["runs"][0]["steps"] = 1
    work.save_record(0, record)


@forgery("session metrics", "level is 'Good'")
def _edited_session_level(work: Work) -> None:
    work.edit_record(0, level="Good")


@forgery("submission metrics", "metrics.other.reward.mean is 0.99, but the data give")
def _edited_metric(work: Work) -> None:
    work.claims["metrics"]["other"]["reward"]["mean"] = 0.99
    work.save()


@forgery("submission metrics", "metrics.other.reward.ci95[0] is 0.95")
def _narrower_interval(work: Work) -> None:
    work.claims["metrics"]["other"]["reward"]["ci95"][0] = 0.95
    work.save()


@forgery("submission metrics", "metrics.learning_speed is None, but the data give", FORAGING)
def _metric_hidden(work: Work) -> None:
    work.claims["metrics"]["learning_speed"] = None
    work.save()


@forgery("submission metrics", "metrics.other.charm is claimed, but there is no such thing")
def _metric_invented(work: Work) -> None:
    work.claims["metrics"]["other"]["charm"] = work.claims["metrics"]["other"]["reward"]
    work.save()


_named("edited_level", "submission metrics", "level is 'Legendary'", _claim(level="Legendary"))
_named(
    "chemotaxis_hidden",
    "submission metrics",
    "chemotaxis is None, but the data give",
    _claim(chemotaxis=None),
    FORAGING,
)
_named("more_sessions_claimed", "counts", "total_sessions is 100, but there are 10", _claim(total_sessions=100))
_named("more_total_runs_claimed", "counts", "total_runs is 5000, but there are 500", _claim(total_runs=5000))


@forgery("submission metrics", "chemotaxis.level is 'None'", FORAGING)
def _edited_chemotaxis(work: Work) -> None:
    work.claims["chemotaxis"]["level"] = "None"
    work.save()


# Time and originality.
@forgery("date", "lies in the future")
def _made_in_the_future(work: Work) -> None:
    work.move(timestamp="29990101_000000")


@forgery("date", "is earlier than the end of a session")
def _backdated(work: Work) -> None:
    work.move(timestamp="20200101_000000")


@forgery("date", "is not a date")
def _no_such_day(work: Work) -> None:
    work.move(timestamp="20269999_999999")


@forgery("independence", "are already in benchmarks/pattern_memory_easy/scripted/")
def _somebody_elses_sessions(work: Work) -> None:
    original = work.path.read_bytes()
    earlier = work.path
    work.claims["contributor"] = "Mallory Copycat"
    work.move(timestamp=str(work.claims["timestamp"])[:9] + "235959" if "235959" not in work.path.name else None)
    earlier.write_bytes(original)


@pytest.mark.parametrize(("spoil", "check", "message", "task"), FORGERIES)
def test_forged_submission_is_rejected_by_the_check_meant_for_it(
    tmp_path: Path, spoil: Callable[[Work], None], check: str, message: str, task: str
) -> None:
    work = official(tmp_path / "repo", BRAINS[task], task)
    spoil(work)
    report = evaluate(work.path, root=work.root)
    assert report.passed is False
    found = next(one for one in report.checks if one.name == check)
    assert found.outcome == "FAIL"
    assert message in found.message
    assert found.advice


def test_corpus_is_large() -> None:
    assert len(FORGERIES) >= 45


UNUSABLE = [
    ("truncated", lambda text: text[: len(text) // 2], "is not valid JSON"),
    ("nan", lambda text: text.replace('"mean": 0', '"mean": NaN, "y": 0', 1), "NaN is not a number"),
    ("infinity", lambda text: text.replace('"std": 0', '"std": Infinity, "y": 0', 1), "Infinity is not a number"),
    ("overflowing_number", lambda text: text.replace('"total_runs": 500', '"total_runs": 1e999'), "1e999 is too large"),
    ("key_twice", lambda text: text.replace("{", '{"category": "x",', 1), "key 'category' is given twice"),
    ("deep", lambda text: '{"a":' * 5000 + "1" + "}" * 5000, "nested more than 32 levels deep"),
    ("deeper_than_allowed", lambda text: "[" * 40 + "]" * 40, "nested more than 32 levels deep"),
    ("huge", lambda text: text + " " * 20_000_001, "at most 4,000,000 are read"),
    ("empty", lambda text: "", "is not valid JSON"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "message"), [pytest.param(c, m, id=name) for name, c, m in UNUSABLE])
def test_unusable_file_is_one_line_and_exit_code_2(tmp_path: Path, change: Callable[[str], str], message: str) -> None:
    work = official(tmp_path / "repo")
    work.path.write_text(change(work.path.read_text()))
    outcome = work.evaluate()
    assert outcome.code == 2
    assert message in outcome.err
    assert outcome.err.count("\n") == 1


def test_file_that_is_not_text_is_unusable(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(b"\xff\xfe\x00")
    outcome = command(tmp_path, "evaluate", path)
    assert (outcome.code, "is not UTF-8 text" in outcome.err) == (2, True)


@pytest.mark.parametrize("kind", ["missing", "folder", "link"])
def test_what_is_no_plain_file_is_unusable(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "x.json"
    if kind == "folder":
        path.mkdir()
    if kind == "link":
        path.symlink_to("/etc/hostname")
    outcome = command(tmp_path, "evaluate", path)
    expected = {"missing": "does not exist", "folder": "is not a regular file", "link": "is a symbolic link"}[kind]
    assert (outcome.code, expected in outcome.err) == (2, True)


def test_json_that_is_no_submission_fails_with_its_fields(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text("[]")
    outcome = command(tmp_path, "evaluate", path, "--json")
    assert outcome.code == 1
    assert outcome.check("schema")["outcome"] == "FAIL"


def test_yaml_tag_is_never_executed(tmp_path: Path) -> None:
    work = official(tmp_path / "repo")
    _yaml_tag(work)
    work.evaluate()
    assert not list(tmp_path.rglob("pwned"))


def test_control_characters_do_not_reach_the_terminal(tmp_path: Path) -> None:
    work = official(tmp_path / "repo")
    work.claims["\x1b[31mred"] = 1
    work.save()
    outcome = command(work.root, "evaluate", work.path)
    assert outcome.code == 1
    assert "\x1b" not in outcome.out
    assert "\\x1b[31mred" in outcome.out


# Forgeries in which everything agrees with everything: no record gives them away.
def test_sessions_of_another_brain_pass_until_they_are_executed_again(tmp_path: Path) -> None:
    work = relabelled(official(tmp_path / "repo"), "null_random", "scripted", {})
    assert work.evaluate().code == 0
    outcome = work.evaluate("--reproduce", "2")
    assert outcome.code == 1
    verdict = outcome.check("re-execution")
    assert verdict["outcome"] == "FAIL"
    assert "2 different" in verdict["message"]
    assert "only re-execution finds that" in verdict["advice"]


def test_claiming_another_platform_does_not_save_a_wrong_brain(tmp_path: Path) -> None:
    work = relabelled(official(tmp_path / "repo"), "null_random", "scripted", {})
    for k in range(10):
        record = work.record(k)
        record["provenance"]["machine"] = "riscv64"
        work.save_record(k, record)
    outcome = work.evaluate("--reproduce", "3")
    assert outcome.code == 1
    assert outcome.check("re-execution")["outcome"] == "FAIL"


def test_untracking_the_config_is_noticed(tmp_path: Path) -> None:
    work = official(tmp_path / "repo")
    git(work.root, "rm", "-q", "--cached", "configs/follower.yml")
    outcome = work.evaluate()
    assert outcome.code == 1
    assert "configs/follower.yml is not tracked in git" in outcome.check("config file")["message"]


def test_config_with_another_comment_is_only_a_warning(tmp_path: Path) -> None:
    work = official(tmp_path / "repo")
    path = work.root / "configs" / "follower.yml"
    path.write_text("# the reference\n" + path.read_text())
    outcome = work.evaluate()
    assert outcome.code == 0
    assert outcome.check("config file")["outcome"] == "WARN"
    assert "modified since the submission" in outcome.check("config file")["message"]


def test_outside_of_git_nothing_passes(tmp_path: Path) -> None:
    work = official(tmp_path / "repo")
    shutil.rmtree(work.root / ".git")
    outcome = work.evaluate()
    assert outcome.code == 1
    assert "is not a git repository" in outcome.check("config file")["message"]


def test_hash_of_config_is_the_file_that_was_there(tmp_path: Path) -> None:
    work = official(tmp_path / "repo")
    assert work.claims["config_sha256"] == sha256(work.root / "configs" / "follower.yml")
    assert json.loads(work.path.read_text())["config_file"] == "configs/follower.yml"
