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
            if stored["submission_sha256"] == digest and len(bytes.fromhex(stored["challenge"])) == _BYTES:
                return str(stored["challenge"])
        except (ValueError, KeyError, TypeError):
            pass
        raise UsageError(f"{path} is damaged, and runs beside it follow from it. Remove {work}, and verify again.")
    word = fresh.draw()
    atomic_write(path, json.dumps({"submission_sha256": digest, "challenge": word}).encode())
    return word


class Outcomes:
    """Which claimed runs came out the same, one line each; a line that a kill cut short is passed over."""

    def __init__(self, path: Path) -> None:
        self._path, self.found, self.reasons = path, dict[int, bool](), dict[int, str]()
        for line in path.read_bytes().splitlines() if path.is_file() else []:
            try:
                k, same, why = json.loads(line)
            except (ValueError, TypeError, RecursionError):
                continue
            if isinstance(k, int) and isinstance(same, bool) and isinstance(why, str):
                self.found[k], self.reasons[k] = same, why

    def add(self, k: int, same: bool, why: str) -> None:
        """One more has been compared."""
        self.found[k], self.reasons[k] = same, why
        with self._path.open("a") as stream:
            stream.write(json.dumps([k, same, why]) + "\n")
