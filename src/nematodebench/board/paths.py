"""Names of files that somebody else chose: which are refused, and which could be taken for another one."""

import re
from collections.abc import Collection, Iterator

__all__ = ["collisions", "strange"]

_LONGEST = 300
_OURS = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)*")
_LOOK_ALIKE = str.maketrans({"0": "o", "1": "l", "i": "l"})
_DEVICES = {"con", "prn", "aux", "nul", *(f"{name}{k}" for name in ("com", "lpt") for k in range(1, 10))}


def strange(path: str, *, ours: bool) -> str:
    """Why a name is refused; empty if it is not.

    Args:
        path: The name.
        ours: Whether it is one of a result or a record, whose names this package makes.
    """
    if any(not " " < character <= "~" for character in path):
        return "its name has blanks or characters that are not plain ASCII"
    if len(path) > _LONGEST:
        return f"its name has {len(path)} characters: at most {_LONGEST} are taken"
    if any(character in path for character in '\\:*?"<>|'):
        return "its name has characters that some systems do not allow"
    for part in path.lower().split("/"):
        if part.endswith(".") or part.partition(".")[0] in _DEVICES or re.fullmatch(r"git~[0-9]+", part):
            return f"{part!r} means something else on some systems"
        if part == ".git":
            return "it lies in a folder of git's own"
    return "its name is not made of letters, digits and _.-" if ours and not _OURS.fullmatch(path) else ""


def collisions(added: Collection[str], published: Collection[str]) -> Iterator[str]:
    """Added names that differ from another one, or from a folder, in case or in look-alike characters only.

    A tree that was made by hand can also hold a file and a folder of one name.
    """
    spelled: dict[str, str] = {}
    folders = {part for path in (*published, *added) for part in _with_folders(path) if part != path}
    for path in published:
        for part in _with_folders(path):
            spelled.setdefault(_folded(part), part)
    for path in sorted(added):
        if path in folders:
            yield f"{path!r} is a file and a folder at once"
        for part in _with_folders(path):
            other = spelled.setdefault(_folded(part), part)
            if other != part:
                yield f"{path!r} could be taken for {other!r}"
                break


def _with_folders(path: str) -> Iterator[str]:
    place = len(path)
    while place > 0:
        yield path[:place]
        place = path.rfind("/", 0, place)


def _folded(path: str) -> str:
    """The same for names that a system or an eye does not tell apart."""
    return path.casefold().translate(_LOOK_ALIKE)
