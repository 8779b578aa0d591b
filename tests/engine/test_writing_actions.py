"""Indexes made and dropped, columns changed: actions beside the writes, which go on after them."""

from pathlib import Path

import pyarrow as pa
import pytest
from hudi_spark import HudiError, read_arrow
from hudi_spark.errors import Reason
from hudi_spark.testing import IndexRequest, TableActions, changes_of
from written_tables import Written, rows

RECORD_INDEX = {"hoodie.metadata.record.index.enable": "true"}
RENAMED = [{"change": "rename", "column": "price", "to": "cost"}, {"change": "add", "column": "note", "type": "string"}]


@pytest.mark.parametrize("version", [8, 9])
def test_indexes_are_made_kept_and_dropped(tmp_path: Path, version: int):
    """After each step the metadata table says what storage and data do, and queries answer alike."""
    table = Written(tmp_path, "MERGE_ON_READ", version, configs=RECORD_INDEX)
    table.write("upsert", rows(range(6)))
    actions = TableActions(table.writer())
    actions.create_index(IndexRequest("by_price", columns=["price"]))
    actions.create_index(IndexRequest("loud", kind="column_stats", columns=["region"], function="upper"))
    table.write("upsert", rows([2, 9], 3, 4.0))
    assert actions.validate_metadata() == ()
    assert sorted(read_arrow(tmp_path, filter=["price", "=", 4.0]).column("id").to_pylist()) == ["k2", "k9"]
    actions.drop_index("by_price")
    actions.drop_index("loud")
    table.write("upsert", rows([9], 4, 5.0))
    assert actions.validate_metadata() == ()


@pytest.mark.parametrize("version", [6, 9])
def test_changed_columns_reach_rows_that_were_there(tmp_path: Path, version: int):
    """A renamed column keeps its values, a new one is null; later writes use the new names."""
    table = Written(tmp_path, "MERGE_ON_READ", version)
    table.write("upsert", rows([1, 2], 1, 3.0))
    TableActions(table.writer()).alter_schema(changes_of(RENAMED))
    assert table.found(("id", "cost", "note")) == [("k1", 3.0, None), ("k2", 3.0, None)]
    given = {"id": ["k2"], "region": ["süd"], "ts": [9], "cost": [7.0], "note": ["n"]}
    table.write("upsert", pa.table(given))
    assert table.found(("id", "cost", "note")) == [("k1", 3.0, None), ("k2", 7.0, "n")]


def test_an_index_that_went_with_a_restore_can_be_dropped(tmp_path: Path):
    """Its definition stays behind, from which the next write makes it anew: it binds its column until it is dropped."""
    table = Written(tmp_path, configs=RECORD_INDEX)
    table.write("upsert", rows([1, 2], 1, 3.0))
    actions = TableActions(table.writer())
    actions.create_index(IndexRequest("by_price", columns=["price"]))
    saved = table.services().savepoint()
    table.write("upsert", rows([3]))
    table.services().restore(saved.requested)
    actions = TableActions(table.writer())
    with pytest.raises(HudiError, match="drop the index"):
        actions.alter_schema(changes_of(RENAMED))
    actions.drop_index("by_price")
    actions.alter_schema(changes_of(RENAMED))
    table.write("upsert", pa.table({"id": ["k2"], "region": ["süd"], "ts": [9], "cost": [7.0], "note": ["n"]}))
    assert table.found(("id", "cost", "note")) == [("k1", 3.0, None), ("k2", 7.0, "n")]
    assert TableActions(table.writer()).validate_metadata() == ()


def test_an_indexed_column_keeps_its_name(tmp_path: Path):
    """The index knows it by that: it has to go first."""
    table = Written(tmp_path, configs=RECORD_INDEX)
    table.write("upsert", rows([1, 2]))
    actions = TableActions(table.writer())
    actions.create_index(IndexRequest("by_price", columns=["price"]))
    before = table.files()
    with pytest.raises(HudiError, match="drop the index") as refused:
        actions.alter_schema(changes_of(RENAMED))
    assert refused.value.reason == Reason.SCHEMA_INCOMPATIBLE
    assert table.files() == before
