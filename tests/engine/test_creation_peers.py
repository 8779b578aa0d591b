"""Apache Hudi continues tables that this engine made."""

from pathlib import Path

import pyarrow as pa
import pytest
from apache_peer import Apache
from hudi_format.storage import LocalStorage
from hudi_spark import TableDefinition, create_arrow, read_arrow, write_arrow
from hudi_spark.testing import Effects, create_table

ROWS = pa.table({"id": ["é1", "2", "3"], "seq": [7, -1, 0], "part": ["a b", "c%", "é"], "ts": [1, 2, 3]})
TABLES = {
    "cow_9": TableDefinition("t", ROWS.schema, record_key=("id",), partition_by=("part",), ordering=("ts",)),
    "mor_8": TableDefinition(
        "t", ROWS.schema, "MERGE_ON_READ", 8, ("id", "seq"), ("part", "seq"), ("ts",),
        configs={"hoodie.datasource.write.hive_style_partitioning": "true"},
    ),
    "unpartitioned_6": TableDefinition("t", ROWS.schema, "MERGE_ON_READ", 6, ("id", "seq"), (), ("ts",)),
}  # fmt: skip


@pytest.mark.peers
@pytest.mark.xdist_group("apache-hudi")
@pytest.mark.parametrize("name", sorted(TABLES))
def test_apache_hudi_writes_into_a_new_table(apache: Apache, tmp_path: Path, name: str):
    """The first write into the empty table is a released one, with the keys and paths that this engine would give."""
    table = tmp_path / "table"
    table.mkdir()
    create_table(Effects(LocalStorage(table)), TABLES[name])
    apache.request("write", table, ROWS, operation="upsert")
    found = apache.request("read_snapshot", table, meta_columns=True).sort_by("ts")
    create_arrow(tmp_path / "own", TABLES[name])
    write_arrow(tmp_path / "own", ROWS, "upsert")
    wanted = read_arrow(tmp_path / "own", meta_columns=True).sort_by("ts")
    for column in ("_hoodie_record_key", "_hoodie_partition_path"):
        assert found[column].to_pylist() == wanted[column].to_pylist()
    assert found.select(ROWS.column_names).to_pylist() == ROWS.to_pylist()
