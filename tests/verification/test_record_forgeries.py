"""Forged records of verification: none is believed, none gives a rank, and the entry beside it keeps its own."""

import base64
import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from signed_workshop import BYSTANDER, KEY, STRANGER, Forge, public_key, trust, victim

Spoil = Callable[[Forge], None]


def _said(place: str, value: Any) -> Spoil:
    """Changes one thing that the record states, and signs it as a trusted key would."""

    def spoil(forge: Forge) -> None:
        target: Any = forge.statement
        *way, last = [int(part) if part.isdigit() else part for part in place.split(".")]
        for part in way:
            target = target[part]
        target[last] = value(target[last]) if callable(value) else value
        forge.sign()

    return spoil


STATED = [
    ("predicate.submission_id", "another", "it has to be named another.dsse.json"),
    ("predicate.task", "levitation-v1", "task 'levitation-v1' does not exist"),
    ("predicate.task", "foraging_small-v1", "its task is 'foraging_small-v1', but the submission's is"),
    ("predicate.brain", "mlp_ppo", "its brain is 'mlp_ppo', but the submission's is 'null_random'"),
    ("predicate.brain", "null_r\u200bandom", "predicate.brain: may not contain control or invisible"),
    ("predicate.score_key", "charm", "its score_key is 'charm', but the submission's is 'reward'"),
    ("predicate.challenge", "cd" * 32, "a fresh session seed does not follow from its challenge"),
    ("predicate.challenge", "easy", "predicate.challenge: String should match pattern"),
    ("predicate.seed_bits", 32, "a fresh session seed does not follow from its challenge"),
    ("predicate.seed_bits", 8, "seed_bits"),
    ("predicate.sessions.0.session_seed", 2**53, "session_seed: Input should be less than"),
    ("predicate.sessions.0.session_seed", 7, "a fresh session seed does not follow from its challenge"),
    ("predicate.sessions.0.runs.3.seed", 7, "the seeds of its runs do not follow from session seed"),
    ("predicate.sessions", lambda all_: all_[:9], "it has not 10 fresh sessions of 50 runs each"),
    ("predicate.sessions", lambda all_: all_ + all_[:1], "it has not 10 fresh sessions of 50 runs each"),
    ("predicate.sessions", lambda all_: all_[::-1], "a fresh session seed does not follow from its challenge"),
    ("predicate.sessions", [], "it has not 10 fresh sessions of 50 runs each"),
    ("predicate.sessions.0.runs", lambda runs: runs[:49], "it has not 10 fresh sessions of 50 runs each"),
    ("predicate.sessions.0.runs", [], "predicate.sessions.0.runs: List should have at least 1"),
    ("predicate.sessions.0.runs.0.metrics.reward", 3.0, "metrics.reward.mean is"),
    ("predicate.sessions.0.runs.0.metrics.reward", None, "those of its runs, lack the score, reward"),
    ("predicate.sessions.0.runs.0.metrics", {}, "those of its runs, lack the score, reward"),
    ("predicate.sessions.0.runs.0.record_hash", "0", "record_hash: String should match pattern"),
    ("predicate.metrics.reward.mean", 3.0, "metrics.reward.mean is 3.0, but the data give"),
    ("predicate.metrics.reward.ci95", [2.9, 3.0], "metrics.reward.ci95[0] is 2.9, but the data give"),
    ("predicate.metrics.reward.n", 1000, "metrics.reward.n is 1000, but the data give 10"),
    ("predicate.metrics.recalled.mean", 3.0, "metrics.recalled.mean is 3.0, but the data give"),
    ("predicate.metrics", {}, "lack the score, reward"),
    ("predicate.level", "Exceptional", "level is 'Exceptional', but the data give None"),
    ("predicate.normalised", None, "normalised is None, but the data give"),
    ("predicate.normalised.score", 1.0, "normalised.score is 1.0, but the data give"),
    ("predicate.normalised.ceiling.value", 0.1, "normalised.ceiling.value is 0.1, but the data give"),
    ("predicate.reexecution.claimed", 50, "it says 50 runs are claimed, but the submission claims 500"),
    ("predicate.reexecution.executed", 0, "500 identical of 0 executed of 500 claimed runs cannot be"),
    ("predicate.reexecution.executed", 501, "500 identical of 501 executed of 500 claimed runs cannot be"),
    ("predicate.reexecution.executed", 10, "500 identical of 10 executed of 500 claimed runs cannot be"),
    ("predicate.reexecution.identical", 499, "1 runs came out otherwise, but it names 0"),
    ("predicate.reexecution", {"claimed": 500, "executed": 500, "identical": 499, "different": ["x run 0"]},
     "it says PASSED, though 499 of 500 runs are identical"),
    ("predicate.reexecution.different", ["x run 0"], "0 runs came out otherwise, but it names 1"),
    ("predicate.reexecution.identical", -1, "identical: Input should be greater than or equal to 0"),
    ("predicate.failedTests", ["all of them"], "it says PASSED, though"),
    ("predicate.result", "FAILED", "it says FAILED, though 500 of 500 runs are identical"),
    ("predicate.result", "EXCELLENT", "predicate.result: Input should be"),
    ("predicate.claim", None, "it does not say whether the claim is too good"),
    ("predicate.claim.p", 0.001, "claim.too_good is False, but the data give True"),
    ("predicate.claim.p", lambda p: 0.5 + p / 3, "claim.p is"),
    ("predicate.claim.p", lambda p: p + 1e-9, "claim.p is"),
    ("predicate.claim.p", 1.5, "predicate.claim.p: Input should be less than or equal to 1"),
    ("predicate.claim.claimed_mean", 0.0, "claim.claimed_mean is 0.0, but the data give"),
    ("predicate.claim.fresh_mean", 3.0, "claim.fresh_mean is 3.0, but the data give"),
    ("predicate.started", "soon", "its times are no dates"),
    ("predicate.finished", "9999-12-31T23:59:59+00:00", "it was not made after the submission, or not before now"),
    ("predicate.started", "2001-01-01T00:00:00+00:00", "it was not made after the submission, or not before now"),
    ("predicate.started", lambda text: text.replace("+00:00", "-23:59"), "it was not made after the submission"),
    ("predicate.started", lambda text: text.replace("T", " "), "its times are not written in UTC, to the second"),
    ("predicate.finished", lambda text: text.replace("+00:00", "Z"), "its times are not written in UTC, to the second"),
    ("predicate.finished", lambda text: text.replace("+00:00", ".5+00:00"), "are not written in UTC, to the second"),
    ("predicate.finished", lambda text: text[:19], "its times are no dates"),
    ("predicate.seed_bits", 32, "its fresh seeds have 32 bits, which a brain could search"),
    ("predicate.reexecution.executed", 10**30, "executed"),
    ("predicate.sessions.0.runs.0.metrics.reward", 10**400, "predicate"),
    ("predicate.sessions.0.runs.0.memory_hash", "x" * 81, "memory_hash: String should have at most 80"),
    ("predicate.sessions.0.session_seed", True, "session_seed: Input should be a valid integer"),
    ("predicate.sessions.0.session_seed", 7.0, "session_seed: Input should be a valid integer"),
    ("predicate.metrics.reward.std", -1, "std: Input should be greater than or equal to 0"),
    ("predicate.brain_class", "famous", "predicate.brain_class: Input should be"),
    ("predicate.claim.unit", "wishes", "predicate.claim.unit: Input should be"),
    ("predicate.provenance.cpu", "\x1b[2J", "provenance.cpu: may not contain control"),
    ("predicate.verified", True, "predicate.verified: Extra inputs are not permitted"),
    ("predicateType", "https://example.org/praise", "predicateType: Input should be"),
    ("_type", "https://in-toto.io/Statement/v0.1", "_type: Input should be"),
    ("subject", [], "subject: List should have at least 1"),
    ("subject", lambda all_: all_[:1], "its subjects are not the sessions of the submission"),
    ("subject.1.digest.sha256", "0" * 64, "its subjects are not the sessions of the submission"),
    ("subject.0.digest.sha256", "0" * 64, "is not what was verified: its bytes have changed"),
    ("subject.0.name", "README.md", "README.md does not exist"),
    ("subject.0.name", "../../etc/passwd", "subject.0.name: may not contain"),
    ("subject.0.name", "configs/follower.yml", "is not what was verified"),
]  # fmt: skip


