"""What is published stays: which changes of it a proposal may make, and which it may not.

Nobody changes or removes a result or a record. A maintainer may revoke a key; a new verification, also one that only
assigns a class, is a new record beside the old one. The configs that published entries were made with stay too:
an entry whose config says something else would no longer pass its checks.
"""

import json
from collections.abc import Iterator

from pydantic import ValidationError

from nematodebench.board.changes import Change, Proposal
from nematodebench.errors import UsageError
from nematodebench.submissions.store import BENCHMARKS
from nematodebench.submissions.untrusted import MAX_CONFIG, MAX_JSON, parse_record
from nematodebench.verification.keys import KEYS, PublicKey

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
    except (UsageError, ValidationError, ValueError):
        pass  # it is not even a key
    return ""


def _is_revocation(proposal: Proposal, change: Change) -> bool:
    old = parse_record(PublicKey, proposal.content(change, MAX_CONFIG, before=True), change.path)
    new = parse_record(PublicKey, proposal.content(change, MAX_CONFIG), change.path)
    return old.revoked is None and new.revoked is not None and new.model_copy(update={"revoked": None}) == old


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
