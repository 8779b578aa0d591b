"""A lock that is lost never lets two conflicting writes through: processes stopped past their lease, at any effect."""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from dynamodb_locks import ACCOUNT, dynamodb_options
from hudi_conformance.interop.lock_servers import Server
from hudi_conformance.interop.stress.locks import lock_named
from hudi_format.names import TimelineFileName
from hudi_format.storage import LocalStorage
from hudi_spark import check_table
from hudi_spark.testing import RELEASED, Snapshot, SystemClock, load_configuration, load_snapshot
from lock_processes import Task, writing
from written_tables import Written, rows

pytestmark = pytest.mark.crashes

LEASE = 2.6
CONFIGS = {
    "hoodie.write.lock.provider": "org.apache.hudi.client.transaction.lock.StorageBasedLockProvider",
    "hoodie.write.lock.storage.validity.timeout.secs": "2",
    "hoodie.write.lock.storage.renew.interval.secs": "1",
    "hoodie.write.lock.wait_time_ms_between_retry": "50",
    "hoodie.write.concurrency.mode": "OPTIMISTIC_CONCURRENCY_CONTROL",
    "hoodie.time.generator.max_expected_clock_skew_ms": "20",
}
AGAIN = {"hoodie.write.num.retries.on.conflict.failures": "4"}
OLD, NEW = [("k1", 1.0), ("k2", 1.0)], [("k1", 7.0), ("k2", 7.0)]


def new_table(folder: Path, table_type: str, version: int, configs: Mapping[str, str] = CONFIGS) -> Written:
    """A table with two rows, one a partition."""
    table = Written(folder / "table", table_type, version, configs=configs)
    table.clock = SystemClock()  # type: ignore[assignment]
    table.write("upsert", rows([1, 2]))
    return table


def task(table: Written, answer: Path, ids: Sequence[int], price: float, **more: Any) -> Task:
    """A write by another process, as the table is written."""
    return Task(str(table.path), answer, table.configs, ids, price, environment=ACCOUNT, **more)


def effects_of(folder: Path) -> list[str]:
    """The names of a process's effects on the data table, in order."""
    lines = [json.loads(line) for line in (folder / "first.effects").read_text().splitlines()]
    return [name for name, _, _ in lines]


def outcome_of(answer: dict[str, Any]) -> str:
    """What a process said of its write."""
    return answer.get("reason", "done")


def played(
    table: Written, folder: Path, ids: Sequence[int], stop: int, lease: float, *, after_it: bool
) -> tuple[str, Snapshot]:
    """The first writer stops, the second one writes the same rows, the first one goes on: what that one says."""
    first = task(table, folder / "first", ids, 5.0, stop=stop, after_it=after_it)
    second = replace(task(table, folder / "second", [1, 2], 7.0), configs={**table.configs, **AGAIN})
    with writing(first) as stopped:
        assert stopped.wait_until_stopped(), stopped.last_answer()
        time.sleep(lease)
        with writing(second) as other:
            assert outcome_of(other.last_answer()) == "done", other.last_answer()
        stopped.go_on()
        answer = outcome_of(stopped.last_answer())
    return answer, load_snapshot(LocalStorage(table.path), RELEASED)


def stop_at(names: Sequence[str], name: str, which: str) -> int:
    """The number of the first or the last effect of a name."""
    return names.index(name) if which == "first" else len(names) - 1 - names[::-1].index(name)


def built_on(snapshot: Snapshot) -> list[tuple[Any, ...]]:
    """Which file of which group each later base file was made of: two of one would have lost an update."""
    stats = [(group, stat.prev_commit) for commit in snapshot.commits for group, stat in commit.stats()]
    return [one for one in stats if one[1] not in (None, "", "null")]


@pytest.mark.parametrize(
    ("name", "which", "after_it", "answer", "found"),
    [
        # Its instant is older than what it would build on by now: not even its request appears.
        ("generate_time", "first", True, "LOCK_LOST", NEW),
        ("take_lock", "last", True, "LOCK_LOST", NEW),
        ("put_log_file", "last", False, "LOCK_LOST", NEW),
        ("generate_time", "last", True, "LOCK_LOST", NEW),
        # The claim is put right before the completed file: the action counts.
        ("create_instant", "last", False, "done", [*NEW, ("k3", 5.0)]),
    ],
)
def test_a_holder_that_is_stopped_past_its_lease(  # noqa: PLR0917 - a row of the table
    tmp_path: Path, name: str, which: str, after_it: bool, answer: str, found: list[tuple[str, float]]
):
    """What it said is what the table holds: refused before its claim, committed after it, whoever puts the file."""
    table = new_table(tmp_path, "COPY_ON_WRITE", 9)
    stopped_past_its_lease(table, name, answer, found, which=which, after_it=after_it)


def test_a_holder_that_is_stopped_past_its_lease_beside_logs(tmp_path: Path):
    """The same of a log file: what it holds counts for nobody."""
    table = new_table(tmp_path, "MERGE_ON_READ", 8)
    stopped_past_its_lease(table, "generate_time", "LOCK_LOST", NEW, ids=[1], after_it=True)