def believed(forge: Forge, judged: bool = False) -> str:
    """What the board says about the record; the entry has no rank, and the other one has."""
    found = forge.board(judged)
    assert forge.id not in found.listings
    assert [listing.submission.brain_type for listing in found.listings.values()] == [BYSTANDER]
    return " ".join(f"{one.path}: {reason}" for one in found.rejected for reason in one.reasons)


@pytest.mark.parametrize(
    ("place", "value", "message"),
    STATED,
    ids=[f"{place}={'...' if callable(value) else ascii(value)[:20]}" for place, value, _ in STATED],
)
def test_a_signed_record_that_is_not_true_is_not_believed(tmp_path: Path, place: str, value: Any, message: str) -> None:
    forge = Forge(tmp_path / "repo")
    if place == "predicate.verified":
        forge.predicate["verified"] = False
    _said(place, value)(forge)
    assert message in believed(forge)


# Envelopes, signatures and keys.
def _envelope(**changes: Any) -> Spoil:
    return lambda forge: forge.path.write_text(json.dumps({**forge.envelope(), **changes})) and None


def _signature(**changes: Any) -> Spoil:
    def spoil(forge: Forge) -> None:
        content = forge.envelope()
        content["signatures"][0].update(changes)
        forge.path.write_text(json.dumps(content))

    return spoil


