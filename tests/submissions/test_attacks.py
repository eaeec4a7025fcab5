"""Input that was made to mislead, to break or to slow down whoever reads it: all of it is rejected, with its own word.

Every attack is a line of a table: what is changed, and what is said about it. None of them passes, and none of them
ends the process that judges.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from submission_workshop import FOLLOWER, SHORT, Work, official

from nematodebench.submissions.guarded import verdict_on

Spoil = Callable[[Work], None]


def rejected(tmp_path: Path, spoil: Spoil, task: str = SHORT) -> str:
    """What the judge says about a submission that was spoilt."""
    work = official(tmp_path / "repo", "null_random" if task == SHORT else FOLLOWER, task)
    spoil(work)
    found = verdict_on(work.path, work.root)
    assert not found.passed
    assert "cannot be judged" not in "".join(found.reasons)
    assert all(reason.isprintable() for reason in found.reasons)
    return " ".join(found.reasons)


# Names: blank, invisible, look-alike, or made to act on a terminal.
NAMES = {
    "\u3164": "blank characters other than the space (U+3164 HANGUL FILLER)",
    "\u2800": "blank characters other than the space (U+2800 BRAILLE PATTERN BLANK)",
    "Ada\u00a0Example": "blank characters other than the space (U+00A0 NO-BREAK SPACE)",
    "Ada\u2003Example": "blank characters other than the space (U+2003 EM SPACE)",
    "\u1160": "blank characters other than the space (U+1160 HANGUL JUNGSEONG FILLER)",
    "Ada\ufe0f": "blank characters other than the space (U+FE0F VARIATION SELECTOR-16)",
    "A\u034fda": "blank characters other than the space (U+034F COMBINING GRAPHEME JOINER)",
    " ": "may not begin or end with a space",
    " Ada": "may not begin or end with a space",
    "Ada  Example": "two of them in a row",
    "=1+1": "may not begin with a character that makes a table compute (U+003D EQUALS SIGN)",
    "@ada": "may not begin with a character that makes a table compute (U+0040 COMMERCIAL AT)",
    "...": "has no letter and no digit",
    "\u0301": "may not begin with a mark that belongs on a letter (U+0301 COMBINING ACUTE ACCENT)",
    "a\u0300\u0301\u0302da": "more than 2 marks on one letter (U+0302 COMBINING CIRCUMFLEX ACCENT)",
    "\u0410da Example": "mixes Latin letters with others in one word (U+0410 CYRILLIC CAPITAL LETTER A)",
    "Ad\u0430 Example": "Latin letters with others in one word (U+0430 CYRILLIC SMALL LETTER A)",
    "\u0391da Example": "Latin letters with others in one word (U+0391 GREEK CAPITAL LETTER ALPHA)",
    "Ada Exam\u0440le": "Latin letters with others in one word (U+0440 CYRILLIC SMALL LETTER ER)",
    "Ada \u0555penham": "Latin letters with others in one word (U+0555 ARMENIAN CAPITAL LETTER OH)",
    "\u13aada": "Latin letters with others in one word (U+13AA CHEROKEE LETTER GO)",
    "Ad\u2c80": "Latin letters with others in one word (U+2C80 COPTIC CAPITAL LETTER ALFA)",
    "Examp\u05dfe": "Latin letters with others in one word (U+05DF HEBREW LETTER FINAL NUN)",
    "Ada\U00010428": "Latin letters with others in one word (U+10428 DESERET SMALL LETTER LONG I)",
    "\uff21da": "another form of an ordinary one (U+FF21 FULLWIDTH LATIN CAPITAL LETTER A)",
    "\U0001d400da": "another form of an ordinary one (U+1D400 MATHEMATICAL BOLD CAPITAL A)",
    "\ufb01n": "another form of an ordinary one (U+FB01 LATIN SMALL LIGATURE FI)",
    "Ada \u2163": "another form of an ordinary one (U+2163 ROMAN NUMERAL FOUR)",
    "Ada\u200bExample": "invisible characters (U+200B ZERO WIDTH SPACE)",
    "Ada\u200dExample": "invisible characters (U+200D ZERO WIDTH JOINER)",
    "\ufeffAda": "invisible characters (U+FEFF ZERO WIDTH NO-BREAK SPACE)",
    "A\u00adda": "invisible characters (U+00AD SOFT HYPHEN)",
    "\u2066Ada": "invisible characters (U+2066 LEFT-TO-RIGHT ISOLATE)",
    "Ada\u061c": "invisible characters (U+061C ARABIC LETTER MARK)",
    "Ada\U000e0041": "invisible characters (U+E0041 TAG LATIN CAPITAL LETTER A)",
    "Ada\ue000": "invisible characters (U+E000)",
    "Ada\u2028Example": "invisible characters (U+2028 LINE SEPARATOR)",
    "Ada\u0378": "invisible characters (U+0378)",
    "Ada\r::error::x": "invisible characters (U+000D)",
    "Ada\x00": "invisible characters (U+0000)",
    "Ada\x9b31m": "invisible characters (U+009B)",
}


@pytest.mark.parametrize(("name", "message"), NAMES.items(), ids=[ascii(name) for name in NAMES])
def test_a_name_that_cannot_be_read_is_refused_with_its_character(tmp_path: Path, name: str, message: str) -> None:
    def spoil(work: Work) -> None:
        work.claims["contributor"] = name
        work.save()

    assert f"contributor: {message}"[13:] in rejected(tmp_path, spoil)


@pytest.mark.parametrize(
    "name", ["Ada Example", "Łukasz Żółć", "李雷", "Сара Коэн", "O'Neil-Smith 3rd", "Nguyễn Văn A", "Kaʻiulani ʼO"]
)
def test_names_of_people_are_names(tmp_path: Path, name: str) -> None:
    work = official(tmp_path / "repo", "null_random", SHORT)
    work.claims["contributor"] = name
    work.save()
    assert verdict_on(work.path, work.root).reasons == []


# Fields of the submission.
def _put(place: str, value: Any) -> Spoil:
    """Changes one field, given by the way to it: ``sessions.0.num_runs``."""

    def spoil(work: Work) -> None:
        target: Any = work.claims
        *way, last = [int(part) if part.isdigit() else part for part in place.split(".")]
        for part in way:
            target = target[part]
        target[last] = value
        work.save()

    return spoil


FIELDS = [
    ("total_runs", 10**19, "total_runs: is larger than 9223372036854775807"),
    ("total_runs", True, "total_runs: Input should be a valid integer"),
    ("total_runs", 500.5, "total_runs: Input should be a valid integer"),
    ("total_sessions", 0, "total_sessions: Input should be greater than or equal to 1"),
    ("sessions.0.num_runs", 10**19, "sessions.0.num_runs: Input should be less than or equal to 100000"),
    ("sessions.0.num_runs", -50, "sessions.0.num_runs: Input should be greater than or equal to 1"),
    ("sessions.0.run_seeds", [2**64] * 50, "run_seeds.0: Input should be less than 18446744073709551616"),
    ("sessions.0.run_seeds", [-1] * 50, "run_seeds.0: Input should be greater than or equal to 0"),
    ("sessions.0.run_seeds", ["7"] * 50, "run_seeds.0: Input should be a valid integer"),
    ("sessions.0.run_seeds", [], "run_seeds are not the seeds of the session's runs"),
    ("sessions.0.session_seed", -1, "session_seed: Input should be greater than or equal to 0"),
    ("sessions.0.metadata_sha256", "0" * 63, "metadata_sha256: String should match pattern"),
    ("sessions.0.metadata_sha256", "A" * 64, "metadata_sha256: String should match pattern"),
    ("sessions.0.metadata_sha256", "0" * 64, "is not the file that was submitted"),
    ("sessions.0.records_sha256", "0" * 64, "the episodes are not those that were submitted"),
    ("sessions.0.config_sha256", "0" * 64, "the config is not the file that was submitted"),
    ("sessions.0.records_sha256", None, "the episodes are not those that were submitted"),
    ("sessions.0.experiment_id", "../x", "experiment_id: String should match pattern"),
    ("sessions.0.experiment_id", "a" * 101, "experiment_id: String should match pattern"),
    ("sessions.0.file_path", "C:/x.json", "file_path: must be a relative path"),
    ("sessions.0.file_path", "artifacts//experiments/x.json", "file_path: may not contain '.', '..' or empty parts"),
    ("sessions.0.file_path", "a\x00b", "file_path: may not contain control or invisible characters (U+0000)"),
    (
        "sessions",
        [
            {
                "experiment_id": f"x{k}",
                "file_path": f"x/x{k}",
                "session_seed": k,
                "num_runs": 10**6,
                "run_seeds": [],
                "metadata_sha256": "0" * 64,
                "config_sha256": "0" * 64,
            }
            for k in range(1000)
        ],
        "its sessions have 1,000,000,000 runs: at most 1,000,000 are judged",
    ),
    ("sessions", "all of them", "sessions: Input should be a valid array"),
    ("timestamp", "99991231_235959", "lies in the future"),
    ("timestamp", "00000000_000000", "is not a date"),
    ("timestamp", "20260230_000000", "is not a date"),
    ("timestamp", "２０２６1116_000000", "timestamp: String should match pattern"),
    ("timestamp", "20261116_000000\n", "timestamp: String should match pattern"),
    ("brain_type", "null_r\u0430ndom", "brain_type: String should match pattern"),
    ("brain_type", "os:system", "brain_type is 'os:system', but the data give 'null_random'"),
    ("brain_class", "quantum-classical", "Input should be 'classical', 'spiking'"),
    ("brain_config", {"\x1b[31m": 1}, "brain_config is not that of the sessions"),
    ("brain_config", [], "brain_config: Input should be an object"),
    ("brain_config", {"a": 10**300}, "brain_config is not that of the sessions"),
    ("environment.task", "foraging_small-v1", "environment.task is 'foraging_small-v1', but the data give"),
    ("environment.task", "\u202ekcaj", "environment.task: may not contain control or invisible characters (U+202E"),
    ("environment.version", -1, "environment.version: Input should be greater than or equal to 0"),
    ("environment.version", 2, "environment.version is 2, but the data give 1"),
    ("environment.spec_hash", "0" * 64, "environment.spec_hash is"),
    ("environment.world", "arena", "environment.world is 'arena', but the data give"),
    ("environment.episodes_per_run", 1, "environment.episodes_per_run is 1, but the data give 30"),
    ("category", "pattern_memory_easy", "the file does not lie where it says"),
    ("category", "pattern_memory_easy/scripted/../x", "category: may not contain '.', '..' or empty parts"),
    ("config_file", "configs", "does not lie in configs/"),
    ("config_file", "configs/.", "config_file: may not contain '.', '..' or empty parts"),
    ("config_file", ".git/config", "does not lie in configs/"),
    ("score_key", "charm", "score_key is 'charm', but pattern_memory_easy-v1 is scored by 'reward'"),
    ("metrics.other.reward.n", 0, "n: Input should be greater than or equal to 1"),
    ("metrics.other.reward.n", 500, "metrics.other.reward.n is 500, but the data give 10"),
    ("metrics.other.reward.ci95", [0.1], "ci95"),
    ("metrics.other.reward.ci95", None, "metrics.other.reward.ci95 is None, but the data give"),
    ("metrics.other.reward.kind", "guess", "kind: Input should be"),
    ("metrics.other.reward.doubt", "none at all", "doubt: Input should be"),
    ("metrics.other.reward.max", 1e308, "metrics.other.reward.max is 1e+308, but the data give"),
    ("metrics.other", {}, "metrics lack the score, reward"),
    ("interval_rules", 1, "but the data give"),
    ("interval_rules", 3, "interval_rules: Input should be 1 or 2"),
    ("normalised", None, "normalised is None, but the data give"),
    ("normalised.score", 2.0, "normalised.score: Input should be less than or equal to 1"),
    ("normalised.floor.value", -5.0, "normalised.floor.value is -5.0, but the data give"),
    ("normalised.ceiling.value", 0.1, "normalised.ceiling.value is 0.1, but the data give"),
    ("level", "\x1b]0;winner\x07", "level: may not contain control or invisible characters (U+001B)"),
    ("notes", "a\u202eb", "notes: may not contain control or invisible characters (U+202E)"),
    ("notes", ["no text"], "notes: Input should be a valid string"),
    ("contributor", "", "contributor: String should have at least 1 character"),
    ("contributor", "A" * 101, "contributor: String should have at most 100 characters"),
    ("contributor", None, "contributor: Input should be a valid string"),
    ("github", "-ada", "github: String should match pattern"),
    ("github", "ada--x", "github: String should match pattern"),
    ("github", "\u0430da", "github: String should match pattern"),
    ("provenance.cpu", "x\x1b[2J", "provenance.cpu: may not contain control or invisible characters (U+001B)"),
    ("provenance.source_hash", "new", "provenance.source_hash: String should match pattern"),
    ("provenance.git_dirty", "no", "provenance.git_dirty: Input should be a valid boolean"),
    ("schema_version", 0, "schema_version: Input should be"),
    ("schema_version", "3", "schema_version: Input should be"),
    ("schema_version", 10**30, "versions up to"),
]


@pytest.mark.parametrize(
    ("place", "value", "message"), FIELDS, ids=[f"{place}={ascii(value)[:30]}" for place, value, _ in FIELDS]
)
def test_a_field_that_says_what_cannot_be_is_refused(tmp_path: Path, place: str, value: Any, message: str) -> None:
    assert message in rejected(tmp_path, _put(place, value))


# The text of the submission.
def _text(change: Callable[[str], str | bytes]) -> Spoil:
    def spoil(work: Work) -> None:
        found = change(work.path.read_text())
        work.path.write_bytes(found if isinstance(found, bytes) else found.encode())

    return spoil


def _inside(text: str) -> Callable[[str], str]:
    """The submission with more text at its beginning."""
    return lambda whole: whole.replace("{", "{" + text, 1)


TEXTS = [
    ("byte_order_mark", lambda text: b"\xef\xbb\xbf" + text.encode(), "is not valid JSON: Unexpected UTF-8 BOM"),
    ("utf_16", lambda text: text.encode("utf-16"), "is not UTF-8 text"),
    ("lone_surrogate", lambda text: text.replace("Ada Example", "\\ud800"), "unexpected end of hex escape"),
    ("negative_infinity", _inside('"x": -Infinity,'), "-Infinity is not a number"),
    ("large_exponent", _inside('"x": 1e400,'), "1e400 is too large for a number"),
    ("five_thousand_digits", _inside(f'"x": {"9" * 5000},'), "is not valid JSON: Exceeds the limit"),
    ("key_twice_deep_inside", lambda text: text.replace('"world":', '"task": "x", "world":', 1), "key 'task' is given"),
    ("deep_list", _inside(f'"x": {"[" * 50}{"]" * 50},'), "nested more than 32 levels deep"),
    ("endless_list", lambda text: "[" * 100_000, "nested more than 32 levels deep"),
    ("comment", _inside("// x\n"), "is not valid JSON: Expecting property name"),
    ("trailing_comma", lambda text: text.rstrip()[:-1] + ",}", "is not valid JSON: Expecting property name"),
    ("single_quotes", lambda text: text.replace('"', "'"), "is not valid JSON: Expecting property name"),
    ("two_documents", lambda text: text + "{}", "is not valid JSON: Extra data"),
    ("raw_control_character", lambda text: text.replace("Ada", "A\x1bda"), "is not valid JSON: Invalid control"),
    ("too_long", lambda text: text + " " * 4_000_000, "at most 4,000,000 are read"),
    ("many_keys", _inside("".join(f'"k{n}":0,' for n in range(50_000))), "and 49990 more"),
    ("many_equal_keys", _inside('"k":0,' * 200_000), "key 'k' is given twice"),
    ("many_lists", _inside(f'"x": [{",".join(["[]"] * 200_000)}],'), "x: Extra inputs are not permitted"),
    ("long_key", _inside(f'"{"k" * 1_000_000}": 0,'), "Extra inputs are not permitted"),
    ("workflow_command_as_key", _inside('"::error file=x::y": 0,'), ": :error file=x: :y: Extra inputs"),
    ("older_workflow_command_as_key", _inside('"##[error]y": 0,'), "## [error]y: Extra inputs"),
    ("escape_sequence_as_key", _inside('"\\u001b[31mred": 0,'), "?[31mred: Extra inputs"),
    ("null", lambda text: "null", "schema: content: Input should be an object"),
    ("number", lambda text: "7", "schema: content: Input should be an object"),
    ("nothing_but_zeros", lambda text: b"\0" * 1000, "is not valid JSON"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "message"), [pytest.param(c, m, id=name) for name, c, m in TEXTS])
def test_a_text_that_is_not_one_plain_document_is_refused(
    tmp_path: Path, change: Callable[[str], str | bytes], message: str
) -> None:
    assert message in rejected(tmp_path, _text(change))
