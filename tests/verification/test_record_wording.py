"""Records of verification that say more than was done: texts, metrics, classes, days and keys under a signature."""

import base64
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from signed_workshop import KEY, Forge, public_key
from test_record_forgeries import Spoil, _key, _said, _signature, believed

STAT = {"mean": 1.0, "std": 0.0, "min": 1.0, "max": 1.0, "n": 10, "ci95": [1.0, 1.0]}
OTHER = {"name": "x", "digest": {"sha256": "0" * 64}}
WORDED = [
    ("subject", lambda all_: all_ + all_[:1], "its subjects are not the sessions of the submission"),
    ("subject", lambda all_: [*all_, {"name": "x", "digest": all_[0]["digest"]}], "its subjects are not the sessions"),
    ("predicate.metrics.charm", STAT, "its metrics are others than the task's: charm"),
    ("predicate.metrics.cha\x1b[2Jrm", STAT, "its metrics are others than the task's: cha?[2Jrm"),
    ("predicate.metrics", lambda all_: {"reward": all_["reward"]}, "its metrics are others than the task's: recalled"),
    ("predicate.sessions.0.runs.0.metrics.charm", 1.0, "its runs do not all have the same metrics"),
    ("predicate.chemotaxis", {"index": 1.0, "ci95": [1.0, 1.0], "level": "Excellent", "attractant": 500, "control": 0,
                              "total": 500}, "it has a plate assay, and the submission has none"),
    ("predicate.passedTests", [], "its tests are others than the one there is"),
    ("predicate.passedTests", ["it is the best"], "its tests are others than the one there is"),
    ("predicate.passedTests", ["x"] * 1000, "passedTests: List should have at most 1 item"),
    ("predicate.passedTests", ["\x1b[2J"], "passedTests.0: may not contain control"),
    ("predicate.reexecution.different", ["\x1b[2J"], "different.0: may not contain control"),
    ("predicate.configuration", [OTHER], "its configuration is something else than requirements.lock"),
    ("predicate.configuration", [OTHER] * 2, "configuration: List should have at most 1 item"),
    ("predicate.brain_class", "quantum", "it assigns a class to null_random, which is part of this repository"),
    ("predicate.sessions.0.runs.0.memory_hash", "\x1b[2J", "the hash of a run's memory is none"),
    ("predicate.sessions.0.runs.0.memory_hash", "v0:" + "0" * 64, "the hash of a run's memory is none"),
    ("predicate.sessions", lambda all_: [{**one, "runs": [{**run, "record_hash": "ab" * 32} for run in one["runs"]]}
                                         for one in all_], "two runs have the hash abababababab, and other metrics"),
    ("predicate.claim.unit", "runs", "its claim was tested by runs, though sessions decide"),
    ("predicate.claim", lambda claim: {**claim, "p": 1e-9, "too_good": True}, "no exchange of its sessions gives p ="),
    ("predicate.sessions.0.runs.0.metrics.reward", 1e308, "cannot be read"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("place", "value", "message"),
    WORDED,
    ids=[f"{place}={'...' if callable(value) else ascii(value)[:20]}" for place, value, _ in WORDED],
)
def test_a_signed_record_that_says_more_than_was_done_is_not_believed(
    tmp_path: Path, place: str, value: Any, message: str
) -> None:
    forge = Forge(tmp_path / "repo")
    _said(place, value)(forge)
    assert message in believed(forge)


def _turned_over(forge: Forge) -> None:
    """The mirror image of a trusted key, under its own right name, for the same signature."""
    raw = bytearray(base64.b64decode(public_key(KEY).public_key))
    raw[31] ^= 0x80
    name = hashlib.sha256(bytes(raw)).hexdigest()
    stored = public_key(KEY).model_dump(mode="json") | {"keyid": name, "public_key": base64.b64encode(raw).decode()}
    (forge.root / "keys" / f"{name}.json").write_text(json.dumps(stored))
    _signature(keyid=name)(forge)


def _malleable(forge: Forge) -> None:
    """The same signature with the order of the group added to its second half, as lenient libraries take it."""
    order = 2**252 + 27742317777372353535851937790883648493
    raw = base64.b64decode(forge.envelope()["signatures"][0]["sig"])
    half = int.from_bytes(raw[32:], "little") + order
    _signature(sig=base64.b64encode(raw[:32] + half.to_bytes(32, "little")).decode())(forge)


ENVELOPES: dict[str, tuple[Spoil, str]] = {
    "key_of_no_day": (_key(added="2026-13-45"), "added: 2026-13-45 is no day of the calendar"),
    "key_that_is_younger_than_its_record": (_key(added="9999-01-01"), "before its key"),
    "key_revoked_on_no_day": (
        _key(revoked={"date": "2026-02-30", "reason": "lost"}),
        "revoked.date: 2026-02-30 is no day of the calendar",
    ),
    "key_turned_over": (_turned_over, "the signature by key"),
    "signature_written_otherwise": (_malleable, "the signature by key"),
    "signature_for_the_web": (_signature(sig="-_" * 43), "signatures.0.sig: String should match pattern"),
}


@pytest.mark.parametrize("name", ENVELOPES)
def test_a_key_or_a_signature_that_only_looks_right_is_not_believed(tmp_path: Path, name: str) -> None:
    spoil, message = ENVELOPES[name]
    forge = Forge(tmp_path / "repo")
    spoil(forge)
    assert message in believed(forge)


@pytest.mark.parametrize(
    ("date", "message"),
    [
        ("2026-99-99", "is no day of the calendar"),
        ("9999-01-01", "or in the future"),
        ("2026-01-01", "before the subm"),
    ],
)
def test_a_withdrawal_on_a_day_that_cannot_be_withdraws_nothing(tmp_path: Path, date: str, message: str) -> None:
    forge = Forge(tmp_path / "repo")
    forge.statement["predicateType"] += "#withdrawn"
    forge.statement["predicate"] = {"submission_id": forge.id, "reason": "I do not like it", "date": date}
    forge.path = forge.path.with_name(f"{forge.id}.withdrawn.dsse.json")
    forge.sign()
    found = forge.board()
    assert (len(found.listings), found.withdrawn) == (2, {})
    assert message in found.rejected[0].reasons[0]
