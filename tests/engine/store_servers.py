"""Real servers of object stores, on a port each, with one bucket: SeaweedFS for S3, and Azurite for Azure.

`make stores` fetches them by npm and Go. One that is neither on the PATH nor in `build/stores` is a failure where
`HUDI_CONFORMANCE_REQUIRE_STORES` names it. There is none for Google: the library writes by the XML API, which no
emulator has that a registry carries (fake-gcs-server 1.56.1 answers `invalid uploadType`).
"""

import base64
import hashlib
import hmac
import http.client
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import boto3
from botocore.exceptions import BotoCoreError, ClientError
from hudi_conformance.interop.lock_servers import free_port, running

ROOT: Final = Path(__file__).parents[2]
REQUIRED: Final = "HUDI_CONFORMANCE_REQUIRE_STORES"
BUCKET: Final = "tables"
_ACCOUNT: Final = "devstoreaccount1"
# The key of every emulator of Azure, which Microsoft publishes.
_ACCOUNT_KEY: Final = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="


@dataclass(frozen=True, slots=True)
class Store:
    """A bucket by its address, and the options that reach it."""

    url: str
    options: Mapping[str, str]


def program(name: str) -> str | None:
    """Where a server lies, if it does."""
    built = ROOT / "build" / "stores"
    places = (built / "bin", built / "node_modules" / ".bin", os.environ.get("PATH", ""))
    found = shutil.which(name, path=os.pathsep.join(map(str, places)))
    assert found or name not in os.environ.get(REQUIRED, "").split(), f"{name} is not here: `make stores` fetches it"
    return found


@contextmanager
def seaweedfs(command: str, folder: Path) -> Iterator[Store]:
    """SeaweedFS with its gateway for S3; it ends with the block."""
    ports = {name: free_port() for name in ("master", "volume", "filer", "s3")}
    identities = folder / "s3.json"
    credentials = [{"accessKey": "key", "secretKey": "secret"}]
    actions = ["Admin", "Read", "Write", "List", "Tagging"]
    identities.write_text(json.dumps({"identities": [{"name": "t", "credentials": credentials, "actions": actions}]}))
    flags = [f"-{name}.port={port}" for name, port in ports.items()]
    flags += [f"-{name}.port.grpc={free_port()}" for name in ("master", "volume", "filer", "s3")]
    server = [command, "server", f"-dir={folder}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-s3", "-volume.max=20"]
    server += ["-master.volumeSizeLimitMB=64", f"-s3.config={identities}", *flags]
    options = {"access_key_id": "key", "secret_access_key": "secret", "region": "us-east-1"}
    with running(server, folder / "log", ports["s3"]) as served:
        options["endpoint"] = served.url
        _until_done(lambda: _made(options))
        yield Store(f"s3://{BUCKET}", options)


@contextmanager
def azure(command: str, folder: Path) -> Iterator[Store]:
    """Azurite, Microsoft's emulator of Azure's blobs; it ends with the block."""
    port = free_port()
    server = [command, "--blobHost", "127.0.0.1", "--blobPort", str(port), "--location", str(folder), "--silent"]
    with running([*server, "--skipApiVersionCheck", "--disableTelemetry"], folder / "log", port) as served:
        url = f"{served.url}/{_ACCOUNT}"
        moment = datetime.now(UTC).strftime("%a, %d %b %Y %H:%M:%S GMT")
        path = f"/{_ACCOUNT}/{BUCKET}"
        text = f"PUT{12 * chr(10)}x-ms-date:{moment}\nx-ms-version:2021-08-06\n/{_ACCOUNT}{path}\nrestype:container"
        digest = hmac.new(base64.b64decode(_ACCOUNT_KEY), text.encode(), hashlib.sha256).digest()
        signed = {"Authorization": f"SharedKey {_ACCOUNT}:{base64.b64encode(digest).decode()}"}
        headers = {**signed, "x-ms-date": moment, "x-ms-version": "2021-08-06"}
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        connection.request("PUT", f"{path}?restype=container", headers=headers)
        assert connection.getresponse().status == http.client.CREATED
        connection.close()
        options = {"account_name": _ACCOUNT, "account_key": _ACCOUNT_KEY, "endpoint": url}
        yield Store(f"az://{BUCKET}", options)


SERVERS: Final[Mapping[str, tuple[str, Callable[[str, Path], AbstractContextManager[Store]]]]] = {
    "seaweedfs": ("weed", seaweedfs),
    "azure": ("azurite-blob", azure),
}
"""The program of each server, and what starts it."""


def _made(options: Mapping[str, str]) -> bool:
    """Whether the bucket could be made: the gateway listens before the server behind it serves."""
    keys = {"aws_access_key_id": options["access_key_id"], "aws_secret_access_key": options["secret_access_key"]}
    client = boto3.client("s3", endpoint_url=options["endpoint"], region_name=options["region"], **keys)
    try:
        client.create_bucket(Bucket=BUCKET)
    except (BotoCoreError, ClientError):
        return False
    return True


def _until_done(attempt: Callable[[], bool], limit_s: float = 60.0) -> None:
    deadline = time.monotonic() + limit_s
    while not attempt():
        assert time.monotonic() < deadline, "the server does not take requests"
        time.sleep(0.2)
