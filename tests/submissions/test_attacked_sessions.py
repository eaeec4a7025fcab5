"""Records, configs, files and episodes of sessions that were made to mislead or to break whoever reads them."""

import lzma
import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from submission_workshop import FORAGING, SHORT, Work
from test_attacks import rejected

Spoil = Callable[[Work], None]


# The record of a session.
def _record(place: str, value: Any) -> Spoil:
    """Changes one field of the first session's record, and lets the submission refer to the changed file."""

    def spoil(work: Work) -> None:
        record = work.record(0)
        target: Any = record
        *way, last = [int(part) if part.isdigit() else part for part in place.split(".")]
        for part in way:
            target = target[part]
        target[last] = value
        work.save_record(0, record)

    return spoil


RECORDS = [
    ("num_runs", 10**19, "num_runs: is larger than 9223372036854775807"),
    ("num_runs", 2**63 - 1, "says that it has 9223372036854775807 runs: at most 1,000,000 are judged"),
    ("num_runs", 0, "num_runs: Input should be greater than or equal to 1"),
    ("num_runs", -50, "num_runs: Input should be greater than or equal to 1"),
    ("num_runs", 5e1, "num_runs: Input should be a valid integer"),
    ("session_seed", 2**53, "session_seed: Input should be less than 9007199254740992"),
    ("session_seed", 7, "is not derived from session seed 7"),
    ("episodes_per_run", 10**30, "episodes_per_run: is larger than 9223372036854775807"),
    ("episodes_per_run", 3, "episodes_per_run is 3, but pattern_memory_easy-v1 has 30"),
    ("runs.0.steps", 10**30, "runs.0.steps: is larger than 9223372036854775807"),
    ("runs.0.steps", -1, "runs.0.steps: Input should be greater than or equal to 0"),
    ("runs.0.run", 49, "says 50 runs but lists 50, or not in order"),
    ("runs.0.seed", 2**64, "runs.0.seed: Input should be less than 18446744073709551616"),
    ("runs.0.status", "excellent", "runs.0.status: Input should be"),
    ("runs.0.status", "missing", "run 0 is missing"),
    ("runs.0.record_hash", "", "run 0: its episodes do not have the recorded hash"),
    ("runs.0.record_hash", "\x1b[2J", "runs.0.record_hash: may not contain control"),
    ("runs.0.metrics", {}, "run 0: its metrics lack the score, reward"),
    ("runs.0.metrics.charm", 1.0, "metrics.charm is claimed, but there is no such thing"),
    ("runs.0.metrics.reward", None, "metrics.reward is None, but the data give"),
    ("runs.0.failure", {"message": "\x1b[2J::error::it broke"}, "run 0 is finished: a session with missing results"),
    ("runs", [], "says 50 runs but lists 0"),
    ("timing.finished", "9999-12-31T23:59:59+00:00", "is earlier than the end of a session"),
    ("timing.finished", "9999-12-31T23:59:59-23:59", "is earlier than the end of a session"),
    ("timing.finished", "0001-01-01T00:00:00+23:59", "ended before it began"),
    ("timing.finished", "2026-11-16T00:00:00", "a session's time, is not a date"),
    ("timing.finished", "yesterday", "a session's time, is not a date"),
    ("timing.created", "never", "a session's time, is not a date"),
    ("timing.created", "2999-01-01T00:00:00+00:00", "ended before it began"),
    ("timing.wall_seconds", -1.0, "timing.wall_seconds: Input should be greater than or equal to 0"),
    ("timing.wall_seconds", 1e9, "took 1e+09 s, which is longer than it lasted"),
    ("timing.steps_per_second", 1e12, "steps_per_second is 1e+12, but its steps and seconds give"),
    ("timing.workers", 0, "timing.workers: Input should be greater than or equal to 1"),
    ("timing.executor", "threads\n::set-output name=x::y", "timing.executor: may not contain control"),
    ("provenance.machine", "x86_64\x1b[2J", "provenance.machine: may not contain control"),
    ("provenance.source_hash", "latest", "provenance.source_hash: String should match pattern"),
    ("experiment_id", "a\tb", "experiment_id: may not contain control"),
    ("task", "pattern_memory_easy-v1\n", "task: may not contain control or invisible characters (U+000A)"),
    ("brain", "null_r\u0430ndom", "differ in brain"),
    ("brain", "nu\u200bll_random", "brain: may not contain control or invisible characters (U+200B)"),
    ("brain_source_hash", "0" * 64, "the code of brain 'null_random' is not the code the sessions were made with"),
    ("config_file", "follower.yml\x00.txt", "config_file: may not contain control or invisible characters (U+0000)"),
    ("config_file", ".hidden.yml", "is not the name of a YAML file"),
    ("config_file", "episodes.parquet", "is not the name of a YAML file"),
    ("episodes_file", "../x.parquet", "episodes_file must be 'episodes.parquet'"),
    ("columns.train", ["steps"], "does not have the columns of pattern_memory_easy-v1: 'reward' is too much"),
    ("columns", {"train": ["reward", "reward"]}, "does not"),
    ("official", "yes", "official: Input should be a valid boolean"),
    ("notes", ["\x1b[31mbest of all"], "notes.0: may not contain control or invisible characters (U+001B)"),
    ("notes", ["best of all"], "the episodes do not say 'best of all'"),
    ("metrics.reward.mean", 1e308, "metrics.reward.mean is 1e+308, but the data give"),
    ("normalised.unclamped", 7.0, "normalised.unclamped is 7.0, but the data give"),
    ("task_spec", {}, "task_spec_hash is not that of its task_spec"),
    ("task_spec.phases.0.length", 10**300, "task_spec_hash is not that of its task_spec"),
    ("schema_version", 99, "schema version 99: versions up to"),
]


