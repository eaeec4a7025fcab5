"""What is published stays: which changes of it a proposal may make, and which it may not.

Nobody changes or removes a result. A maintainer may revoke a key, assign a class to a verified brain that had none, and
put a new record in the place of one whose key was revoked. The configs that published entries were made with stay too:
an entry whose config says something else would no longer pass its checks.
"""

import base64
import json
from collections.abc import Iterator
from typing import Any

from pydantic import ValidationError

from nematodebench.board.changes import Change, Proposal
from nematodebench.errors import UsageError
from nematodebench.submissions.store import BENCHMARKS
from nematodebench.submissions.untrusted import MAX_CONFIG, MAX_JSON, parse_record, strict_json
from nematodebench.verification.keys import KEYS, PublicKey
from nematodebench.verification.store import VERIFICATIONS

__all__ = ["immutable", "kept_configs"]


def immutable(proposal: Proposal, published: list[Change], maintainer: bool | None) -> Iterator[str]:
    """Why changes of results and records are refused.

    Args:
        proposal: The proposal.
        published: Its changes of results, records and keys.
        maintainer: Whether a maintainer proposes them; None where nobody asks.
    """
    for change in published:
        if change.added:
            if change.path in proposal.published:
                yield f"{change.path} was published by somebody else since the proposal began"
            continue
        allowed = _allowed(proposal, change)
        if not allowed:
            what = {"D": "is removed", "M": "is changed"}.get(change.status, "changes its type")
            yield f"{change.path} {what}: what is published stays, and only a maintainer's signed record withdraws it"
        elif maintainer is False:
            yield f"{change.path} {allowed}, which only a maintainer may do"


def _allowed(proposal: Proposal, change: Change) -> str:
    """What a maintainer does by a change; empty for one that nobody may make."""
    if change.status != "M":
        return ""
    try:
        if change.path.startswith(f"{KEYS}/"):
            return "is revoked" if _is_revocation(proposal, change) else ""
        if change.path.startswith(f"{VERIFICATIONS}/"):
            return "is put in the place of another record" if _is_renewal(proposal, change) else ""
    except (UsageError, ValidationError, ValueError, TypeError, KeyError, AttributeError):
        pass  # it is not even a key or a record
    return ""


def _is_revocation(proposal: Proposal, change: Change) -> bool:
    old = parse_record(PublicKey, proposal.content(change, MAX_CONFIG, before=True), change.path)
    new = parse_record(PublicKey, proposal.content(change, MAX_CONFIG), change.path)
    return old.revoked is None and new.revoked is not None and new.model_copy(update={"revoked": None}) == old


def _is_renewal(proposal: Proposal, change: Change) -> bool:
    """Whether nothing that counts is lost: the old record's key was revoked, or the new one only adds a class."""
    old = strict_json(proposal.content(change, MAX_JSON, before=True), change.path)
    new = strict_json(proposal.content(change, MAX_JSON), change.path)
    signers = [str(one["keyid"]) for one in old["signatures"]]
    if signers and all(_is_revoked(proposal, one) for one in signers):
        return True
    before, after = _measured(old), _measured(new)
    return before.pop("brain_class") is None and after.pop("brain_class") is not None and before == after


def _is_revoked(proposal: Proposal, keyid: str) -> bool:
    content = proposal.trusted(f"{KEYS}/{keyid}.json", MAX_CONFIG)
    return content is not None and parse_record(PublicKey, content, keyid).revoked is not None


def _measured(envelope: Any) -> dict[str, Any]:
    """What a record states, apart from when and where it was measured."""
    statement = json.loads(base64.b64decode(envelope["payload"], validate=True))
    about = {key: value for key, value in statement.items() if key != "predicate"}
    left_out = {"provenance", "configuration", "started", "finished"}
    return about | {key: value for key, value in statement["predicate"].items() if key not in left_out}


def kept_configs(proposal: Proposal) -> Iterator[str]:
    """Why changes of configs are refused: published entries were made with them."""
    changed = {change.path for change in proposal.changes if change.path.startswith("configs/") and not change.added}
    for path, content in proposal.trusted_below(BENCHMARKS, MAX_JSON) if changed else ():
        try:
            config = json.loads(content).get("config_file")
        except (ValueError, AttributeError, RecursionError):
            continue  # it is no submission, and no entry
        if config in changed:
            changed.discard(config)
            yield f"{config} is changed or removed, but {path} was made with it: give the new config another name"
