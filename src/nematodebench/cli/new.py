"""The work behind ``nematodebench new``: copies templates under another name."""

import importlib.util
import keyword
import re
from importlib.resources import files
from pathlib import Path
from typing import Literal

from nematodebench.errors import UsageError
from nematodebench.files import write_file

__all__ = ["write_new"]

_TEMPLATES = "nematodebench.templates"


def write_new(kind: Literal["brain", "world"], name: str, template: str, folder: Path) -> None:
    """Writes the file, its test and its config, and says what to do next.

    Args:
        kind: What it is.
        name: Name of the file; the class has the same in CamelCase.
        template: File of :mod:`nematodebench.templates` to begin with.
        folder: Where it is written; made if it is not there.
    """
    _check_spelling(kind, name)
    sources = {f"{name}.py": template, f"test_{name}.py": f"{kind}_test.txt", f"{name}.yml": f"{kind}_config.txt"}
    texts = {file: _text(source, kind, name) for file, source in sources.items()}
    there = [str(folder / file) for file in texts if (folder / file).exists()]
    # Some of them, just as they are written here, are those of the same command, which was killed.
    if len(there) < len(texts):
        there = [str(folder / file) for file, text in texts.items() if _other(folder / file, text)]
    if there:
        raise UsageError(f"{there[0]} exists already, and nothing is overwritten. Choose another name or --folder.")
    if importlib.util.find_spec(name) is not None:  # the file could not be imported beside it
        raise UsageError(f"There is a Python module called {name!r} already. Choose another name, like my_{name}.")
    try:
        for file, text in texts.items():
            write_file(folder / file, text.encode())
    except OSError as error:
        raise UsageError(f"Cannot write to {folder}: {error.strerror}.") from error
    place = f"{name}.py:{_class_name(name)}"
    steps = {
        "brain": [f"nematodebench check {place}", f"nematodebench run foraging_small-v2 {place} --runs 10"],
        "world": [f"nematodebench run {place} null_random --runs 10"],
    }[kind]
    print(f"Written: {', '.join(str(folder / file) for file in sources)}. Next{_from(folder)}:")
    print("\n".join(f"  {step}" for step in [*steps, f"pytest -q test_{name}.py"]))


def _text(source: str, kind: str, name: str) -> str:
    return _renamed(files(_TEMPLATES).joinpath(source).read_text(encoding="utf-8"), kind, name)


def _other(path: Path, text: str) -> bool:
    """Whether there is something else than this text."""
    try:
        return path.read_bytes() != text.encode()
    except FileNotFoundError:
        return False
    except OSError:
        return True


def _from(folder: Path) -> str:
    return "" if folder.resolve() == Path.cwd() else f", in {folder}"


def _class_name(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_"))


def _renamed(text: str, kind: str, name: str) -> str:
    return text.replace(f"My{kind.capitalize()}", _class_name(name)).replace(f"my_{kind}", name)


def _check_spelling(kind: str, name: str) -> None:
    """Refuses a name that no module can have."""
    if keyword.iskeyword(name):
        raise UsageError(f"{name!r} cannot be the name of a {kind}: it is a word of Python. Try my_{name}.")
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name.removesuffix(".py")).lower()
        plain = re.sub(r"[^a-z0-9]+", "_", words).strip("_")
        hint = f" Try {plain}." if re.fullmatch(r"[a-z][a-z0-9_]*", plain) and not keyword.iskeyword(plain) else ""
        raise UsageError(f"{name!r} cannot be the name of a {kind}: use lower-case letters, digits and _.{hint}")
