"""What a memory hash can be compared with: only with hashes of its own kind.

How the memory of a brain is hashed has a kind. The first is 64 hexadecimal digits without more: the bytes that a Python
brain tells of itself, and every brain of older versions. A later one carries its number in front. ``v2:`` are the named
arrays of a compiled brain, ``v3:`` is what was taken from the attributes of a Python brain that tells nothing. A
stored hash of an older kind cannot be computed any more: then the run's record hash alone decides whether a
re-execution is the same. A brain whose memory cannot be had has no hash (None), and nothing says that it matched.
"""

import hashlib
import re

__all__ = ["NO_HASH", "OLDER_KIND", "memory_kind", "not_compared", "same_memory"]

OLDER_KIND = "memory hash of an older kind; records decide"
NO_HASH = "no memory hash; records decide"
_FORM = re.compile(r"(?:v(?P<kind>[1-9][0-9]{0,2}):)?[0-9a-f]{64}")
_OF_NOTHING = hashlib.sha256(b"").hexdigest()
"""What older versions stored for a brain that told nothing of its memory."""


def memory_kind(text: str) -> int | None:
    """The number of a hash's kind: 1 for bare digits; None where the text is no memory hash."""
    match = _FORM.fullmatch(text)
    if match is None:
        return None
    return int(match["kind"] or 1)


def same_memory(recorded: str | None, computed: str | None) -> bool | None:
    """Whether two memory hashes agree; None where the recorded one is missing or of an older kind: it decides nothing.

    A recorded hash of a kind that is newer than the computed one, or of no kind, agrees with nothing.
    """
    if recorded is None or (computed is None and recorded == _OF_NOTHING):
        return None
    if computed is None:
        return False
    theirs, ours = memory_kind(recorded), memory_kind(computed)
    if theirs is not None and ours is not None and theirs < ours:
        return None
    return recorded == computed


def not_compared(recorded: str | None, computed: str | None) -> str:
    """Why two memory hashes decide nothing, in words; empty where they do."""
    if same_memory(recorded, computed) is not None:
        return ""
    return NO_HASH if recorded is None or computed is None else OLDER_KIND
