"""The trust store that lets the embedded Java fetch what Python may fetch."""

import hashlib
import ssl
import struct
import subprocess
from pathlib import Path

import pytest
from hudi_adapter.java import java_home
from hudi_conformance.apache.trust import PASSWORD, authorities_file, trust_store
from hypothesis import given
from hypothesis import strategies as st


def _pem(ders: list[bytes]) -> str:
    return "".join(f"# a comment\n{ssl.DER_cert_to_PEM_cert(der)}" for der in ders)


def _entries(store: bytes) -> list[bytes]:
    count = struct.unpack_from(">I", store, 8)[0]
    place, found = 12, []
    for _ in range(count):
        place += 4
        place += 2 + struct.unpack_from(">H", store, place)[0]
        place += 8
        place += 2 + struct.unpack_from(">H", store, place)[0]
        size = struct.unpack_from(">I", store, place)[0]
        found.append(store[place + 4 : place + 4 + size])
        place += 4 + size
    assert place == len(store) - 20
    return found


@given(st.lists(st.binary(min_size=1, max_size=300), max_size=5))
def test_every_certificate_is_kept_in_order(ders: list[bytes]):
    assert _entries(trust_store(_pem(ders))) == ders


@given(st.lists(st.binary(min_size=1, max_size=50), max_size=3))
def test_the_store_is_signed_with_its_password(ders: list[bytes]):
    store = trust_store(_pem(ders))
    assert store[-20:] == hashlib.sha1(PASSWORD.encode("utf-16-be") + b"Mighty Aphrodite" + store[:-20]).digest()  # noqa: S324


def test_java_reads_the_store_of_this_machine(tmp_path: Path):
    source = authorities_file()
    if source is None or not (java_home() / "bin" / "keytool").exists():
        pytest.skip("this machine names no file of authorities, or its Java has no keytool")
    text = source.read_text(encoding="utf-8", errors="replace")
    path = tmp_path / "authorities.jks"
    path.write_bytes(trust_store(text))
    command = [java_home() / "bin" / "keytool", "-list", "-storetype", "JKS", "-keystore", path]
    listed = subprocess.run(
        [*map(str, command), "-storepass", PASSWORD], capture_output=True, text=True, check=True
    ).stdout
    assert f"{text.count(ssl.PEM_FOOTER)} entr" in listed
