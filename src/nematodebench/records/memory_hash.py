"""What a memory hash can be compared with: only with hashes of its own kind.

How the memory of a brain is hashed has a version. The first kind is 64 hexadecimal digits without more; a later one
carries its number in front, like ``v2:``. A stored hash of an older kind cannot be computed any more: then the run's
record hash alone decides whether a re-execution is the same.
"""

import re

__all__ = ["OLDER_KIND", "memory_kind", "same_memory"]

OLDER_KIND = "memory hash of an older kind; records decide"
_FORM = re.compile(r"(?:v(?P<kind>[1-9][0-9]*):)?[0-9a-f]{64}")


def memory_kind(text: str) -> int | None:
    """The number of a hash's kind: 1 for bare digits; None where the text is no memory hash."""
    match = _FORM.fullmatch(text)
    if match is None:
        return None
    return int(match["kind"] or 1)


def same_memory(recorded: str, computed: str) -> bool | None:
    """Whether two memory hashes agree; None where the recorded one is of an older kind, which decides nothing.

    A recorded hash of a kind that is newer than the computed one, or of no kind, agrees with nothing.
    """
    theirs, ours = memory_kind(recorded), memory_kind(computed)
    if theirs is not None and ours is not None and theirs < ours:
        return None
    return recorded == computed
