"""Signed statements: DSSE envelopes (Dead Simple Signing Envelope) around in-toto statements."""

import base64
import binascii
from typing import Annotated, Literal

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from pydantic import Field, ValidationError

from nematodebench.errors import UsageError
from nematodebench.records.schemas import Record, Sha256
from nematodebench.submissions.untrusted import parse_record, problems
from nematodebench.verification.keys import Keys, key_id

__all__ = ["PAYLOAD_TYPE", "opened", "signed"]

PAYLOAD_TYPE = "application/vnd.in-toto+json"

Base64 = Annotated[str, Field(pattern=r"^[A-Za-z0-9+/]*={0,2}$")]


class Signature(Record):
    """A signature and the key that made it."""

    keyid: Sha256
    sig: Base64


class Envelope(Record):
    """A payload with its signatures, as DSSE writes it."""

    payload: Base64
    payloadType: Literal["application/vnd.in-toto+json"]  # noqa: N815  (a name of the format)
    signatures: list[Signature] = Field(min_length=1, max_length=16)


def _authenticated(payload: bytes) -> bytes:
    """What is signed: type and content with their lengths, so that no other pair gives the same bytes."""
    kind = PAYLOAD_TYPE.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def signed(payload: bytes, key: Ed25519PrivateKey) -> bytes:
    """The envelope of a payload with one signature."""
    signature = Signature(
        keyid=key_id(key.public_key()), sig=base64.b64encode(key.sign(_authenticated(payload))).decode()
    )
    envelope = Envelope(payload=base64.b64encode(payload).decode(), payloadType=PAYLOAD_TYPE, signatures=[signature])
    return (envelope.model_dump_json(indent=1) + "\n").encode()


def opened(content: bytes, keys: Keys, name: str) -> tuple[bytes, str]:
    """The payload of an envelope and the id of the trusted key that signed it.

    Raises:
        UsageError: It is no envelope, or none of its signatures is right and by a key that is trusted.
    """
    try:
        envelope = parse_record(Envelope, content, name)
        payload = base64.b64decode(envelope.payload, validate=True)
    except ValidationError as error:
        raise UsageError(f"{name} is not a signed record: {'; '.join(problems(error))}.") from error
    except binascii.Error as error:
        raise UsageError(f"{name} is not a signed record: its payload is not base64.") from error
    reasons = []
    for signature in envelope.signatures:
        key = keys.trusted.get(signature.keyid)
        if key is None:
            known = keys.files.get(signature.keyid)
            why = "is revoked" if known is not None else "is not a key of this repository"
            reasons.append(f"key {signature.keyid[:12]} {why}")
            continue
        try:
            key.verify(base64.b64decode(signature.sig, validate=True), _authenticated(payload))
        except (InvalidSignature, binascii.Error, ValueError):
            reasons.append(f"the signature by key {signature.keyid[:12]} is wrong")
            continue
        return payload, signature.keyid
    raise UsageError(f"{name} is not believed: {'; '.join(reasons)}.")
