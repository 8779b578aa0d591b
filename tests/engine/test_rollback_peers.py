"""Apache Hudi and this engine take back what the other one left, and read the same afterwards."""

from pathlib import Path
from typing import Any

import pytest
from apache_peer import Apache
from rollback_tables import Undoable, rows, stopped

KINDS = [(6, "MERGE_ON_READ"), (8, "COPY_ON_WRITE"), (9, "MERGE_ON_READ")]
# A restore of 1.1.1 that is to begin statistics of columns in version 6 fails over its metadata table.
CONFIGS = {
    "hoodie.metadata.enable": "true",
    "hoodie.metadata.index.column.stats.enable": "false",
    "hoodie.parquet.small.file.limit": "0",
}
Rows = list[tuple[Any, ...]]


def found_by(apache: Apache, table: Path) -> Rows:
    """The rows of a snapshot, sorted."""
    read = apache.request("read_snapshot", table)
    return sorted(zip(read["id"].to_pylist(), read["price"].to_pylist(), strict=True), key=repr)


@pytest.mark.peers
@pytest.mark.xdist_group("apache-hudi")
@pytest.mark.parametrize(("version", "kind"), KINDS)
def test_each_rolls_back_the_failed_writes_of_the_other(apache: Apache, tmp_path: Path, version: int, kind: str):
    """Ours by its client, also where our own rollback stopped on the way; its own, which never committed, by us."""
    table = Undoable(tmp_path, version, kind)
    before = table.found()
    table.failed_write()
    stopped(lambda hook: table.services(hook).roll_back_failed_writes(), 6)
    apache.request("service", tmp_path, name="rollback", configs=CONFIGS)
    assert table.found() == found_by(apache, tmp_path) == before
    for phase in ("begin_write", "stage_write"):
        apache.request(phase, tmp_path, rows([1, 80], 9, 9.0), txn="never", operation="upsert", configs=CONFIGS)
    assert len(table.services().roll_back_failed_writes()) == 1
    assert table.found() == found_by(apache, tmp_path) == before
    table.refuse_leftovers()


@pytest.mark.peers
@pytest.mark.xdist_group("apache-hudi")
@pytest.mark.parametrize(("version", "kind"), KINDS)
def test_each_restores_to_the_others_savepoint(apache: Apache, tmp_path: Path, version: int, kind: str):
    """With writes of both after it; each goes on from what the other restored."""
    table = Undoable(tmp_path, version, kind)
    before = table.found()
    apache.request("service", tmp_path, name="savepoint", instant=table.second, comment="theirs", configs=CONFIGS)
    apache.request("write", tmp_path, rows([2, 41], 6, 6.0), operation="upsert", configs=CONFIGS)
    table.write("insert_overwrite", rows([4], 7, 7.0))
    table.services().restore(table.second, saved=True)
    assert table.found() == found_by(apache, tmp_path) == before
    table.refuse_leftovers()
    third = str(table.write("upsert", rows([1, 70], 8, 8.0)).requested)
    before = table.found()
    table.services().savepoint(third)
    table.write("delete", rows([70]))
    apache.request("write", tmp_path, rows([3], 9, 9.0), operation="upsert", configs=CONFIGS)
    apache.request("service", tmp_path, name="restore", savepoint=third, configs=CONFIGS)
    assert table.found() == found_by(apache, tmp_path) == before
