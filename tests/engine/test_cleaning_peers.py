"""Apache Hudi and this engine clean and archive one table: each carries out the other's plan, and goes on after it."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from apache_peer import Apache
from cleaned_tables import WITHOUT_METADATA, answers, full_timeline_of, timeline_of
from hudi_format.timeline.plans import parse_cleaner_plan
from hudi_spark.testing import SystemClock
from written_tables import Written, rows

KEPT = {"hoodie.clean.commits.retained": "2", **WITHOUT_METADATA}
FEW = {
    "hoodie.keep.min.commits": "2",
    "hoodie.keep.max.commits": "3",
    "hoodie.clean.commits.retained": "1",
    "hoodie.timeline.compaction.batch.size": "2",
    "hoodie.compact.inline.max.delta.commits": "1",
    **WITHOUT_METADATA,
}
TABLES = pytest.mark.parametrize(
    ("version", "table_type"), [(6, "MERGE_ON_READ"), (8, "COPY_ON_WRITE"), (9, "MERGE_ON_READ")]
)

pytestmark = [pytest.mark.peers, pytest.mark.xdist_group("apache-hudi")]


def grown(path: Path, version: int, table_type: str) -> Written:
    """Updates, an overwrite that replaces, and a compaction in between; in the time of the computer, since before
    version 8 the release takes an action as completed when its file was written."""
    table = Written(path, table_type, version, configs=WITHOUT_METADATA)
    table.clock = SystemClock()  # type: ignore[assignment]
    for n, step in enumerate(("upsert", "upsert", "insert_overwrite", "upsert", "compact", "upsert", "upsert")):
        if step != "compact":
            table.write(step, rows(range(n % 2, 4), ts=n, price=float(n)))
        elif table_type == "MERGE_ON_READ":
            table.services().run("compaction", {"hoodie.compact.inline.max.delta.commits": "1"})
    return table


def planned(table: Written) -> Any:
    """The pending plan, by names of files."""
    pending = timeline_of(table).pending("clean")[0]
    plan = parse_cleaner_plan((table.path / pending.files["REQUESTED"]).read_bytes(), "")
    files = plan.file_paths_to_be_deleted_per_partition.items()
    named = {partition: sorted(str(one.file_path).rpartition("/")[2] for one in infos) for partition, infos in files}
    return plan.earliest_instant_to_retain, plan.last_completed_commit_timestamp, plan.policy, named


@TABLES
def test_each_carries_out_the_plan_of_the_other(apache: Apache, tmp_path: Path, version: int, table_type: str):
    """On the same table both plan the same; afterwards both read the same, and the same files are there."""
    table = grown(tmp_path / "table", version, table_type)
    before = answers(table, "~")[0]
    shutil.copytree(table.path, tmp_path / "first")
    ours = table.services().schedule("clean", KEPT)
    our_plan = planned(table)
    apache.request("execute", table.path, requested=ours, configs=KEPT)
    assert timeline_of(table).completed("clean")
    left, read = data_names(table), apache.request("read_snapshot", table.path)
    shutil.rmtree(table.path)
    shutil.copytree(tmp_path / "first", table.path)
    theirs = apache.request("schedule", table.path, service="clean", configs=KEPT)["requested"]
    assert planned(table) == our_plan
    table.services().execute(theirs, KEPT)
    assert data_names(table) == left
    assert answers(table, "~")[0] == before
    assert sorted(read.column("id").to_pylist()) == table.ids()


@TABLES
def test_they_archive_alternately(apache: Apache, tmp_path: Path, version: int, table_type: str):
    """The whole timeline stays what it was, and levels that the one began are merged by the other."""
    table = grown(tmp_path / "table", version, table_type)
    table.services().clean(FEW)
    for attempt in range(4):
        before, found = [str(one) for one in full_timeline_of(table)], answers(table, "~")[0]
        if attempt % 2:
            table.services().archive(FEW)
        else:
            apache.request("service", table.path, name="archive", configs=FEW)
        assert [str(one) for one in full_timeline_of(table)] == before
        assert answers(table, "~")[0] == found
        assert len(timeline_of(table).completed_data()) <= 3
        for n in range(2):
            table.write("upsert", rows([0, 1], ts=20 + attempt, price=float(n)))
    assert len(apache.request("list_timeline", table.path, include_history=True)) >= len(before)
    assert sorted(apache.request("read_snapshot", table.path).column("id").to_pylist()) == table.ids()


def data_names(table: Written) -> list[str]:
    return [name for name in table.files() if not name.startswith(".hoodie/") and not name.endswith(".crc")]
