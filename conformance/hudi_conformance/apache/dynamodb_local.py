"""DynamoDBLocal, Amazon's own server for tests: which release, where it is kept, how it gets there.

The Ivy that lies in pyspark's jars resolves it with all it depends on.
"""

import hashlib
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from hudi_adapter.java import java_home
from hudi_format.compat import tomllib

from hudi_conformance.apache.bundles import BundleUnavailableError
from hudi_conformance.apache.trust import PASSWORD, write_trust_store
from hudi_conformance.runner.resources import cache_folder

_PEERS_FILE = Path(__file__).resolve().parent.parent / "peers.toml"
_FETCH_LIMIT_SECONDS = 280
_PLACE = "[artifact]-[revision].[ext]"


@dataclass(frozen=True, slots=True)
class Released:
    """The release: its coordinate, and the hash of its files' names and hashes."""

    coordinate: str
    sha256: str

    @property
    def folder(self) -> Path:
        """Where its files are kept."""
        return cache_folder() / "-".join(self.coordinate.split(":")[1:])


def released() -> Released:
    """What `peers.toml` names."""
    return Released(**tomllib.loads(_PEERS_FILE.read_text(encoding="utf-8"))["dynamodb-local"])


def dynamodb_local() -> Path:
    """The folder with the verified jars of the server and the native library of its store, fetched on first use.

    Raises:
        BundleUnavailableError: no way to fetch them, or the bytes are not the recorded ones.

    """
    release = released()
    if not release.folder.is_dir():
        _fetch(release)
    found = digest_of(release.folder)
    if found != release.sha256:
        shutil.rmtree(release.folder)
        raise BundleUnavailableError(f"{release.folder.name}: sha256 {found}, not that of peers.toml; removed")
    return release.folder


def missing_dynamodb_local() -> str:
    """Why the server cannot be had; empty when it can."""
    try:
        dynamodb_local()
    except BundleUnavailableError as error:
        return str(error)
    return ""


def digest_of(folder: Path) -> str:
    """The sha256 of a list: a line for each file, with its name and the sha256 of its bytes."""
    lines = [f"{one.name} {hashlib.sha256(one.read_bytes()).hexdigest()}\n" for one in sorted(folder.iterdir())]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _fetch(release: Released) -> None:
    """Fetched aside and renamed: several test workers may do this at once, and none may see half of it."""
    release.folder.parent.mkdir(parents=True, exist_ok=True)
    aside = Path(tempfile.mkdtemp(prefix=f".{release.folder.name}-", dir=release.folder.parent))
    try:
        _resolve(release, aside)
        (aside / "files").rename(release.folder)
    except OSError as error:
        if not release.folder.is_dir():
            raise BundleUnavailableError(f"{release.coordinate} could not be fetched: {error}") from error
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _resolve(release: Released, aside: Path) -> None:
    command = [*_ivy(aside), "-cache", str(aside / "cache"), "-dependency", *release.coordinate.split(":")]
    command += ["-confs", "default", "-retrieve", str(aside / "files" / _PLACE)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_FETCH_LIMIT_SECONDS, check=False)
    except subprocess.TimeoutExpired as late:
        raise BundleUnavailableError(f"fetching {release.coordinate} took over {_FETCH_LIMIT_SECONDS} s") from late
    if done.returncode != 0:
        output = "\n".join(done.stdout.strip().splitlines()[-15:])
        raise BundleUnavailableError(f"{release.coordinate} could not be fetched:\n{output}")


def _ivy(aside: Path) -> list[str]:
    import pyspark  # noqa: PLC0415 - pyspark is optional

    (jar,) = (Path(pyspark.__file__).parent / "jars").glob("ivy-*.jar")
    store = write_trust_store(aside)
    trust = (f"-Djavax.net.ssl.trustStore={store}", f"-Djavax.net.ssl.trustStorePassword={PASSWORD}") if store else ()
    return [str(java_home() / "bin" / "java"), *trust, "-jar", str(jar)]
