"""Reads files that somebody else wrote: of bounded size, inside the tree, and with exactly one meaning."""

import contextlib
import json
import lzma
import math
import os
import re
import stat
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import yaml
from pydantic import ValidationError

from nematodebench.errors import UsageError
from nematodebench.records.plain_text import is_invisible
from nematodebench.records.schemas import Record
from nematodebench.records.versions import up_to_date
from nematodebench.sessions.config import SessionConfig, config_from
from nematodebench.submissions.contents import PLAIN

__all__ = [
    "MAX_CONFIG",
    "MAX_JSON",
    "MAX_SUBMISSION",
    "parse_config",
    "parse_record",
    "problems",
    "read_file",
    "strict_json",
    "uncompressed",
]

MAX_CONFIG = 1 << 16
MAX_SUBMISSION = 4_000_000
MAX_JSON = 20_000_000
MAX_DEPTH = 32
_MAX_EVENTS = 10_000
_MAX_MEMORY = 256 << 20
_SHOWN = 10
_ODD_NUMBER = re.compile(
    r"[-+]?(0[xXbBoO].*|0[0-9_]+|[0-9][0-9_]*(:[0-9_.]+)+|[0-9.]*_[0-9_.]*([eE][-+]?[0-9]+)?|[0-9]{20,})"
)
"""Numbers of YAML 1.1 that people read otherwise: hexadecimal, binary, octal, sexagesimal, with _, or endless."""

_NO_NUMBER_OR_TEXT = re.compile(r"[-+]?\.(inf|nan)|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt \t].*)?", re.IGNORECASE)
"""Words of YAML 1.1 that become infinite, no number, or a date."""

Kind = TypeVar("Kind", bound=Record)


def read_file(root: Path, relative: str, limit: int) -> bytes:
    """Reads a regular file below ``root``. It follows no link on the way."""
    place = str(root)
    for part in relative.split("/"):
        if part in {"", ".", ".."} or "\\" in part or "\0" in part:
            raise UsageError(f"{relative!r} is not a path inside the repository.")
        place = f"{place}/{part}"
        try:
            kind = os.lstat(place).st_mode
        except OSError as error:
            raise UsageError(f"{relative} does not exist.") from error
        if stat.S_ISLNK(kind):
            name = Path(place).relative_to(root)
            raise UsageError(f"{name} is a symbolic link: only plain files and folders are read.")
    if not stat.S_ISREG(kind):
        raise UsageError(f"{relative} is not a regular file.")
    try:
        handle = os.open(place, PLAIN)
        try:
            return _content(handle, relative, limit)
        finally:
            os.close(handle)
    except OSError as error:
        raise UsageError(f"Cannot read {relative}: {error.strerror}.") from error


def _content(handle: int, name: str, limit: int) -> bytes:
    """What is in an open file, which may have been replaced since somebody looked at its name."""
    found = os.fstat(handle)
    if not stat.S_ISREG(found.st_mode):
        raise UsageError(f"{name} is not a regular file.")
    if found.st_nlink > 1:
        raise UsageError(f"{name} is a hard link: it is a file of another place as well.")
    if found.st_size > limit:
        raise UsageError(f"{name} has {found.st_size:,} bytes: at most {limit:,} are read.")
    content = os.read(handle, found.st_size + 1)
    while len(content) <= limit and (part := os.read(handle, limit + 1 - len(content))):
        content += part
    if len(content) > limit:
        raise UsageError(f"{name} has more than {limit:,} bytes, which are the most that are read.")
    return content


def uncompressed(content: bytes, limit: int, name: str) -> bytes:
    """The content of an xz file: all of it, nothing after it, and at most ``limit`` bytes."""
    reader = lzma.LZMADecompressor(format=lzma.FORMAT_XZ, memlimit=_MAX_MEMORY)
    try:
        found = reader.decompress(content, max_length=limit)
    except lzma.LZMAError as error:
        raise UsageError(f"{name} is not an xz file.") from error
    if not reader.eof or reader.unused_data:
        raise UsageError(f"{name} is not one whole xz file with at most {limit:,} bytes inside.")
    return found