def _other_payload(forge: Forge) -> None:
    forge.predicate["brain"] = "mlp_ppo"
    payload = base64.b64encode(json.dumps(forge.statement).encode()).decode()
    _envelope(payload=payload)(forge)


def _revoked(forge: Forge) -> None:
    trust(forge.root, STRANGER, revoked={"date": "2026-01-02", "reason": "lost"})
    forge.sign(STRANGER)


def _another_key_under_the_name(forge: Forge) -> None:
    stored = public_key(KEY).model_dump(mode="json")
    stored["public_key"] = public_key(STRANGER).public_key
    (forge.root / "keys" / f"{stored['keyid']}.json").write_text(json.dumps(stored))
    forge.sign(STRANGER)


def _key(**changes: Any) -> Spoil:
    """A stranger's key with something wrong in its file, and a record signed with it."""

    def spoil(forge: Forge) -> None:
        stored = public_key(STRANGER).model_dump(mode="json") | changes
        (forge.root / "keys" / f"{public_key(STRANGER).keyid}.json").write_text(json.dumps(stored))
        forge.sign(STRANGER)

    return spoil


def _weak(raw: bytes) -> Spoil:
    """A public key without a private half, and a signature by it that the library would take for right."""

    def spoil(forge: Forge) -> None:
        name = hashlib.sha256(raw).hexdigest()
        stored = public_key(STRANGER).model_dump(mode="json")
        stored |= {"keyid": name, "public_key": base64.b64encode(raw).decode()}
        (forge.root / "keys" / f"{name}.json").write_text(json.dumps(stored))
        _signature(keyid=name, sig=base64.b64encode(b"\1" + bytes(63)).decode())(forge)

    return spoil


def _key_text(change: Callable[[str], str]) -> Spoil:
    def spoil(forge: Forge) -> None:
        text = change(public_key(STRANGER).model_dump_json())
        (forge.root / "keys" / f"{public_key(STRANGER).keyid}.json").write_bytes(text.encode())
        forge.sign(STRANGER)

    return spoil


def _linked_key(forge: Forge) -> None:
    elsewhere = forge.root.parent / "key.json"
    elsewhere.write_text(public_key(STRANGER).model_dump_json())
    (forge.root / "keys" / f"{public_key(STRANGER).keyid}.json").symlink_to(elsewhere)
    forge.sign(STRANGER)


def _linked_record(forge: Forge) -> None:
    elsewhere = forge.root.parent / "record.json"
    forge.path.rename(elsewhere)
    forge.path.symlink_to(elsewhere)


def _renamed(forge: Forge) -> None:
    forge.path.rename(forge.path.with_name("winner.dsse.json"))


