"""Bundles of source: made from a contributor's files, read back with every byte checked, and never imported here."""

import hashlib
import io
import re
import sys
import tokenize
from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic import ValidationError

from nematodebench.engine.isolation.host import Foreign
from nematodebench.engine.isolation.sandbox import has_sandbox
from nematodebench.errors import UsageError
from nematodebench.records.bundle_schema import DEPENDENCIES, Bundle, BundleFile, bundle_hash, entry_of
from nematodebench.records.plain_text import is_invisible
from nematodebench.submissions.untrusted import problems, read_file

__all__ = ["BUNDLES", "MAX_BYTES", "MAX_FILE_BYTES", "bundle_problems", "foreign", "pack", "read_bundle"]

BUNDLES = "artifacts/bundles"
MAX_FILE_BYTES = 256 << 10
MAX_BYTES = 1 << 20
_EXECUTED = re.compile(
    r"(conftest|setup|noxfile|sitecustomize|usercustomize|__\w*__|test_\w*|\w*_test)\.py", re.IGNORECASE
)
"""Files that Python or its tools execute where they find them, whoever started these tools in the repository."""
_ESCAPED = re.compile(r"\\.")
_TAKEN = {name.lower() for name in (*sys.stdlib_module_names, *DEPENDENCIES, "nematodebench")}

Sources = dict[str, bytes]


def pack(paths: Sequence[Path], brain: str, needs: Sequence[str]) -> tuple[Bundle, Sources]:
    """Makes a bundle of a contributor's files.

    Args:
        paths: The brain's file and the files that it imports.
        brain: The brain's name in its sessions, ``file.py:Class`` or ``module:Class``.
        needs: Libraries it imports.
    """
    sources: Sources = {}
    for path in paths:
        if path.name in sources:
            raise UsageError(f"Two files of the bundle are called {path.name}: they share one folder there.")
        sources[path.name] = read_file(path.absolute().parent, path.name, MAX_FILE_BYTES)
    entry = entry_of(brain)
    try:
        files = [BundleFile(name=name, sha256=hashlib.sha256(sources[name]).hexdigest()) for name in sorted(sources)]
        dependencies = sorted({*needs})
        made = Bundle.model_validate(
            {"sha256": "0" * 64, "entry": entry, "files": files, "dependencies": dependencies}, strict=True
        )
    except ValidationError as error:
        raise UsageError(f"The bundle cannot be made: {'; '.join(problems(error))}.") from error
    bundle = made.model_copy(update={"sha256": bundle_hash(entry, files, made.dependencies)})
    found = [*_shape_problems(bundle), *_source_problems(sources)]
    if found:
        raise UsageError(f"The bundle cannot be made: {'; '.join(found)}.")
    return bundle, sources


def bundle_problems(root: Path, bundle: Bundle) -> list[str]:
    """Everything that is wrong with a bundle and its folder."""
    return _opened(root, bundle)[1]


def read_bundle(root: Path, bundle: Bundle) -> Sources:
    """The files of a bundle; UsageError where something is wrong with them."""
    sources, found = _opened(root, bundle)
    if found:
        raise UsageError(f"The bundle is refused: {'; '.join(found)}.")
    return sources


def _opened(root: Path, bundle: Bundle) -> tuple[Sources, list[str]]:
    """The files as they were read once, and what is wrong with exactly these bytes."""
    found = list(_shape_problems(bundle))
    place = f"{BUNDLES}/{bundle.sha256}"
    present = sorted(path.name for path in (root / place).iterdir()) if (root / place).is_dir() else []
    strays = [name for name in present if name not in {file.name for file in bundle.files}]
    if strays:
        found.append(f"{place} holds files that are not part of the bundle: {', '.join(map(repr, strays[:5]))}")
    sources: Sources = {}
    for file in bundle.files:
        try:
            content = read_file(root, f"{place}/{file.name}", MAX_FILE_BYTES)
        except UsageError as error:
            found.append(str(error).rstrip("."))
            continue
        if hashlib.sha256(content).hexdigest() != file.sha256:
            found.append(f"{file.name} of the bundle is not the file that was submitted")
        sources[file.name] = content
    return sources, [*found, *_source_problems(sources)]


