"""Leases in DynamoDB: they are renewed, they end, they are lost; and a server that is silent is reported in time."""

import time
from pathlib import Path
from typing import Any

import boto3
import pytest
from dynamodb_locks import DYNAMODB, TABLE, dynamodb_lock, dynamodb_options
from hudi_conformance.interop.lock_servers import Server
from hudi_format.storage import LocalStorage
from hudi_spark import HudiError
from hudi_spark.concurrency import dynamodb_lock as dynamodb
from hudi_spark.concurrency import table_lock
from hudi_spark.testing import Effects, resolve
from written_tables import Written

pytestmark = [*DYNAMODB]


def put_by_another(server: Server, key: str, version: str, lease_ms: int) -> None:
    """What a process of another computer writes, of which only the item is seen."""
    values = {"key": key, "ownerName": "elsewhere", "leaseDuration": str(lease_ms), "recordVersionNumber": version}
    item = {name: {"S": value} for name, value in values.items()}
    boto3.client("dynamodb", endpoint_url=server.url, region_name="us-east-1").put_item(TableName=TABLE, Item=item)


def test_a_lease_is_renewed_beside_the_work(dynamodb_server: Server, tmp_path: Path):
    """Who watches a live holder for longer than its lease does not get it; who is let in has it at once."""
    lease, other = (dynamodb_lock(dynamodb_server, tmp_path.name, 1.5) for _ in range(2))
    held = lease.take("first", 0)
    assert held is not None
    until = time.monotonic() + 2.5
    while time.monotonic() < until:
        assert other.take("second", 0) is None
        time.sleep(0.05)
    held.confirm()
    held.release()
    second = other.take("second", 0)
    assert second is not None
    second.release()


def test_a_lease_that_is_not_renewed_ends(dynamodb_server: Server, tmp_path: Path):
    """Its holder may be anywhere: nobody compares clocks, each watches whether its version stands still."""
    lock = dynamodb_lock(dynamodb_server, tmp_path.name, 1)
    first = lock.take("first", 0)
    assert first is not None
    first.release()
    for version in ("one", "two"):
        put_by_another(dynamodb_server, tmp_path.name, version, 1000)
        assert lock.take("second", 0) is None
        time.sleep(0.6)
    assert lock.take("second", 0) is None
    time.sleep(0.6)
    second = lock.take("second", 0)
    assert second is not None
    second.confirm()
    second.release()


def test_a_failed_holder_is_outlasted_by_the_least_patient_writer(dynamodb_server: Server, tmp_path: Path):
    """Its lease is longer than a writer wants to wait, and each write watches it anew: one of them sees its end. Who
    lives is seen to live long before."""
    effects = Effects(LocalStorage(Written(tmp_path / "table").path))
    options = {**dynamodb_options(dynamodb_server, tmp_path.name), "hoodie.write.lock.wait_time_ms": "1500"}
    with table_lock(effects, resolve(options), "first"):
        pass
    put_by_another(dynamodb_server, tmp_path.name, "dead", 4500)
    with table_lock(effects, resolve(options), "second"):
        pass
    lease = dynamodb_lock(dynamodb_server, tmp_path.name, 30).take("live", 1)
    assert lease is not None
    began = time.monotonic()
    with pytest.raises(HudiError, match="LOCK_UNAVAILABLE"), table_lock(effects, resolve(options), "third"):
        pass
    assert 1.5 < time.monotonic() - began < 25
    lease.release()


def test_who_finds_its_item_replaced_has_lost_the_lock(dynamodb_server: Server, tmp_path: Path):
    """It is reported before its lease is over, and leaves the other's item alone."""
    lock = dynamodb_lock(dynamodb_server, tmp_path.name, 0.9)
    lease = lock.take("first", 0)
    assert lease is not None
    put_by_another(dynamodb_server, tmp_path.name, "theirs", 60000)
    time.sleep(0.5)
    with pytest.raises(HudiError, match="LOCK_LOST"):
        lease.confirm()
    lease.release()
    assert lock.take("again", 0) is None


def test_a_silent_server_is_reported(dynamodb_server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Who asks is informed where to look, whoever held the lock that it is lost; both can go on when the server can."""
    table = Written(tmp_path / "table")
    before = table.files()
    lease = dynamodb_lock(dynamodb_server, tmp_path.name, 0.9).take("first", 0)
    assert lease is not None
    options = {**dynamodb_options(dynamodb_server, tmp_path.name), "hoodie.write.lock.wait_time_ms": "300"}
    effects = Effects(LocalStorage(table.path))

    def lock(options: Any) -> Any:
        return table_lock(effects, resolve(options), "second")

    with dynamodb_server.silent(), monkeypatch.context() as patched:
        patched.setattr(dynamodb, "_FEWEST_SECONDS", 0.3)
        began = time.monotonic()
        with pytest.raises(HudiError, match="LOCK_UNAVAILABLE") as caught, lock(options):
            pass
        assert "hoodie.write.lock.dynamodb" in str(caught.value.hint)
        time.sleep(max(0.0, began + 1 - time.monotonic()))
        with pytest.raises(HudiError, match="LOCK_LOST"):
            lease.confirm()
        assert time.monotonic() - began < 5
    assert table.files() == before
    lease.release()
    with lock({**options, "hoodie.write.lock.wait_time_ms": "2000"}) as holding:
        holding.confirm()
