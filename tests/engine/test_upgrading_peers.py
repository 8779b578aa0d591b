"""Apache Hudi goes on with tables that this engine upgraded, indexed or recovered, and the other way round."""

import shutil
from pathlib import Path

import pytest
from apache_peer import Apache, texts
from hudi_format.storage import LocalStorage
from hudi_spark import RecoveryHints, TableDefinition, read_arrow, services_arrow, write_arrow
from hudi_spark.testing import InProcess, SystemClock, TableActions, load_configuration
from written_tables import Written, random_file_id, rows

PLAIN = {"hoodie.metadata.enable": "false"}
INDEXED = {"hoodie.metadata.enable": "true", "hoodie.metadata.index.column.stats.enable": "false"}
BESIDE = {
    **INDEXED,
    "hoodie.metadata.index.partition.stats.enable": "false",
    "hoodie.write.concurrency.mode": "optimistic_concurrency_control",
    "hoodie.write.lock.provider": "org.apache.hudi.client.transaction.lock.InProcessLockProvider",
    "hoodie.metadata.index.bloom.filter.enable": "true",
}


def grown(path: Path, kind: str, version: int, configs: dict[str, str]) -> Written:
    table = Written(path, kind, version, configs=configs)
    table.clock, table.file_id = SystemClock(), random_file_id
    table.write("upsert", rows(range(6), ts=10))
    table.write("upsert", rows([0, 1, 7], ts=20, price=2.0))
    table.write("delete", rows([4], ts=30))
    return table


@pytest.mark.peers
@pytest.mark.xdist_group("apache-hudi")
@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_what_either_upgraded_both_go_on_with(apache: Apache, tmp_path: Path, kind: str) -> None:
    """From 6 to 9 by one, read and written by the other, and back to 6."""
    table = grown(tmp_path / "ours", kind, 6, PLAIN)
    expected = texts(read_arrow(table.path))
    theirs = tmp_path / "theirs"
    shutil.copytree(table.path, theirs)
    services_arrow(table.path).upgrade(9)
    upgrading = {**PLAIN, "hoodie.write.auto.upgrade": "true", "hoodie.write.table.version": "9"}
    apache.request("service", theirs, name="upgrade", to=9, configs=upgrading)
    for path in (table.path, theirs):
        assert load_configuration(LocalStorage(path)).version == 9
        assert apache.alike(path) == expected
        apache.upsert(path, rows([1, 8], ts=50, price=5.0))
        write_arrow(path, rows([2, 9], ts=50, price=6.0), "upsert", configs=PLAIN)
        before = apache.alike(path)
        assert len(before) == len(expected) + 2
        services_arrow(path).downgrade(6)
        assert apache.alike(path) == before
        apache.upsert(path, rows([3], ts=60, price=7.0))
        assert len(apache.alike(path)) == len(before)


@pytest.mark.peers
@pytest.mark.xdist_group("apache-hudi")
def test_plans_of_indexes_cross_over(apache: Apache, tmp_path: Path) -> None:
    """Each builds what the other planned; the index is right, also after the other's next write."""
    ours = grown(tmp_path / "ours", "MERGE_ON_READ", 9, INDEXED)
    requested = services_arrow(ours.path).schedule("indexing", partitions=["bloom_filters"])
    apache.request("execute", ours.path, requested=requested, configs=BESIDE)
    theirs = grown(tmp_path / "theirs", "MERGE_ON_READ", 9, INDEXED)
    plan = apache.request("schedule", theirs.path, service="indexing", indexes=["BLOOM_FILTERS"], configs=BESIDE)
    services_arrow(theirs.path).execute(plan["requested"])
    for table in (ours, theirs):
        assert (
            "bloom_filters"
            in load_configuration(LocalStorage(table.path)).properties["hoodie.table.metadata.partitions"]
        )
        table.write("upsert", rows([1, 8], ts=50, price=5.0))
        apache.upsert(table.path, rows([2, 9], ts=60, price=6.0), **BESIDE)
        assert TableActions(table.writer(executor=InProcess())).validate_metadata() == ()
        apache.alike(table.path)


@pytest.mark.peers
@pytest.mark.xdist_group("apache-hudi")
@pytest.mark.parametrize("version", [6, 9])
def test_a_recovered_table_is_a_table_to_apache_hudi(apache: Apache, tmp_path: Path, version: int) -> None:
    """It reads the same rows, and writes on."""
    table = grown(tmp_path / "t", "MERGE_ON_READ", version, PLAIN)
    expected = texts(read_arrow(table.path))
    shutil.rmtree(table.path / ".hoodie")
    definition = TableDefinition(
        record_key=("id",),
        partition_by=("region",),
        ordering=("ts",),
        table_type="MERGE_ON_READ",
        table_version=version,
    )
    services_arrow(table.path).recover(RecoveryHints(definition))
    assert apache.alike(table.path) == expected
    apache.upsert(table.path, rows([1, 8], ts=50, price=5.0))
    assert len(apache.alike(table.path)) == len(expected) + 1