def _bytes(content: bytes) -> Spoil:
    return lambda forge: forge.path.write_bytes(content) and None


def _pipe(forge: Forge) -> None:
    forge.path.unlink()
    os.mkfifo(forge.path)


def _folder(forge: Forge) -> None:
    forge.path.unlink()
    forge.path.mkdir()


ENVELOPES: dict[str, tuple[Spoil, str]] = {
    "no_signature": (_envelope(signatures=[]), "signatures: List should have at least 1"),
    "no_signatures_at_all": (_envelope(signatures=None), "signatures: Input should be a valid"),
    "signature_of_nothing": (_signature(sig=""), "the signature by key"),
    "signature_of_zeros": (_signature(sig=base64.b64encode(bytes(64)).decode()), "the signature by key"),
    "signature_that_is_not_base64": (_signature(sig="!"), "signatures.0.sig: String should match pattern"),
    "signature_cut_off": (_signature(sig="AAA"), "the signature by key"),
    "unknown_key": (_signature(keyid="0" * 64), "key 000000000000 is not a key of this repository"),
    "signed_by_a_stranger": (lambda forge: forge.sign(STRANGER), "is not a key of this repository"),
    "signed_by_a_revoked_key": (_revoked, "is revoked"),
    "stranger_under_the_id_of_a_trusted_key": (
        _signature(keyid=public_key(STRANGER).keyid), "is not a key of this repository"
    ),
    "other_payload_under_the_signature": (_other_payload, "the signature by key"),
    "other_type_of_payload": (_envelope(payloadType="text/plain"), "payloadType: Input should be"),
    "payload_that_is_not_base64": (_envelope(payload="***"), "payload: String should match pattern"),
    "payload_cut_off": (_envelope(payload="AAA"), "its payload is not base64"),
    "empty_payload": (_envelope(payload=""), "the signature by key"),
    "many_signatures": (_envelope(signatures=[{"keyid": "0" * 64, "sig": ""}] * 17), "at most 16"),
    "more_in_the_envelope": (_envelope(trusted=True), "trusted: Extra inputs are not permitted"),
    "key_file_with_another_key": (_key(public_key=public_key(KEY).public_key), "do not belong together"),
    "key_file_with_another_id": (_key(keyid=public_key(KEY).keyid), "do not belong together"),
    "key_that_is_none": (_key(public_key="A" * 42 + "E="), "do not belong together"),
    "key_of_another_kind": (_key(algorithm="none"), "algorithm: Input should be 'ed25519'"),
    "key_with_more": (_key(trusted=True), "trusted: Extra inputs are not permitted"),
    "key_at_the_origin": (_weak(b"\1" + bytes(31)), "a key with which anybody could sign"),
    "key_of_order_four": (_weak(bytes(32)), "a key with which anybody could sign"),
    "key_of_order_two": (_weak(b"\xec" + b"\xff" * 30 + b"\x7f"), "a key with which anybody could sign"),
    "key_at_the_origin_written_otherwise": (
        _weak(b"\xee" + b"\xff" * 30 + b"\x7f"), "a key with which anybody could sign"
    ),
    "key_of_order_eight": (
        _weak(bytes.fromhex("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a")), "anybody could sign"
    ),
    "key_given_twice_in_a_file": (_key_text(lambda text: text.replace("{", '{"revoked": null,', 1)), "given twice"),
    "key_in_another_encoding": (_key_text(lambda text: text.encode("utf-16").decode("latin1")), "is not"),
    "key_with_a_mark_before_it": (_key_text(lambda text: "\ufeff" + text), "Unexpected UTF-8 BOM"),
    "key_of_an_account_that_computes": (_key(owner="=HYPERLINK(x)"), "makes a table compute"),
    "key_in_capitals": (_key(keyid=public_key(STRANGER).keyid.upper()), "keyid: String should match pattern"),
    "key_in_url_letters": (_key(public_key="-_" + "A" * 41 + "="), "public_key: String should match pattern"),
    "payload_given_twice": (
        lambda forge: forge.path.write_text(forge.path.read_text().replace("{", '{"payload": "",', 1)) and None,
        "key 'payload' is given twice",
    ),
    "key_of_nobody": (_key(owner="\u200b"), "owner: may not contain control or invisible"),
    "key_behind_a_link": (_linked_key, "is a symbolic link"),
    "record_behind_a_link": (_linked_record, "is a symbolic link"),
    "record_under_another_name": (_renamed, "it has to be named"),
    "record_that_is_a_pipe": (_pipe, "is not a regular file"),
    "record_that_is_a_folder": (_folder, "is not a regular file"),
    "record_of_twenty_megabytes": (_bytes(b" " * 20_000_001), "at most 20,000,000 are read"),
    "record_that_is_not_json": (_bytes(b"PASSED"), "is not valid JSON"),
    "record_that_is_not_text": (_bytes(b"\xff\xfe"), "is not UTF-8 text"),
    "record_that_is_nested": (_bytes(b"[" * 100_000), "nested more than 32 levels deep"),
    "record_that_is_empty": (_bytes(b""), "is not valid JSON"),
    "report_in_place_of_a_record": (_bytes(b'{"passed": true}'), "payload: Field required"),
}  # fmt: skip


