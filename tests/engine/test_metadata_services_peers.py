"""Apache Hudi and this engine write in turns, and each serves the metadata table that the other one kept."""

from pathlib import Path

import pytest
from apache_peer import Apache
from hudi_format.storage import LocalStorage
from hudi_spark.testing import InProcess, SystemClock, TableActions, load_table
from written_tables import Written, random_file_id, rows

SERVED = {
    "hoodie.metadata.enable": "true",
    "hoodie.metadata.index.column.stats.enable": "true",
    "hoodie.metadata.record.index.enable": "true",
    "hoodie.metadata.compact.max.delta.commits": "3",
    "hoodie.parquet.small.file.limit": "0",
    "hoodie.clean.automatic": "false",
}


@pytest.mark.peers
@pytest.mark.xdist_group("apache-hudi")
@pytest.mark.parametrize(("version", "kind"), [(6, "MERGE_ON_READ"), (8, "COPY_ON_WRITE"), (9, "MERGE_ON_READ")])
def test_each_goes_on_from_what_the_other_compacted(apache: Apache, tmp_path: Path, version: int, kind: str):
    """Both read the same by the metadata table after every turn, and it equals storage."""
    table = Written(tmp_path / "table", kind, version, configs=SERVED)
    table.clock, table.file_id = SystemClock(), random_file_id
    table.write("upsert", rows(range(6), ts=1))
    compacted = [0]
    for attempt in range(1, 4):
        for number in range(3):
            given = rows([number, 10 * attempt + number], ts=10 * attempt + number, price=float(attempt))
            if attempt % 2:
                apache.upsert(table.path, given, **SERVED)
            else:
                table.write("upsert", given)
            assert TableActions(table.writer(executor=InProcess())).validate_metadata() == ()
        assert len(apache.alike(table.path)) == 6 + 3 * attempt
        compacted.append(compactions(table.path))
    assert compacted == sorted(set(compacted)), "each turn compacts"


def compactions(table: Path) -> int:
    """How many there are in the timeline of the metadata table."""
    _, timeline = load_table(LocalStorage(table / ".hoodie/metadata"))
    return len(timeline.completed("commit"))
