"""What a compaction's plan takes on, with groups of other plans left out."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from compaction_tables import instants, plan_of
from hudi_format.timeline.plan_values import CompactionPlan
from hudi_spark.testing import TableServices
from written_tables import NOW, Written, rows

QUIET = {"hoodie.metadata.enable": "false", "hoodie.parquet.small.file.limit": "0"}
DUE = {"hoodie.compact.inline.max.delta.commits": "1"}
ALWAYS = {"hoodie.compact.inline.max.delta.commits": "0", "hoodie.compact.inline.trigger.strategy": "NUM_COMMITS"}


def test_what_a_bounded_plan_left_is_planned_next(tmp_path: Path):
    """Also where nothing was written since: with the trigger that is always due."""
    table = Written(tmp_path, "MERGE_ON_READ", configs=QUIET)
    table.write("insert", rows(range(4)))
    table.write("upsert", rows((0, 1), ts=2))
    services = TableServices(table.writer())
    pattern = {**ALWAYS, "hoodie.compaction.strategy": "PartitionRegexBasedCompactionStrategy"}
    first = services.run("compaction", {**pattern, "hoodie.compaction.partition.path.regex": "north"})
    assert first is not None
    assert services.run("compaction", DUE) is None
    last = services.run("compaction", ALWAYS)
    assert [one.partition_path for one in (*first.written, *(last.written if last else ()))] == ["north", "süd"]


def planned(table: Written, service: str = "compaction", configs: Mapping[str, str] | None = None) -> CompactionPlan:
    requested = TableServices(table.writer()).schedule(service, {**DUE, **(configs or {})})
    assert requested is not None
    return plan_of(table, requested)


@pytest.mark.parametrize("version", [6, 8, 9])
def test_a_plan_names_files_without_their_folders(tmp_path: Path, version: int):
    """In the form of Apache Hudi's plans: version 2, no strategy, nothing said of meta fields."""
    table = Written(tmp_path, "MERGE_ON_READ", version, configs=QUIET)
    table.write("insert", rows(range(4)))
    table.write("upsert", rows((0,), ts=2))
    plan = planned(table)
    (one,) = plan.operations
    (base,) = (path.name for path in tmp_path.glob("süd/*.parquet"))
    (log,) = (path.name for path in tmp_path.glob("süd/.*.log.*"))
    assert (one.partition_path, one.data_file_path, one.delta_file_paths) == ("süd", base, (log,))
    assert (one.base_instant_time, one.bootstrap_file_path) == (NOW, None)
    assert (plan.version, plan.strategy, plan.preserve_hoodie_metadata) == (2, None, False)
    assert (plan.extra_metadata, plan.missing_schedule_partitions) == ({}, ())


@pytest.mark.parametrize("version", [6, 8, 9])
def test_groups_of_other_plans_are_left_out_and_reported(tmp_path: Path, version: int):
    """A group is in one plan at a time; who looks at changed partitions only is informed where there is more."""
    table = Written(tmp_path, "MERGE_ON_READ", version, configs=QUIET)
    table.write("insert", rows(range(4)))
    table.write("upsert", rows((0,), ts=2))
    first = planned(table)
    table.write("upsert", rows((0, 1), ts=3))
    second_plan = planned(table)
    assert [one.partition_path for one in first.operations] == ["süd"]
    assert [one.partition_path for one in second_plan.operations] == ["north"]
    assert second_plan.missing_schedule_partitions == ("süd",)
    waiting = [plan_of(table, one.requested) for one in instants(table) if not one.is_completed]
    assert [one.partition_path for plan in waiting for one in plan.operations] == ["süd", "north"]
    services = TableServices(table.writer())
    assert services.schedule("compaction", DUE) is None
    assert services.schedule("logcompaction", {"hoodie.log.compaction.blocks.threshold": "1"}) is None


def test_what_was_overwritten_is_not_planned(tmp_path: Path):
    """Its groups have left the table."""
    table = Written(tmp_path, "MERGE_ON_READ", configs=QUIET)
    table.write("insert", rows(range(4)))
    table.write("upsert", rows((0, 1), ts=2))
    table.write("insert_overwrite", rows((2,), ts=3))
    assert [one.partition_path for one in planned(table).operations] == ["north"]
