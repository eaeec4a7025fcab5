"""The one way in which this package calls git: it asks questions, and nothing of the repository is executed.

A repository's own config and attributes can name programs: file-system monitors, hooks, filters, external differences,
signature checkers. All of them are off here, and git sees nothing of the environment but the search path and the home
folder. Replaced objects and grafts, which show another history than the commits do, are off too.
"""

import os
import shutil
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path

__all__ = ["git", "git_bytes", "has_more"]

_SECONDS = 120
_PART = 1 << 20
_OFF = (
    ("core.fsmonitor", "false"),
    ("core.hooksPath", os.devnull),
    ("core.attributesFile", os.devnull),
    ("core.pager", "cat"),
    ("core.quotePath", "false"),
    ("core.sshCommand", "false"),
    ("core.askPass", "false"),
    ("credential.helper", ""),
    ("log.showSignature", "false"),
    ("gpg.program", "false"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("submodule.recurse", "false"),
    ("diff.ignoreSubmodules", "all"),
)
_FILTER = (("clean", ""), ("smudge", ""), ("process", ""), ("required", "false"))
_KEPT = ("safe.directory", "core.excludesfile")
"""What of the user's own config still counts: it names folders and files, and no programs."""


def git(*arguments: str, folder: Path | None = None) -> str | None:
    """What git prints; None where it cannot answer (no git, no repository)."""
    found = git_bytes(*arguments, folder=folder)
    return None if found is None else found.decode("utf-8", "replace").strip()


def git_bytes(*arguments: str, folder: Path | None = None, asked: bytes = b"") -> bytes | None:
    """The bytes that git prints; None where it cannot answer. ``asked`` is what it reads from its standard input."""
    place = (folder or Path.cwd()).absolute()
    return _call(list(arguments), place, _safe(place), asked)


def _safe(folder: Path) -> dict[str, str]:
    """The environment in which git starts nothing, whatever the repository of a folder says."""
    listed = _call(["config", "-z", "--get-regexp", rf"^(filter\..*|{'|'.join(_KEPT)})$"], folder, _environment())
    return _environment(_OFF + _settings(listed or b"")) | _NOTHING_ELSE


def has_more(arguments: Sequence[str], most: int, folder: Path) -> bool | None:
    """Whether git lists more than so many names, each with a zero behind it; None where it cannot answer.

    It is stopped as soon as there are more. A few small trees that hold each other many times are billions of files: no
    list of them would fit into memory.
    """
    place, program = folder.absolute(), _program()
    if program is None:
        return None
    words = [program, "--no-pager", "-C", str(place), *arguments]
    found = 0
    with subprocess.Popen(
        words, cwd="/", env=_safe(place), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as listing:
        assert listing.stdout is not None
        too_late = threading.Timer(_SECONDS, listing.kill)
        too_late.start()
        try:
            while found <= most:
                part = listing.stdout.read(_PART)
                if not part:
                    return False if listing.wait() == 0 else None
                found += part.count(b"\0")
        finally:
            too_late.cancel()
            listing.kill()
    return True


def _program() -> str | None:
    """Where git is. A relative entry of the search path could lead to a program inside the repository."""
    places = [place for place in os.environ.get("PATH", os.defpath).split(os.pathsep) if Path(place).is_absolute()]
    return shutil.which("git", path=os.pathsep.join(places))


def _call(arguments: list[str], folder: Path, environment: dict[str, str], asked: bytes = b"") -> bytes | None:
    program = _program()
    if program is None:
        return None
    words = [program, "--no-pager", "-C", str(folder), *arguments]
    try:
        done = subprocess.run(
            words, cwd="/", env=environment, input=asked, capture_output=True, timeout=_SECONDS, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def _settings(listed: bytes) -> tuple[tuple[str, str], ...]:
    """Settings that take the programs out of every filter which the config names."""
    found: dict[tuple[str, str], None] = {}
    for line in listed.decode("utf-8", "surrogateescape").split("\0"):
        key, _, value = line.partition("\n")
        if key in _KEPT:
            found[key, value] = None
        elif key.startswith("filter."):
            found.update({(f"{key.rpartition('.')[0]}.{name}", off): None for name, off in _FILTER})
    return tuple(found)


_NOTHING_ELSE = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_CONFIG_GLOBAL": os.devnull,
}


def _environment(settings: tuple[tuple[str, str], ...] = ()) -> dict[str, str]:
    own = {name: os.environ[name] for name in ("PATH", "HOME", "XDG_CONFIG_HOME") if name in os.environ}
    given = {"GIT_CONFIG_COUNT": str(len(settings))}
    for k, (key, value) in enumerate(settings):
        given |= {f"GIT_CONFIG_KEY_{k}": key, f"GIT_CONFIG_VALUE_{k}": value}
    return own | given | {
        "LC_ALL": "C",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_GRAFT_FILE": os.devnull,
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": "",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
    }  # fmt: skip