@pytest.mark.slow
def test_a_holder_that_is_stopped_past_its_session_in_zookeeper(tmp_path: Path):
    """The same of a session that the server ends: who wakes up after that commits nothing."""
    with lock_named("zookeeper", tmp_path / "zookeeper") as lock:
        table = new_table(tmp_path, "COPY_ON_WRITE", 9, {**CONFIGS, **lock.configs})
        stopped_past_its_lease(table, "generate_time", "LOCK_LOST", NEW, after_it=True)


def test_a_file_lock_of_a_stopped_holder_is_kept(tmp_path: Path):
    """The operating system's lock has no lease: nobody takes it from a process that is stopped, which then commits."""
    provider = "org.apache.hudi.client.transaction.lock.FileSystemBasedLockProvider"
    patience = {"hoodie.write.lock.wait_time_ms": "200", "hoodie.write.lock.client.num_retries": "1"}
    configs = {**CONFIGS, "hoodie.write.lock.provider": provider, "hoodie.write.lock.filesystem.expire": "1"}
    table = new_table(tmp_path, "COPY_ON_WRITE", 9, configs)
    first = task(table, tmp_path / "first", [1, 3], 5.0, stop=stop_of(table, "generate_time", "last"), after_it=True)
    second = replace(task(table, tmp_path / "second", [1, 2], 7.0), configs={**configs, **patience})
    with writing(first) as stopped:
        assert stopped.wait_until_stopped(), stopped.last_answer()
        with writing(second) as other:
            assert outcome_of(other.last_answer()) == "LOCK_UNAVAILABLE"
        stopped.go_on()
        assert outcome_of(stopped.last_answer()) == "done"
    assert table.found() == [("k1", 5.0), ("k2", 1.0), ("k3", 5.0)]
    assert list(check_table(table.path)) == []


@pytest.mark.peers
@pytest.mark.xdist_group("dynamodb")
def test_a_holder_that_is_stopped_past_its_lease_in_dynamodb(tmp_path: Path, dynamodb_server: Server):
    """The same of a lease that others watch: who wakes up after it has ended commits nothing."""
    # As long as a try to get the lock, as in Apache Hudi.
    patience = {"hoodie.write.lock.wait_time_ms": "1500", "hoodie.write.lock.client.num_retries": "3"}
    configs = {**CONFIGS, **dynamodb_options(dynamodb_server, "trips"), **patience}
    table = new_table(tmp_path, "COPY_ON_WRITE", 9, configs)
    stopped_past_its_lease(table, "generate_time", "LOCK_LOST", NEW, after_it=True, lease=1.6)


def stopped_past_its_lease(
    table: Written,
    name: str,
    answer: str,
    found: list[tuple[str, float]],
    *,
    after_it: bool,
    which: str = "last",
    ids: Sequence[int] = (1, 3),
    lease: float = LEASE,
) -> None:
    """The first writer stops at an effect of this name; the table is sound before and after the next write."""
    stop = stop_of(table, name, which)
    answered, snapshot = played(table, table.path.parent, ids, stop, lease, after_it=after_it)
    assert (answered, table.found()) == (answer, found)
    groups = built_on(snapshot)
    assert len(set(groups)) == len(groups)
    assert list(check_table(table.path)) == []
    table.write("upsert", rows([1], 9, 9.0))
    assert dict(table.found())["k1"] == 9.0
    assert list(check_table(table.path)) == []
    left = [one for one in table.files() if ".heartbeat/" in one or ".temp/" in one]
    assert left == []


def stop_of(table: Written, name: str, which: str) -> int:
    """The number of an effect, from a write of the same rows that is not stopped."""
    folder = table.path.parent
    # One file, as of the rows of the writer that is stopped: its effects have the same numbers.
    with writing(task(table, folder / "first", [1], 1.0)) as quiet:
        assert outcome_of(quiet.last_answer()) == "done"
    found = stop_at(effects_of(folder), name, which)
    (folder / "first.effects").unlink()
    return found


def test_a_holder_that_crashes_after_its_claim_has_committed(tmp_path: Path):
    """The next writer puts its completed file, and builds on it."""
    table = new_table(tmp_path, "MERGE_ON_READ", 8)
    with writing(Task(str(table.path), tmp_path / "first", CONFIGS, [1, 2], 1.0)) as quiet:
        assert outcome_of(quiet.last_answer()) == "done"
    names = effects_of(tmp_path)
    stop = len(names) - 1 - names[::-1].index("create_instant")
    first = Task(str(table.path), tmp_path / "second", CONFIGS, [1, 3], 5.0, stop=stop)
    with writing(first) as stopped:
        assert stopped.wait_until_stopped()
        assert table.found() == OLD
        stopped.kill()
    table.write("upsert", rows([2], 9, 9.0))
    assert table.found() == [("k1", 5.0), ("k2", 9.0), ("k3", 5.0)]


def test_a_request_that_its_writer_withdrew_does_not_come_back(tmp_path: Path):
    """Who takes the lock next carries out the claim on top: of a request only where its holder died before the put."""
    table = new_table(tmp_path, "MERGE_ON_READ", 8)
    work = table.writer().work()
    storage = work.storage
    requested = TimelineFileName("20990101000000000", "deltacommit", "REQUESTED")
    path = f".hoodie/timeline/{requested.requested}.deltacommit.requested"
    with work.lock("first"):
        work.effects.create_instant(load_configuration(storage), requested, b"")
    assert storage.exists(path)
    storage.delete(path)
    with work.lock("second"):
        assert not storage.exists(path)
