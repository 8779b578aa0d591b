"""A moto server in a process of its own: an S3 endpoint for tests."""

import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from hudi_format.storage import Storage, open_storage

BUCKET = "tables"
PAGE = 10
SECRET = "sécret-that-must-not-be-printed"  # noqa: S105 - moto takes any
_AUTHORIZATION = "AWS4-HMAC-SHA256 Credential=key/20250101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where the server listens."""

    url: str

    @property
    def options(self) -> dict[str, str]:
        return {
            "fs.s3a.endpoint": self.url,
            "fs.s3a.endpoint.region": "us-east-1",
            "fs.s3a.access.key": "key",
            "fs.s3a.secret.key": SECRET,
            "fs.s3a.path.style.access": "true",
        }

    def send(self, method: str, path: str, data: bytes = b"") -> None:
        """A request of its own, for names and headers that the library does not write."""
        headers = {"Authorization": _AUTHORIZATION}
        request = urllib.request.Request(  # noqa: S310 - loopback
            f"{self.url}/{path}", data or None, headers, method=method
        )
        urllib.request.urlopen(request).close()  # noqa: S310


@contextmanager
def endpoint(log: Path) -> Iterator[Endpoint]:
    """A server on a port that the system chose, with one bucket; it ends with the block."""
    with log.open("w+") as output:
        command = [sys.executable, "-m", "moto.server", "--host", "127.0.0.1", "--port", "0"]
        settings = {**os.environ, "MOTO_S3_DEFAULT_MAX_KEYS": str(PAGE)}
        server = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, env=settings)
        try:
            found = Endpoint(_address(log, server))
            found.send("PUT", BUCKET)
            yield found
        finally:
            server.terminate()
            server.wait()


def _address(log: Path, server: "subprocess.Popen[bytes]") -> str:
    for _ in range(600):
        lines = [line for line in log.read_text().splitlines() if "Running on http://127.0.0.1:" in line]
        if lines:
            return lines[0].rpartition("Running on ")[2].split()[0]
        assert server.poll() is None, log.read_text()
        time.sleep(0.05)
    raise AssertionError(log.read_text())


def upload(folder: Path, storage: Storage) -> None:
    """Every file of a table, under its own name."""
    source = open_storage(folder)
    for status in source.list_files():
        storage.put(status.path, source.read(status.path))
