"""What a verification has finished already, in the folder it works in: it goes on there, and mixes nothing."""

import hashlib
import json
from pathlib import Path

from nematodebench.errors import UsageError
from nematodebench.files import atomic_write
from nematodebench.records.provenance import software
from nematodebench.verification import challenge as fresh

__all__ = ["Outcomes", "kept_challenge", "state_name"]

_BYTES = 32
"""Length of a challenge."""


def state_name(digest: str) -> str:
    """The name of the folder for a submission, given its hash, with this code and these libraries.

    A record says with which versions its runs were executed, so those of two states lie in two folders.
    """
    state = hashlib.sha256(json.dumps(software(), sort_keys=True).encode()).hexdigest()
    return f"{digest[:16]}_{state[:8]}"


def kept_challenge(work: Path, digest: str) -> str:
    """The challenge of this verification, drawn once and kept with its work.

    Raises:
        UsageError: It was kept and is damaged. A new one would not be that of the runs that lie beside it.
    """
    path = work / "challenge.json"
    if path.is_file():
        try:
            stored = json.loads(path.read_text(encoding="utf-8"))
            word = str(stored["challenge"])
            whole = stored["submission_sha256"] == digest and stored["check"] == _check(digest, word)
            if whole and len(bytes.fromhex(word)) == _BYTES:
                return word
        except (ValueError, KeyError, TypeError):
            pass
        raise UsageError(f"{path} is damaged, and runs beside it follow from it. Remove {work}, and verify again.")
    word = fresh.draw()
    kept = {"submission_sha256": digest, "challenge": word, "check": _check(digest, word)}
    atomic_write(path, json.dumps(kept).encode())
    return word


def _check(*content: object) -> str:
    """A hash of what is kept: one wrong digit in it is no error that reading finds."""
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:16]


class Outcomes:
    """Which claimed runs came out the same, one line each; one that was cut short or is damaged is passed over."""

    def __init__(self, path: Path) -> None:
        self._path, self.found, self.reasons = path, dict[int, bool](), dict[int, str]()
        for line in path.read_bytes().splitlines() if path.is_file() else []:
            try:
                k, same, why, check = json.loads(line)
            except (ValueError, TypeError, RecursionError):
                continue
            if check == _check(k, same, why):
                self.found[k], self.reasons[k] = same, why

    def add(self, k: int, same: bool, why: str) -> None:
        """One more has been compared."""
        self.found[k], self.reasons[k] = same, why
        with self._path.open("a") as stream:
            stream.write(json.dumps([k, same, why, _check(k, same, why)]) + "\n")
