"""Which plans of table services are in the way of a write."""

from pathlib import Path

import pytest
from engine_tables import TableBuilder, row, tick
from hudi_format.storage import open_storage
from hudi_spark import HudiError
from hudi_spark.testing import RELEASED, load_snapshot, load_table
from hudi_spark.write.conflicts import ConflictRules, WriteConflicts


@pytest.mark.parametrize(
    ("version", "planned", "counts"), [(6, 20, True), (8, 20, False), (9, 20, False), (9, 40, True)]
)
def test_a_plan_of_an_earlier_time_than_the_write_counts_before_version_8(
    tmp_path: Path, version: int, planned: int, counts: object
):
    """It was not there when the write looked: where logs are named after their slice, its are of the old one."""
    builder = TableBuilder(tmp_path, version)
    builder.commit(10, [builder.base_file(10, [row("k1", 1)])])
    storage = open_storage(tmp_path)
    conflicts = WriteConflicts(
        storage, load_snapshot(storage, RELEASED), tick(30), frozenset({("north", "f1")}), ConflictRules()
    )
    builder.pending_compaction(planned, "f1")
    timeline = load_table(storage)[1]
    if counts:
        with pytest.raises(HudiError, match=f"{tick(planned)} is about to rewrite the same file groups: north/f1"):
            conflicts.refuse_any(timeline)
    else:
        conflicts.refuse_any(timeline)
