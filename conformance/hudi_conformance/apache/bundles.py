"""The Apache Hudi bundles: which ones, where they are kept, how they get there."""

import hashlib
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from hudi_format.compat import tomllib

from hudi_conformance.runner.resources import cache_folder

_PEERS_FILE = Path(__file__).resolve().parent.parent / "peers.toml"
_FETCH_LIMIT_SECONDS = 540


class BundleUnavailableError(Exception):
    """A bundle could be neither found in the cache nor fetched; the text says why."""


@dataclass(frozen=True, slots=True)
class Bundle:
    """One released bundle: its version, its coordinate and the hash of its one jar."""

    version: str
    coordinate: str
    sha256: str

    @property
    def jar_name(self) -> str:
        """The name under which the resolver files the jar."""
        group, artifact, version = self.coordinate.split(":")
        return f"{group}_{artifact}-{version}.jar"


def bundles() -> dict[str, Bundle]:
    """All bundles of `peers.toml` by version."""
    entries = tomllib.loads(_PEERS_FILE.read_text(encoding="utf-8"))["bundle"]
    return {entry["version"]: Bundle(**entry) for entry in entries}


def bundle_jar(version: str) -> Path:
    """The verified jar of a bundle, fetched on first use.

    Raises:
        BundleUnavailableError: unknown version, no way to fetch it, or the bytes are not the recorded ones.

    """
    bundle = bundles().get(version)
    if bundle is None:
        raise BundleUnavailableError(f"no bundle {version} in peers.toml; it names {', '.join(sorted(bundles()))}")
    jar = cache_folder() / "ivy" / "jars" / bundle.jar_name
    if not jar.is_file():
        _fetch(bundle, jar)
    _verify(bundle, jar)
    return jar


def _fetch(bundle: Bundle, jar: Path) -> None:
    command = [sys.executable, "-m", "hudi_conformance.apache.fetch", bundle.coordinate]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_FETCH_LIMIT_SECONDS, check=False)
    except subprocess.TimeoutExpired as late:
        raise BundleUnavailableError(f"fetching {bundle.coordinate} took over {_FETCH_LIMIT_SECONDS} s") from late
    if done.returncode != 0 or not jar.is_file():
        output = "\n".join(done.stderr.strip().splitlines()[-15:])
        raise BundleUnavailableError(f"{bundle.coordinate} could not be fetched:\n{output}")


def _verify(bundle: Bundle, jar: Path) -> None:
    found = hashlib.sha256(jar.read_bytes()).hexdigest()
    if found != bundle.sha256:
        jar.unlink()
        raise BundleUnavailableError(f"{jar.name}: sha256 {found}, peers.toml says {bundle.sha256}; removed")