@pytest.mark.parametrize(
    ("place", "value", "message"), RECORDS, ids=[f"{place}={ascii(value)[:30]}" for place, value, _ in RECORDS]
)
def test_a_record_that_says_what_cannot_be_is_refused(tmp_path: Path, place: str, value: Any, message: str) -> None:
    assert message in rejected(tmp_path, _record(place, value))


# The config of a session.
_GOOD = "task: pattern_memory_easy-v1\nbrain: null_random\nruns: 50\n"
CONFIGS = {
    "hexadecimal": (_GOOD.replace("50", "0x32"), "'0x32' is not a number that everybody reads alike"),
    "binary": (_GOOD.replace("50", "0b110010"), "'0b110010' is not a number that everybody reads alike"),
    "octal": (_GOOD.replace("50", "062"), "'062' is not a number that everybody reads alike"),
    "underscores": (_GOOD.replace("50", "5_0"), "'5_0' is not a number that everybody reads alike"),
    "sexagesimal": (_GOOD + "seed: 1:40\n", "'1:40' is not a number that everybody reads alike"),
    "sexagesimal_fraction": (_GOOD + "seed: 1:40.5\n", "'1:40.5' is not a number that everybody reads alike"),
    "sexagesimal_without_end": (_GOOD + "seed: 1" + ":59" * 9000 + "\n", "is not a number that everybody reads alike"),
    "digits_without_end": (_GOOD + "seed: " + "9" * 9000 + "\n", "is not a number that everybody reads alike"),
    "negative_hexadecimal": (_GOOD + "seed: -0x1\n", "'-0x1' is not a number that everybody reads alike"),
    "no_hexadecimal_digits": (_GOOD + "seed: 0x\n", "'0x' is not a number that everybody reads alike"),
    "not_a_number": (_GOOD + "seed: .nan\n", "is neither a finite number nor a text"),
    "infinity": (_GOOD + "episodes: .inf\n", "is neither a finite number nor a text"),
    "date": (_GOOD + "seed: 9999-12-31\n", "is neither a finite number nor a text"),
    "impossible_date": (_GOOD + "seed: 2001-99-99\n", "is neither a finite number nor a text"),
    "negative_runs": (_GOOD.replace("50", "-50"), "runs: Input should be greater than or equal to 1"),
    "deep_flow": (_GOOD + "config: " + "[" * 20_000 + "\n", "is nested more than 32 levels deep"),
    "deep_mappings": (_GOOD + "config: " + "{a: " * 10_000 + "\n", "is nested more than 32 levels deep"),
    "deep_blocks": (_GOOD + "config:\n" + "- " * 10_000 + "x\n", "is nested more than 32 levels deep"),
    "wide": (_GOOD + "config: [" + "1," * 20_000 + "]\n", "has too many values"),
    "many_keys": (_GOOD + "config: {" + ",".join(f"k{n}: 1" for n in range(6000)) + "}\n", "has too many values"),
    "anchors": ("a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n" + _GOOD, "uses YAML aliases"),
    "merge_key": (_GOOD + "<<: {brain: mlp_ppo}\n", "merges mappings with <<"),
    "tag": (_GOOD + "config: !!python/name:os.system x\n", "says with a tag what a value is"),
    "set": (_GOOD + "config: !!set {a, b}\n", "says with a tag what a value is"),
    "two_documents": (_GOOD + "---\n" + _GOOD, "is not YAML: expected a single document"),
    "tabs": ("task:\tpattern_memory_easy-v1\n\tbrain: x\n", "is not YAML"),
    "control_character": (_GOOD + "# \x1b[2J\n", "invisible character (U+001B)"),
    "line_in_a_comment": (_GOOD + "# harmless\u2028seed: 7\n", "invisible character (U+2028)"),
    "next_line_in_a_comment": (_GOOD + "# harmless\x85seed: 7\n", "invisible character (U+0085)"),
    "return_in_a_comment": (_GOOD + "# harmless\rseed: 7\n", "invisible character (U+000D)"),
    "comment_turned_round": (_GOOD + "# \u202e7 :dees\n", "invisible character (U+202E)"),
    "nothing_in_a_comment": (_GOOD + "# a\u200bb\n", "invisible character (U+200B)"),
    "underscores_behind_the_point": (_GOOD + "seed: 1.5_0\n", "'1.5_0' is not a number that everybody reads alike"),
    "underscores_without_a_digit_before": (_GOOD + "seed: .1_2\n", "'.1_2' is not a number that everybody reads alike"),
    "underscores_and_an_exponent": (_GOOD + "seed: 1.5_0e+1\n", "'1.5_0e+1' is not a number that everybody reads"),
    "underscores_without_end": (_GOOD + "seed: " + "_" * 60000 + "x\n", "seed: Input should be a valid integer"),
    "value_of_nothing": (_GOOD + "seed: =\n", "is not YAML: could not determine a constructor"),
    "digits_of_another_script": (_GOOD.replace("50", "\u0665\u0660"), "runs: Input should be a valid integer"),
    "text_for_runs": (_GOOD.replace("50", "fifty"), "runs: Input should be a valid integer"),
    "list": ("- task\n- brain\n", "must be a mapping"),
    "empty": ("", "must be a mapping"),
    "key_twice": (_GOOD + "runs: 50\n", "key 'runs' is given twice"),
    "unknown_key": (_GOOD + "score: 1.0\n", "there is no key 'score'"),
    "too_long": (_GOOD + "#" * 70_000, "at most 65,536 are read"),
    "other_task": (_GOOD.replace("pattern_memory_easy", "foraging_small"), "its task is 'foraging_small-v1', not"),
    "tag_for_a_number": (_GOOD + "config: {a: !!int '0x10'}\n", "says with a tag what a value is"),
    "tag_in_full": (_GOOD + "config: {a: !<tag:yaml.org,2002:int> '010'}\n", "says with a tag what a value is"),
    "tag_for_bytes": (_GOOD + "config: {a: !!binary aGVsbG8=}\n", "says with a tag"),
    "tag_for_a_set": (_GOOD + "config: {a: !!set {x: null}}\n", "says with a tag"),
    "tag_for_pairs": (_GOOD + "config: {a: !!pairs [x: 1]}\n", "says with a tag"),
    "date_as_a_parameter": (_GOOD + "config: {a: 2026-01-01}\n", "is neither a finite number nor a text"),
    "moment": (_GOOD + "config: {a: 2026-01-01 10:00:00 +23:59}\n", "is neither a finite number nor a text"),
    "no_number_as_a_parameter": (_GOOD + "config: {a: .nan}\n", "is neither a finite number nor a text"),
    "endless_number": (_GOOD + "config: {a: 1.0e+999}\n", "is neither a finite number nor a text"),
    "half_a_character": (_GOOD + 'config: {a: "\\ud800"}\n', "invisible character (U+D800)"),
    "escape_sequence": (_GOOD + 'config: {a: "\\e[2J"}\n', "invisible character (U+001B)"),
    "zero_character": (_GOOD + 'config: {a: "\\0"}\n', "invisible character (U+0000)"),
    "other_brain": (_GOOD.replace("null_random", "gradient_follower"), "does not describe the session"),
    "other_runs": (_GOOD.replace("50", "5000"), "has 5000 runs, but the session has 50"),
    "fewer_episodes": (_GOOD + "episodes: 3\n", "its episodes differ"),
    "parameters": (_GOOD + "config: {cheat: true}\n", "no parameter"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "message"), CONFIGS.values(), ids=list(CONFIGS))
