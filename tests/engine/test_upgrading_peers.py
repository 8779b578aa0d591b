"""Apache Hudi goes on with tables that this engine upgraded, indexed or recovered, and the other way round."""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hudi_adapter.rows import arrow_of_rows, read_rows
from hudi_conformance.peers.asking import missing_bundle, peers_required
from hudi_conformance.resources import suite_root
from hudi_conformance.session import Reply, Session
from hudi_format.storage import LocalStorage
from hudi_spark import KnownOfTable, TableDefinition, read_arrow, services_arrow, write_arrow
from hudi_spark.clock import SystemClock
from hudi_spark.committing.work import new_file_id
from hudi_spark.flows.in_process import InProcess
from hudi_spark.state.configuration import load_configuration
from hudi_spark.writing.actions import TableActions
from written_tables import SCHEMA, Written, rows

PLAIN = {"hoodie.metadata.enable": "false"}
INDEXED = {"hoodie.metadata.enable": "true", "hoodie.metadata.index.column.stats.enable": "false"}
BESIDE = {
    **INDEXED,
    "hoodie.metadata.index.partition.stats.enable": "false",
    "hoodie.write.concurrency.mode": "optimistic_concurrency_control",
    "hoodie.write.lock.provider": "org.apache.hudi.client.transaction.lock.InProcessLockProvider",
    "hoodie.metadata.index.bloom.filter.enable": "true",
}


@pytest.fixture(scope="module")
def apache_hudi(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    why = missing_bundle(suite_root(), "apache-hudi-1.1.1")
    if why and not peers_required():
        pytest.skip(f"Apache Hudi is not asked: {why}")
    assert not why, why
    command = (sys.executable, "-m", "hudi_conformance.adapters.apache_hudi", "--version", "1.1.1")
    with Session(command, tmp_path_factory.mktemp("apache-hudi") / "log") as session:
        yield session


def asked(session: Session, op: str, table: Path, **params: Any) -> Any:
    out = table.parent / f"out-{len(list(table.parent.iterdir()))}"
    out.mkdir()
    heard = session.ask(op, table, params, out, 180.0)
    assert isinstance(heard, Reply), heard
    assert "result" in heard.message, heard.message
    answer = heard.message["result"]
    return arrow_of_rows(read_rows(out / answer["rows_file"])) if "rows_file" in answer else answer["value"]


def written(session: Session, table: Path, given: pa.Table, **configs: str) -> None:
    """An upsert by Apache Hudi."""
    file = table.parent / f"rows-{len(list(table.parent.iterdir()))}.parquet"
    pq.write_table(given, file)
    asked(session, "write", table, operation="upsert", input=str(file), configs=configs)


def grown(path: Path, kind: str, version: int, configs: dict[str, str]) -> Written:
    table = Written(path, kind, version, configs=configs)
    table.clock, table.file_id = SystemClock(), new_file_id
    table.write("upsert", rows(range(6), ts=10))
    table.write("upsert", rows([0, 1, 7], ts=20, price=2.0))
    table.write("delete", rows([4], ts=30))
    return table


def answers(table: pa.Table) -> list[str]:
    return sorted(map(repr, table.select(SCHEMA.names).to_pylist()))


def alike(session: Session, table: Path) -> list[str]:
    """What this engine reads, where Apache Hudi reads the same."""
    found = answers(read_arrow(table))
    assert answers(asked(session, "read_snapshot", table)) == found
    return found


@pytest.mark.peers
@pytest.mark.xdist_group("apache-hudi")
@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_what_either_upgraded_both_go_on_with(apache_hudi: Session, tmp_path: Path, kind: str) -> None:
    """From 6 to 9 by one, read and written by the other, and back to 6."""
    table = grown(tmp_path / "ours", kind, 6, PLAIN)
    expected = answers(read_arrow(table.path))
    theirs = tmp_path / "theirs"
    shutil.copytree(table.path, theirs)
    services_arrow(table.path).upgrade(9)
    upgrading = {**PLAIN, "hoodie.write.auto.upgrade": "true", "hoodie.write.table.version": "9"}
    asked(apache_hudi, "service", theirs, name="upgrade", to=9, configs=upgrading)
    for path in (table.path, theirs):
        assert load_configuration(LocalStorage(path)).version == 9
        assert alike(apache_hudi, path) == expected
        written(apache_hudi, path, rows([1, 8], ts=50, price=5.0))
        write_arrow(path, rows([2, 9], ts=50, price=6.0), "upsert", configs=PLAIN)
        before = alike(apache_hudi, path)
        assert len(before) == len(expected) + 2
        services_arrow(path).downgrade(6)
        assert alike(apache_hudi, path) == before
        written(apache_hudi, path, rows([3], ts=60, price=7.0))
        assert len(alike(apache_hudi, path)) == len(before)


@pytest.mark.peers
@pytest.mark.xdist_group("apache-hudi")
def test_plans_of_indexes_cross_over(apache_hudi: Session, tmp_path: Path) -> None:
    """Each builds what the other planned; the index is right, also after the other's next write."""
    ours = grown(tmp_path / "ours", "MERGE_ON_READ", 9, INDEXED)
    requested = services_arrow(ours.path).schedule("indexing", partitions=["bloom_filters"])
    asked(apache_hudi, "execute", ours.path, requested=requested, configs=BESIDE)
    theirs = grown(tmp_path / "theirs", "MERGE_ON_READ", 9, INDEXED)
    plan = asked(apache_hudi, "schedule", theirs.path, service="indexing", indexes=["BLOOM_FILTERS"], configs=BESIDE)
    services_arrow(theirs.path).execute(plan["requested"])
    for table in (ours, theirs):
        assert (
            "bloom_filters"
            in load_configuration(LocalStorage(table.path)).properties["hoodie.table.metadata.partitions"]
        )
        table.write("upsert", rows([1, 8], ts=50, price=5.0))
        written(apache_hudi, table.path, rows([2, 9], ts=60, price=6.0), **BESIDE)
        assert TableActions(table.writer(executor=InProcess())).validate_metadata() == ()
        alike(apache_hudi, table.path)


@pytest.mark.peers
@pytest.mark.xdist_group("apache-hudi")
@pytest.mark.parametrize("version", [6, 9])
def test_a_recovered_table_is_a_table_to_apache_hudi(apache_hudi: Session, tmp_path: Path, version: int) -> None:
    """It reads the same rows, and writes on."""
    table = grown(tmp_path / "t", "MERGE_ON_READ", version, PLAIN)
    expected = answers(read_arrow(table.path))
    shutil.rmtree(table.path / ".hoodie")
    definition = TableDefinition(
        record_key=("id",),
        partition_by=("region",),
        ordering=("ts",),
        table_type="MERGE_ON_READ",
        table_version=version,
    )
    services_arrow(table.path).recover(KnownOfTable(definition))
    assert alike(apache_hudi, table.path) == expected
    written(apache_hudi, table.path, rows([1, 8], ts=50, price=5.0))
    assert len(alike(apache_hudi, table.path)) == len(expected) + 1
