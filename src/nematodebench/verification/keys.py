"""Keys that sign verification records. Public halves lie in ``keys/`` of the repository, private ones never do."""

import base64
import binascii
import datetime
import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from pydantic import Field, ValidationError

from nematodebench.errors import StorageError, UsageError
from nematodebench.files import write_file
from nematodebench.records.basic_schemas import Day, Record, Sha256
from nematodebench.records.submission_schema import ShownName
from nematodebench.submissions.untrusted import MAX_CONFIG, parse_record, problems, read_file

__all__ = [
    "KEYS",
    "Keys",
    "PublicKey",
    "Revocation",
    "key_id",
    "load_keys",
    "new_key",
    "parsed_key",
    "read_private",
    "revoke",
]

KEYS = "keys"
_PRIME = 2**255 - 19
_SMALL_ORDER = {
    0, 1, _PRIME - 1, 0x05FC536D880238B13933C6D305ACDFD5F098EFF289F4C345B027B2C28F95E826,
    0x7A03AC9277FDC74EC6CC392CFA53202A0F67100D760B3CBA4FD84D3D706A17C7,
}  # fmt: skip
"""Places on the curve for which anybody finds signatures without a private key: a public key there is nobody's."""


class Revocation(Record):
    """Since when and why a key is no longer believed."""

    date: Day
    reason: ShownName


class PublicKey(Record):
    """The public half of a key, as it is stored in the repository."""

    schema_version: Literal[1] = 1
    keyid: Sha256 = Field(description="SHA-256 of the 32 bytes of the public key")
    algorithm: Literal["ed25519"] = "ed25519"
    public_key: str = Field(pattern=r"^[A-Za-z0-9+/]{43}=$", description="32 bytes in base64")
    owner: ShownName
    added: Day
    revoked: Revocation | None = None


@dataclass(frozen=True)
class Keys:
    """The keys of a repository by their ids, and the files in their folder that are none, with the reason."""

    trusted: dict[str, Ed25519PublicKey] = field(default_factory=dict)
    files: dict[str, PublicKey] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """Hash of who is believed: another one as soon as a key is added, changed or revoked."""
        lines = [
            f"{keyid} {keyid in self.trusted} {one.model_dump_json()}" for keyid, one in sorted(self.files.items())
        ]
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _today() -> str:
    return datetime.datetime.now(datetime.UTC).date().isoformat()


def _raw(key: Ed25519PublicKey) -> bytes:
    return key.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)


def key_id(key: Ed25519PublicKey) -> str:
    """The name of a key: a hash of its public half."""
    return hashlib.sha256(_raw(key)).hexdigest()


def load_keys(root: Path) -> Keys:
    """Reads every key of a repository. A file that is none is trusted with nothing, and named with the reason."""
    keys = Keys()
    folder = root / KEYS
    for path in sorted(folder.iterdir()) if folder.is_dir() else []:
        try:
            stored, key = parsed_key(read_file(root, f"{KEYS}/{path.name}", MAX_CONFIG), path.name)
        except UsageError as error:
            keys.refused[f"{KEYS}/{path.name}"] = str(error)
            continue
        keys.files[stored.keyid] = stored
        if stored.revoked is None:
            keys.trusted[stored.keyid] = key
    return keys


def parsed_key(content: bytes, name: str) -> tuple[PublicKey, Ed25519PublicKey]:
    """What a file of ``keys/`` says, and the key in it; UsageError where it is none or has another name."""
    try:
        stored = parse_record(PublicKey, content, name)
    except ValidationError as error:
        raise UsageError(f"{KEYS}/{name} is not a key: {'; '.join(problems(error))}.") from error
    try:
        raw = base64.b64decode(stored.public_key, validate=True)
        key = Ed25519PublicKey.from_public_bytes(raw)
    except (binascii.Error, ValueError) as error:
        raise UsageError(f"{KEYS}/{name} holds no Ed25519 key.") from error
    if (int.from_bytes(raw, "little") & (2**255 - 1)) % _PRIME in _SMALL_ORDER:
        raise UsageError(f"{KEYS}/{name} is a key with which anybody could sign: it has no private half.")
    if key_id(key) != stored.keyid or name != f"{stored.keyid}.json":
        raise UsageError(f"{KEYS}/{name}: the name, the keyid and the key do not belong together.")
    return stored, key


def _write(root: Path, key: PublicKey) -> Path:
    path = root / KEYS / f"{key.keyid}.json"
    try:
        write_file(path, (key.model_dump_json(indent=1) + "\n").encode())
    except OSError as error:
        raise StorageError(f"Cannot write {path}: {error.strerror or error}. The same command goes on.") from error
    return path


def new_key(root: Path, owner: str, private: Path) -> PublicKey:
    """Makes a key: its public half is written to the repository, its private half to a file outside of it."""
    inside = private.resolve().is_relative_to(root.resolve())
    secret = _half_made(root, private)
    if inside or (private.exists() and secret is None):
        why = "is inside the repository" if inside else "exists already"
        raise UsageError(f"{private} {why}: give a new file outside of it for the private key.")
    new = secret is None
    secret = secret or Ed25519PrivateKey.generate()
    raw = base64.b64encode(_raw(secret.public_key())).decode()
    try:
        stored = PublicKey(keyid=key_id(secret.public_key()), public_key=raw, owner=owner, added=_today())
    except ValidationError as error:
        raise UsageError(f"The key cannot be made: {'; '.join(problems(error))}.") from error
    pem = secret.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    try:
        if not private.parent.is_dir():
            raise UsageError(f"Cannot write {private}: there is no folder {private.parent}.")
        if new:
            write_file(private, pem, 0o600)
    except OSError as error:
        raise UsageError(f"Cannot write {private}: {error.strerror}.") from error
    _write(root, stored)
    return stored


def _half_made(root: Path, private: Path) -> Ed25519PrivateKey | None:
    """The private key of a command that was killed before the public half was written; None where there is none."""
    if not private.is_file():  # a pipe would be waited for
        return None
    try:
        found = read_private(private)
    except UsageError:
        return None
    return None if key_id(found.public_key()) in load_keys(root).files else found


def revoke(root: Path, keyid: str, reason: str) -> PublicKey:
    """Marks a key as no longer believed; nothing that it signed counts from now on."""
    known = load_keys(root).files
    matching = [one for one in known if one.startswith(keyid)] if keyid else []
    if len(matching) != 1:
        raise UsageError(f"There is no single key {keyid!r} in {KEYS}/: it holds {', '.join(known) or 'none'}.")
    try:
        revoked = known[matching[0]].model_copy(update={"revoked": Revocation(date=_today(), reason=reason)})
    except ValidationError as error:
        raise UsageError(f"The key cannot be revoked: {'; '.join(problems(error))}.") from error
    _write(root, revoked)
    return revoked


def read_private(path: Path) -> Ed25519PrivateKey:
    """Reads a private key that :func:`new_key` wrote."""
    try:
        key = serialization.load_pem_private_key(path.read_bytes(), password=None)
    except OSError as error:
        raise UsageError(f"Cannot read the private key {path}: {error.strerror}.") from error
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise UsageError(f"{path} is not a private key without password in PEM form.") from error
    if not isinstance(key, Ed25519PrivateKey):
        raise UsageError(f"{path} is not an Ed25519 key.")
    return key