def test_a_config_that_is_not_plain_is_refused(tmp_path: Path, text: str, message: str) -> None:
    assert message in rejected(tmp_path, lambda work: work.edit_config(0, text))


# Files that are not what they seem.
def _file(work: Work, name: str = "episodes.parquet") -> Path:
    path = work.folder(0) / name
    path.unlink()
    return path


def _hard_link(work: Work) -> None:
    board = work.root / "README.md"
    board.write_text("the board\n")
    os.link(board, _file(work, "follower.yml"))


def _socket(work: Work) -> None:
    place = Path(f"/tmp/nematodebench-{os.getpid()}.socket")
    place.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(str(place))
    place.rename(_file(work))


def _linked_category(work: Work) -> None:
    folder = work.path.parent
    folder.rename(folder.with_name("real"))
    folder.symlink_to("real")


def _linked_artifacts(work: Work) -> None:
    folder = work.root / "artifacts"
    folder.rename(work.root.parent / "elsewhere")
    folder.symlink_to(work.root.parent / "elsewhere")


def _compressed_record(content: Callable[[bytes], bytes]) -> Spoil:
    def spoil(work: Work) -> None:
        path = work.folder(0) / f"{work.folder(0).name}.json"
        path.with_name(f"{path.name}.xz").write_bytes(content(path.read_bytes()))
        path.unlink()

    return spoil