def _shape_problems(bundle: Bundle) -> Iterator[str]:
    """What is wrong with the list of files, before any of them is read."""
    names = [file.name for file in bundle.files]
    for name in sorted(set(names)):
        if names.count(name) > 1:
            yield f"{name} is listed twice in the bundle"
    if len({name.lower() for name in names}) < len(set(names)):
        yield "two files of the bundle differ only in upper and lower case"
    for name in names:
        if name.removesuffix(".py").lower() in _TAKEN:
            yield f"{name} has the name of a library: importing it would find the library instead"
        if _EXECUTED.fullmatch(name):
            yield f"{name} has a name that Python or its tools execute by themselves: give it another one"
    if bundle.entry_file is None:
        yield f"the bundle lacks {bundle.entry.partition(':')[0]}, the file of its entry {bundle.entry!r}"
    if len(set(bundle.dependencies)) < len(bundle.dependencies):
        yield "a dependency of the bundle is listed twice"
    if bundle.sha256 != bundle_hash(bundle.entry, bundle.files, bundle.dependencies):
        yield "the bundle's sha256 is not that of its entry, files and dependencies"


def _source_problems(sources: Sources) -> Iterator[str]:
    """What is wrong with the files themselves: their size, and anything that is not plain text."""
    total = sum(len(content) for content in sources.values())
    if total > MAX_BYTES:
        yield f"the files of the bundle have {total:,} bytes: at most {MAX_BYTES:,} are allowed"
    for name, content in sources.items():
        try:
            text = content.decode("utf-8")
        except UnicodeDecodeError:
            yield f"{name} of the bundle is not UTF-8 text"
            continue
        if not _read_as_utf8(content):
            yield f"{name} of the bundle declares another encoding: Python would read other text than everybody sees"
        odd = next((character for character in text if character not in "\n\t" and is_invisible(character)), None)
        if odd == "\r":
            yield f"{name} of the bundle has line ends of Windows: save it with plain ones"
        elif odd is not None:
            yield f"{name} of the bundle holds a control or invisible character (U+{ord(odd):04X})"
        elif (word := _look_alike(text)) is not None:
            yield f"{name} of the bundle: Python may read the name {word!r} otherwise than people: use plain letters"


def _look_alike(text: str) -> str | None:
    """A name of the program that is not made of plain letters; comments and texts may hold any.

    A text with braces in it, an f-string, is a program too, and so are the names in it.
    """
    if text.isascii():
        return None
    try:
        # Escaped characters end no text, and many of them take Python's own reader a time that grows with their square.
        words = tokenize.generate_tokens(io.StringIO(_ESCAPED.sub("xx", text)).readline)
        return next((one.string[:80] for one in words if _is_program(one) and not one.string.isascii()), None)
    except (SyntaxError, tokenize.TokenError):  # nobody can execute it
        return None


def _is_program(token: tokenize.TokenInfo) -> bool:
    """Whether a part of the source is a name or an f-string, which Python 3.11 reads as one text."""
    formatted = token.type == tokenize.STRING and "f" in token.string.partition(token.string[-1])[0].lower()
    return token.type == tokenize.NAME or formatted or tokenize.tok_name[token.type] == "FSTRING_MIDDLE"


def _read_as_utf8(content: bytes) -> bool:
    try:
        return tokenize.detect_encoding(io.BytesIO(content).readline)[0] == "utf-8"
    except SyntaxError:  # an encoding that does not exist
        return False


def foreign(root: Path, bundle: Bundle, work: Path, trust_code: bool) -> Foreign:
    """The bundle's brain, to be executed in the sandbox from a copy of the checked bytes.

    Args:
        root: The repository that holds the bundle.
        bundle: The bundle.
        work: A folder of ours for the copy and for compiled code.
        trust_code: Whether the brain may run without a sandbox where there is none.
    """
    sources = read_bundle(root, bundle)
    folder = (work / f"bundle_{bundle.sha256[:16]}").absolute()
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in sources.items():
        path = folder / name
        if not path.is_file() or path.read_bytes() != content:
            path.write_bytes(content)
    return Foreign(
        f"{folder}/{bundle.entry}", (folder,), cache=folder.with_name(f"{folder.name}_compiled"),
        trusted=trust_code and not has_sandbox(),
    )  # fmt: skip
