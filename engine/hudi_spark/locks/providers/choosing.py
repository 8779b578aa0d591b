"""The lock provider that the options name, by Apache Hudi's class or by a short name.

Clauses: LK-001, LK-006, OW-030.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from hudi_adapter.reasons import Reason
from hudi_format.hashing import HashBits, hash_id
from hudi_format.storage import LocalStorage, Storage

from hudi_spark.errors import HudiError
from hudi_spark.locks.providers.dynamodb import DynamoDbLockProvider, LockTable
from hudi_spark.locks.providers.file import FileLockProvider
from hudi_spark.locks.providers.interface import LockProvider
from hudi_spark.locks.providers.storage_based import StorageLockProvider
from hudi_spark.locks.providers.zookeeper import ZooKeeperLockProvider, servers
from hudi_spark.locks.settings import PROVIDER
from hudi_spark.options.resolving import Options
from hudi_spark.state.configuration import load_configuration

_ZOOKEEPER: Final = "hoodie.write.lock.zookeeper."
_DYNAMODB: Final = "hoodie.write.lock.dynamodb."
_FILE: Final = "hoodie.write.lock.filesystem."
_STORAGE: Final = "hoodie.write.lock.storage."
_SUFFIXES: Final = ("lockprovider", "based")
_LEASE: Final = "hoodie.write.lock.wait_time_ms"
_DEFAULT_FOLDER: Final = ".hoodie"
_IMPLICIT_KEY: Final = "lock_key"
_KNOWN: Final = (
    "InProcess, FileSystemBased, ZookeeperBased, DynamoDBBased or StorageBased, each with LockProvider after it"
)


def provider_of(storage: Storage, options: Options) -> LockProvider | None:
    """The provider that the options name; None for one that only this process has, and where none is named.

    Raises:
        HudiError: CONFIG_INVALID for a provider that is none, or one that this engine refuses; for missing keys.

    Clauses: LK-001, LK-006.

    """
    name = options.text(PROVIDER)
    if not name:
        return None
    short = _short(name)
    if short in _REFUSED:
        raise _invalid(f"{PROVIDER} = {name}: {_REFUSED[short]}", "use ZooKeeper, DynamoDB or the storage-based lock")
    if short not in _MAKERS:
        raise _invalid(f"{PROVIDER} = {name} is no lock provider", f"choose {_KNOWN}")
    return _MAKERS[short](storage, options)


def place_of(storage: Storage, options: Options) -> str:
    """The place of the lock that the options name; empty for one that only this process has.

    Raises:
        HudiError: as `provider_of`.

    Clauses: LK-006.

    """
    provider = provider_of(storage, options)
    return "" if provider is None else provider.place


def _short(name: str) -> str:
    """The class's own name in lower case, without what all of them have in common."""
    short = name.rpartition(".")[2].lower().replace("_", "").replace("-", "")
    for suffix in _SUFFIXES:
        short = short.replace(suffix, "")
    return short


def _none(storage: Storage, options: Options) -> None:
    del storage, options


def _file(storage: Storage, options: Options) -> LockProvider:
    named = options.text(f"{_FILE}path")
    if not named and not isinstance(storage, LocalStorage):
        raise _invalid("a file lock needs a local file system", "use StorageBasedLockProvider for object stores")
    folder = Path(named.removeprefix("file://")) if named else Path(storage.resolve(_DEFAULT_FOLDER))
    return FileLockProvider(folder, options.number(f"{_FILE}expire"))


def _zookeeper(storage: Storage, options: Options) -> LockProvider:
    key = options.text(f"{_ZOOKEEPER}lock_key") or _table_name(storage)
    return _zookeeper_at(options, f"{options.required(f'{_ZOOKEEPER}base_path').rstrip('/')}/{key}")


def _zookeeper_implicit(storage: Storage, options: Options) -> LockProvider:
    return _zookeeper_at(options, f"/tmp/{_place_id(storage)}/{_IMPLICIT_KEY}")  # noqa: S108 - a path in ZooKeeper


def _zookeeper_at(options: Options, path: str) -> LockProvider:
    hosts = servers(options.required(f"{_ZOOKEEPER}url"), options.text(f"{_ZOOKEEPER}port"))
    session = options.number(f"{_ZOOKEEPER}session_timeout_ms") / 1000
    return ZooKeeperLockProvider(hosts, path, session, options.number(f"{_ZOOKEEPER}connection_timeout_ms") / 1000)


def _dynamodb(storage: Storage, options: Options) -> LockProvider:
    return _dynamodb_at(options, options.text(f"{_DYNAMODB}partition_key") or _table_name(storage))


def _dynamodb_implicit(storage: Storage, options: Options) -> LockProvider:
    return _dynamodb_at(options, _place_id(storage))


def _dynamodb_at(options: Options, key: str) -> LockProvider:
    endpoint = options.text(f"{_DYNAMODB}endpoint_url")
    table = LockTable(
        name=options.required(f"{_DYNAMODB}table"),
        region=options.text(f"{_DYNAMODB}region"),
        endpoint=endpoint if "://" in endpoint or not endpoint else f"https://{endpoint}",
        billing=options.text(f"{_DYNAMODB}billing_mode"),
        read_capacity=options.number(f"{_DYNAMODB}read_capacity"),
        write_capacity=options.number(f"{_DYNAMODB}write_capacity"),
        creation_seconds=options.number(f"{_DYNAMODB}table_creation_timeout") / 1000,
    )
    return DynamoDbLockProvider(table, key, options.number(_LEASE) / 1000)


def _storage(storage: Storage, options: Options) -> LockProvider:
    validity = options.number(f"{_STORAGE}validity.timeout.secs")
    renewal = options.number(f"{_STORAGE}renew.interval.secs")
    if validity <= renewal:
        hint = f"let {_STORAGE}validity.timeout.secs be several times {_STORAGE}renew.interval.secs"
        raise _invalid("a lease that ends before it is renewed is none", hint)
    return StorageLockProvider(storage, validity, renewal)


def _table_name(storage: Storage) -> str:
    return load_configuration(storage).name


def _place_id(storage: Storage) -> str:
    """The id that Apache Hudi makes of a table's place; it writes s3 for s3a, and a local path without its scheme."""
    base = storage.base
    place = f"s3://{base.removeprefix('s3a://')}" if base.startswith("s3a://") else base
    return hash_id(place.encode(), HashBits.BITS_64).hex().upper()


def _invalid(message: str, hint: str) -> HudiError:
    return HudiError(Reason.CONFIG_INVALID, "LK-001", message, hint=hint)


_MAKERS: Final[Mapping[str, Callable[[Storage, Options], LockProvider | None]]] = {
    "inprocess": _none,
    "filesystem": _file,
    "file": _file,
    "zookeeper": _zookeeper,
    "zookeeperimplicitbasepath": _zookeeper_implicit,
    "dynamodb": _dynamodb,
    "dynamodbimplicitpartitionkey": _dynamodb_implicit,
    "storage": _storage,
}
_REFUSED: Final[Mapping[str, str]] = {
    "hivemetastore": "its locks are asked for by Thrift, which this engine does not speak",
    "noop": "it locks nothing",
}