def _large_dictionary(content: bytes) -> bytes:
    return lzma.compress(content, filters=[{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 30}])


FILES: dict[str, tuple[Spoil, str]] = {
    "hard_link": (_hard_link, "follower.yml is a hard link: it is a file of another place as well"),
    "folder_for_a_table": (lambda work: _file(work).mkdir(), "episodes.parquet is not a regular file"),
    "folder_for_a_config": (lambda work: _file(work, "follower.yml").mkdir(), "follower.yml is not a regular file"),
    "pipe_for_a_config": (lambda work: os.mkfifo(_file(work, "follower.yml")), "follower.yml is not a regular file"),
    "socket_for_a_table": (_socket, "episodes.parquet is not a regular file"),
    "link_to_a_device": (lambda work: _file(work).symlink_to("/dev/zero"), "episodes.parquet is a symbolic link"),
    "link_to_the_board": (lambda work: _file(work, "follower.yml").symlink_to("../../../README.md"), "symbolic link"),
    "link_to_nothing": (lambda work: _file(work).symlink_to("nowhere"), "episodes.parquet is a symbolic link"),
    "link_to_itself": (lambda work: _file(work).symlink_to("episodes.parquet"), "episodes.parquet is a symbolic link"),
    "linked_category": (_linked_category, "benchmarks/pattern_memory_easy/scripted is a symbolic link"),
    "linked_artifacts": (_linked_artifacts, "artifacts is a symbolic link"),
    "hidden_file": (lambda work: (work.folder(0) / ".numba_config.yaml").write_text("x: 1"), "'.numba_config.yaml'"),
    "second_table": (lambda work: (work.folder(0) / "episodes.xz").write_bytes(b""), "not part of a session"),
    "second_record": (
        lambda work: (work.folder(0) / f"{work.folder(0).name}.json.xz").write_bytes(b""), "not part of a session"
    ),
    "folder_beside_the_record": (lambda work: (work.folder(0) / "more").mkdir(), "not part of a session: 'more'"),
    "three_thousand_files": (
        lambda work: [(work.folder(0) / f"{k}.bin").touch() for k in range(3001)] and None, "not part of a session"
    ),
    "empty_table": (lambda work: _file(work).touch(), "is not a readable Parquet file"),
    "record_bomb": (_compressed_record(lambda text: lzma.compress(text + b" " * 30_000_000)), "at most 20,000,000"),
    "record_with_a_tail": (_compressed_record(lambda text: lzma.compress(text) + b"tail"), "is not one whole xz file"),
    "half_a_record": (_compressed_record(lambda text: lzma.compress(text)[:-20]), "is not one whole xz file"),
    "record_that_is_not_xz": (_compressed_record(lambda text: text), "is not an xz file"),
    "record_that_wants_a_gigabyte": (_compressed_record(_large_dictionary), "is not an xz file"),
}  # fmt: skip


