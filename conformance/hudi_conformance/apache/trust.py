"""A Java trust store that trusts what the operating system trusts.

The embedded Java carries its own list of authorities; a machine behind a proxy of its own has another.
The store is written in Java's JKS form, which needs no tool: certificates one after the other, then a keyed SHA-1.
"""

import hashlib
import os
import ssl
import struct
from pathlib import Path

PASSWORD = "changeit"  # noqa: S105  public certificates only; Java insists on a word
_MAGIC = 0xFEEDFEED
_SALT = b"Mighty Aphrodite"


def authorities_file() -> Path | None:
    """The PEM file with the authorities that Python itself trusts, or None."""
    named = os.environ.get("SSL_CERT_FILE") or ssl.get_default_verify_paths().cafile
    return Path(named) if named and Path(named).is_file() else None


def trust_store(pem: str) -> bytes:
    """All certificates of a PEM text as one JKS trust store."""
    certificates = [ssl.PEM_cert_to_DER_cert(text) for text in _blocks(pem)]
    body = struct.pack(">III", _MAGIC, 2, len(certificates))
    body += b"".join(_entry(number, der) for number, der in enumerate(certificates))
    digest = hashlib.sha1(PASSWORD.encode("utf-16-be") + _SALT + body)  # noqa: S324  the format fixes it
    return body + digest.digest()


def write_trust_store(folder: Path) -> Path | None:
    """Write the store below `folder`; None where Python knows no authorities file."""
    source = authorities_file()
    if source is None:
        return None
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / "authorities.jks"
    target.write_bytes(trust_store(source.read_text(encoding="utf-8", errors="replace")))
    return target


def _entry(number: int, der: bytes) -> bytes:
    return struct.pack(">I", 2) + _text(f"authority-{number}") + struct.pack(">Q", 0) + _text("X.509") + _sized(der)


def _text(value: str) -> bytes:
    data = value.encode("ascii")
    return struct.pack(">H", len(data)) + data


def _sized(data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + data


def _blocks(pem: str) -> list[str]:
    end = ssl.PEM_FOOTER
    parts = pem.split(ssl.PEM_HEADER)[1:]
    return [ssl.PEM_HEADER + part.split(end)[0] + end + "\n" for part in parts if end in part]