def strict_json(content: bytes, name: str) -> Any:
    """Parses JSON that has one meaning: UTF-8, finite numbers, no key twice, not deeply nested."""
    try:
        parsed = json.loads(
            content.decode("utf-8"), object_pairs_hook=_once, parse_constant=_not_a_number, parse_float=_finite
        )
    except RecursionError as error:
        raise UsageError(f"{name} is nested more than {MAX_DEPTH} levels deep.") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{name} is not UTF-8 text.") from error
    except ValueError as error:
        raise UsageError(f"{name} is not valid JSON: {error}.") from error
    _check_depth(parsed, name)
    return parsed


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"key {twice[:100]!r} is given twice")
    return content


def _not_a_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a number")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text} is too large for a number")
    return value


def _check_depth(content: Any, name: str) -> None:
    level, depth = [content], 0
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            raise UsageError(f"{name} is nested more than {MAX_DEPTH} levels deep.")
        inner: list[Any] = []
        for value in level:
            within = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
            if not {dict, list}.isdisjoint(map(type, within)):  # long lists of numbers are passed over at once
                inner += [one for one in within if isinstance(one, dict | list)]
        level = inner


def parse_record(model: type[Kind], content: bytes, name: str) -> Kind:
    """Parses a stored record of any version strictly: text does not stand for a number."""
    parsed = strict_json(content, name)
    return model.model_validate_json(up_to_date(model, content, parsed, name), strict=True)


def problems(error: ValidationError) -> list[str]:
    """What is wrong with a record, field by field."""
    found = error.errors(include_url=False, include_input=False)
    lines = [
        f"{'.'.join(str(part)[:60] for part in one['loc']) or 'content'}: {one['msg'].removeprefix('Value error, ')}"
        for one in found[:_SHOWN]
    ]
    return lines + ([f"and {len(found) - _SHOWN} more"] if len(found) > _SHOWN else [])


def parse_config(content: bytes, name: str) -> SessionConfig:
    """Parses a config from a submission. It takes plain YAML only, in time that grows with its length."""
    with contextlib.suppress(yaml.YAMLError, UnicodeDecodeError, RecursionError):  # config_from says these better
        _check_yaml(content.decode("utf-8"), name)
    return config_from(content, name)


def _check_yaml(text: str, name: str) -> None:
    """Refuses what makes a short text long, slow to read or other than it looks.

    Events come one after another while the text is read, so that a text which goes too deep is not read to its end.
    """
    _check_lines(text, name)
    depth = 0
    for count, event in enumerate(yaml.parse(text, Loader=yaml.SafeLoader)):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH or count > _MAX_EVENTS:
            what = f"is nested more than {MAX_DEPTH} levels deep" if depth > MAX_DEPTH else "has too many values"
            raise UsageError(f"{name} {what}.")
        if isinstance(event, yaml.AliasEvent):
            raise UsageError(f"{name} uses YAML aliases: write the values out.")
        tag = getattr(event, "tag", None)
        if tag is not None:
            raise UsageError(f"{name} says with a tag what a value is ({tag[-40:]!r}): write it so that it is plain.")
        if isinstance(event, yaml.ScalarEvent):
            _check_scalar(event.value, event.implicit[0], name)


def _check_lines(text: str, name: str) -> None:
    """Refuses lines that end where an editor shows no end, and comments that show something else than they are."""
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n")
    odd = next((one for one in lines if one not in "\n\t" and is_invisible(one)), None)
    if odd is not None:
        raise UsageError(f"{name} holds a control or invisible character (U+{ord(odd):04X}).")


def _check_scalar(text: str, plain: bool, name: str) -> None:
    """Refuses a value that is read otherwise than it looks; quoted ones are texts, and may not act on a terminal."""
    odd = next((one for one in text if one != "\n" and is_invisible(one)), None)
    if odd is not None:
        raise UsageError(f"{name} holds a control or invisible character (U+{ord(odd):04X}).")
    if not plain:
        return
    if text == "<<":
        raise UsageError(f"{name} merges mappings with <<: write the values out.")
    if _ODD_NUMBER.fullmatch(text):
        raise UsageError(f"{name}: {text[:40]!r} is not a number that everybody reads alike: write it in decimals.")
    if _NO_NUMBER_OR_TEXT.fullmatch(text) or _is_endless(text):
        raise UsageError(f"{name}: {text[:40]!r} is neither a finite number nor a text: put a text into quotes.")


def _is_endless(text: str) -> bool:
    try:
        return math.isinf(float(text)) and text[-1].isdigit()
    except ValueError:
        return False