@pytest.mark.parametrize(("spoil", "message"), FILES.values(), ids=list(FILES))
def test_a_file_that_is_not_what_it_seems_is_refused(tmp_path: Path, spoil: Spoil, message: str) -> None:
    assert message in rejected(tmp_path, spoil)


# Episodes that cannot have happened.
def _episode(column: str, value: object, **more: object) -> Spoil:
    """Changes one episode of run 3, in a table that otherwise agrees with itself."""

    def spoil(work: Work) -> None:
        frame = work.table(0)
        here = (pl.col("run") == 3) & (pl.col("episode") == 9) & (pl.col("phase") == "train")
        for name, new in {column: value, **more}.items():
            kind = frame.schema[name]
            frame = frame.with_columns(pl.when(here).then(pl.lit(new, kind)).otherwise(pl.col(name)).alias(name))
        work.save_table(0, frame)

    return spoil


SHORT_EPISODES = [
    ("steps", 0, {}, "steps is 0, which is less than 1"),
    ("steps", -6, {}, "steps is -6, which is less than 1"),
    ("steps", 7, {}, "steps is 7, which is more than 6"),
    ("steps", 2**31 - 1, {}, "steps is 2.14748e+09, which is more than 6"),
    ("steps", 1, {}, "it is truncated before its 6 steps are over"),
    ("truncated", False, {}, "it ends without an end"),
    ("terminated", True, {"steps": 2}, "it is terminated and truncated at once"),
    ("recalled", -1.0, {}, "recalled is -1, which is less than 0"),
    ("recalled", 10.0, {}, "recalled is 10, which is more than 3"),
    ("recalled", 0.5, {}, "recalled is 0.5, which is not a whole number"),
    ("recalled", float("inf"), {}, "column 'recalled' of phase 'train' holds a value that is not a number"),
    ("recalled", 1e300, {}, "recalled is 1e+300, which is more than 3"),
    ("reward", float("-inf"), {}, "column 'reward' of phase 'train' holds a value that is not a number"),
]  # fmt: skip
FORAGING_EPISODES = [
    ("foods", 10.0, {"steps": 1}, "foods is 10, which is more than 1 a step"),
    ("foods", -1.0, {}, "foods is -1, which is less than 0"),
    ("foods", 11.0, {}, "foods is 11, which is more than 10"),
    ("travelled", -3.0, {}, "travelled is -3, which is less than 0"),
    ("travelled", 1e6, {}, "travelled is 1e+06, which is more than 1 a step"),
    ("travelled", 0.0, {}, "the way to the first food is shorter than the shortest"),
    ("optimal", -5.0, {}, "optimal is -5, which is less than 0"),
    ("satiety", 201.0, {}, "satiety is 201, which is more than 200"),
    ("termination", "", {}, "termination is 0, which is less than 1"),
    ("terminated", False, {}, "it ends without an end"),
]


@pytest.mark.parametrize(
    ("task", "column", "value", "more", "message"),
    [(SHORT, *one) for one in SHORT_EPISODES] + [(FORAGING, *one) for one in FORAGING_EPISODES],
    ids=[f"{one[0]}={one[1]}" for one in (*SHORT_EPISODES, *FORAGING_EPISODES)],
)
def test_an_episode_that_cannot_have_happened_is_refused(
    tmp_path: Path, task: str, column: str, value: object, more: dict[str, object], message: str
) -> None:
    assert message in rejected(tmp_path, _episode(column, value, **more), task)
