"""Who locks the table of a stress run: a file, storage, or a server that runs for as long as the stress run does."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from hudi_conformance.interop.dynamodb_server import dynamodb
from hudi_conformance.interop.lock_servers import zookeeper

_KEY: Final = "hoodie.write.lock."
_CLIENT: Final = "org.apache.hudi.client.transaction.lock."


@dataclass(frozen=True, slots=True)
class Lock:
    """What processes need to lock the table: keys of every write, and environment variables."""

    configs: Mapping[str, str]
    environment: Mapping[str, str] = field(default_factory=dict)


def lock_named(name: str, folder: Path) -> AbstractContextManager[Lock]:
    """The lock of one stress run; a server keeps what it has below a folder, and ends with the block.

    Raises:
        BundleUnavailableError: its server could not be fetched.

    """
    return _LOCKS[name](folder)


@contextmanager
def _of_file(_folder: Path) -> Iterator[Lock]:
    yield Lock({f"{_KEY}provider": f"{_CLIENT}FileSystemBasedLockProvider"})


@contextmanager
def _of_storage(_folder: Path) -> Iterator[Lock]:
    yield Lock({f"{_KEY}provider": f"{_CLIENT}StorageBasedLockProvider"})


@contextmanager
def _of_zookeeper(folder: Path) -> Iterator[Lock]:
    with zookeeper(folder) as server:
        keys = {
            "provider": f"{_CLIENT}ZookeeperBasedLockProvider",
            "zookeeper.url": "127.0.0.1",
            "zookeeper.port": str(server.port),
            "zookeeper.base_path": "/hudi",
            "zookeeper.lock_key": "ledger",
            # A killed process holds the lock until its session ends.
            "zookeeper.session_timeout_ms": "2000",
            "zookeeper.connection_timeout_ms": "6000",
        }
        yield Lock({f"{_KEY}{key}": value for key, value in keys.items()})


@contextmanager
def _of_dynamodb(folder: Path) -> Iterator[Lock]:
    with dynamodb(folder) as server:
        keys = {
            "provider": "org.apache.hudi.aws.transaction.lock.DynamoDBBasedLockProvider",
            "dynamodb.endpoint_url": server.url,
            "dynamodb.table": "hudi_locks",
            "dynamodb.partition_key": "ledger",
            "dynamodb.region": "us-east-1",
        }
        account = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret"}
        yield Lock({f"{_KEY}{key}": value for key, value in keys.items()}, account)


_LOCKS: Final[Mapping[str, Callable[[Path], AbstractContextManager[Lock]]]] = {
    "file": _of_file,
    "storage": _of_storage,
    "zookeeper": _of_zookeeper,
    "dynamodb": _of_dynamodb,
}
PROVIDERS: Final = tuple(_LOCKS)
"""The lock providers by name."""
