"""Apache Hudi and this engine share one lock: who holds it keeps the other one out, and no write of either is lost."""

import re
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
from apache_peer import Apache
from hudi_conformance.interop.lock_servers import Server, zookeeper
from hudi_spark import HudiError
from hudi_spark.testing import SystemClock
from kazoo.client import KazooClient
from written_tables import Written, rows

pytestmark = [pytest.mark.peers, pytest.mark.xdist_group("apache-hudi")]

PREFIX = "hoodie.write.lock."
CLIENT = "org.apache.hudi.client.transaction.lock."
SHARED = {
    "hoodie.write.concurrency.mode": "OPTIMISTIC_CONCURRENCY_CONTROL",
    "hoodie.clean.failed.writes.policy": "LAZY",
    "hoodie.metadata.enable": "false",
    f"{PREFIX}wait_time_ms_between_retry": "50",
    # Apache Hudi keeps what generates times for a table, with the options of who asked first.
    "_hoodie.time.generator.reuse.enable": "false",
}
# It holds the lock while it waits until no other clock shows an earlier time.
SLOW = {"hoodie.time.generator.max_expected_clock_skew_ms": "4000"}
IMPATIENT = {f"{PREFIX}wait_time_ms": "300", f"{PREFIX}num_retries": "1", f"{PREFIX}client.num_retries": "0"}


@dataclass(frozen=True)
class Locked:
    """A table whose writers share a lock: its options, its place, and whether anybody holds it now."""

    table: Written
    apache: Apache
    configs: Mapping[str, str]
    place: str
    is_held: Callable[[], bool]

    def ours(self, number: int, price: float, **more: str) -> None:
        """A row written by this engine."""
        self.table.configs = {**self.configs, **more}
        self.table.write("upsert", rows([number], int(price), price))

    def theirs(self, number: int, price: float, **more: str) -> None:
        """A row written by Apache Hudi."""
        self.apache.upsert(self.table.path, rows([number], int(price), price), **self.configs, **more)

    def prices(self) -> dict[str, float]:
        """What both read."""
        self.apache.alike(self.table.path)
        return dict(self.table.found())


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with zookeeper(tmp_path_factory.mktemp("zookeeper")) as found:
        yield found


@pytest.fixture(params=[("file", 9, "COPY_ON_WRITE"), ("zookeeper", 6, "MERGE_ON_READ")], ids=lambda one: one[0])
def locked(request: pytest.FixtureRequest, apache: Apache, tmp_path: Path) -> Iterator[Locked]:
    kind, version, table_type = request.param
    table = Written(tmp_path / "table", table_type, version)
    table.clock = SystemClock()  # type: ignore[assignment]
    if kind == "file":
        configs = {**SHARED, f"{PREFIX}provider": f"{CLIENT}FileSystemBasedLockProvider"}
        file = table.path / ".hoodie" / "lock"
        yield Locked(table, apache, configs, str(file), file.exists)
        return
    address = f"127.0.0.1:{request.getfixturevalue('server').port}"
    keys = {"zookeeper.url": address, "zookeeper.base_path": "/hudi", "zookeeper.lock_key": "trips"}
    configs = {**SHARED, **{f"{PREFIX}{key}": value for key, value in keys.items()}}
    client = KazooClient(address)
    client.start()
    yield Locked(
        table,
        apache,
        {**configs, f"{PREFIX}provider": f"{CLIENT}ZookeeperBasedLockProvider"},
        f"zookeeper://{address}/hudi/trips",
        lambda: bool(client.exists("/hudi/trips") and client.get_children("/hudi/trips")),
    )
    client.stop()
    client.close()


def wait_for(condition: Callable[[], bool], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited for too long"
        time.sleep(0.01)


def test_they_keep_each_other_out(locked: Locked):
    """Who may not wait is refused in its time with the name of the lock; who may is served when the other is done.
    Afterwards they write in turns."""
    locked.ours(0, 1.0)
    with ThreadPoolExecutor(1) as beside:
        they_wait(locked, beside)
        we_wait(locked, beside)
    for price in (6.0, 7.0):
        locked.ours(0, price)
        locked.theirs(1, price)
        assert locked.prices() == {"k0": price, "k1": price, "k2": 5.0}


def they_wait(locked: Locked, beside: ThreadPoolExecutor) -> None:
    """For this engine, which holds the lock."""
    with locked.table.writer().work(locked.configs).lock("ours") as holding:
        with pytest.raises(AssertionError, match="LOCK_UNAVAILABLE"):
            locked.theirs(1, 2.0, **IMPATIENT)
        future = beside.submit(locked.theirs, 1, 3.0)
        time.sleep(2)
        holding.confirm()
        assert not future.done()
        assert locked.table.found() == [("k0", 1.0)]
    future.result(60)
    assert locked.prices() == {"k0": 1.0, "k1": 3.0}


def we_wait(locked: Locked, beside: ThreadPoolExecutor) -> None:
    """For Apache Hudi, which holds the lock; what we write then is in another partition."""
    future = beside.submit(locked.theirs, 1, 4.0, **SLOW)
    wait_for(locked.is_held)
    began = time.monotonic()
    message = f"LOCK_UNAVAILABLE in {locked.table.path}: the lock {locked.place}: another process holds it"
    with pytest.raises(HudiError, match=re.escape(message)):
        locked.ours(2, 9.0, **IMPATIENT)
    assert time.monotonic() - began < 10
    locked.ours(2, 5.0)
    future.result(60)
    assert locked.prices() == {"k0": 1.0, "k1": 4.0, "k2": 5.0}