@pytest.mark.parametrize(("spoil", "message"), ENVELOPES.values(), ids=list(ENVELOPES))
def test_a_record_that_is_not_rightly_signed_is_not_believed(tmp_path: Path, spoil: Spoil, message: str) -> None:
    forge = Forge(tmp_path / "repo")
    spoil(forge)
    assert message in believed(forge)


def test_a_key_file_that_is_altered_is_trusted_with_nothing(tmp_path: Path) -> None:
    forge = Forge(tmp_path / "repo")
    _another_key_under_the_name(forge)
    found = forge.board()
    assert found.listings == {}
    assert any("do not belong together" in reason for one in found.rejected for reason in one.reasons)


def test_an_honest_record_gives_a_rank(tmp_path: Path) -> None:
    forge = Forge(tmp_path / "repo")
    found = forge.board(judged=True)
    assert found.rejected == []
    assert forge.id in found.listings
    assert len(found.listings) == 2


def test_a_record_does_not_count_for_an_edited_submission(tmp_path: Path) -> None:
    forge = Forge(tmp_path / "repo")
    work = victim(forge)
    work.claims["notes"] = "now even better"
    work.save()
    assert "is not what was verified: its bytes have changed" in believed(forge, judged=True)


def test_a_record_does_not_count_for_another_submission(tmp_path: Path) -> None:
    forge = Forge(tmp_path / "repo")
    other = next(path for path in (forge.root / "verifications").iterdir() if path != forge.path)
    forge.path.write_bytes(other.read_bytes())
    assert "it has to be named" in believed(forge)


def test_a_record_under_two_names_counts_once(tmp_path: Path) -> None:
    forge = Forge(tmp_path / "repo")
    forge.path.with_name("copy.dsse.json").write_bytes(forge.path.read_bytes())
    found = forge.board()
    assert len(found.listings) == 2
    assert [one.path for one in found.rejected] == ["verifications/copy.dsse.json"]


def test_a_report_beside_the_submission_verifies_nothing(tmp_path: Path) -> None:
    forge = Forge(tmp_path / "repo")
    forge.path.unlink()
    forge.submission.with_suffix(".verified.json").write_text(json.dumps({"passed": True, "reproduction": {}}))
    assert ".verified.json is not a submission" in believed(forge)


def test_a_withdrawal_of_another_entry_withdraws_nothing(tmp_path: Path) -> None:
    forge = Forge(tmp_path / "repo")
    forge.statement["predicateType"] += "#withdrawn"
    forge.statement["predicate"] = {"submission_id": "another", "reason": "I do not like it", "date": "2026-01-01"}
    forge.path = forge.path.with_name("another.withdrawn.dsse.json")
    forge.sign()
    found = forge.board()
    assert (len(found.listings), found.withdrawn) == (2, {})
    assert "it is about 'another', but the submission is" in found.rejected[0].reasons[0]


def test_there_are_many_forged_records() -> None:
    assert len(STATED) + len(ENVELOPES) >= 80
