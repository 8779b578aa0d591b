"""Time to live: partitions that are older than they may be are deleted, and nothing else."""

from pathlib import Path
from typing import Any

import pytest
from clustering_tables import schedule, timeline
from hudi_spark import UnsupportedFeature
from hudi_spark.testing import InProcess, SetClock
from metadata_writes import StopAt, Stopped
from written_tables import Written, rows

DAYS = "hoodie.partition.ttl.strategy.days.retain"
TYPE = "hoodie.partition.ttl.management.strategy.type"
LATER = "20250111000000000"


def old_table(path: Path, table_type: str = "COPY_ON_WRITE", version: int = 9) -> Written:
    """Partitions made on the first of January; ten days later the south gets an update and the clock stands there."""
    table = Written(path, table_type, version, configs={"hoodie.parquet.small.file.limit": "0"})
    table.write("insert", rows(range(10)))
    table.clock = SetClock(LATER)
    table.write("upsert", rows([2], ts=2, price=2.0))
    return table


def drop(table: Written, hook: Any = None, **configs: str) -> Any:
    return table.services(hook, executor=InProcess()).drop_old_partitions(configs=configs)


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
@pytest.mark.parametrize("version", [6, 8, 9])
def test_partitions_go_whose_slices_are_old(tmp_path: Path, version: int, kind: str):
    """As a deletion of partitions on the timeline; an update keeps a partition by a new base file, not by a log."""
    table = old_table(tmp_path / "t", kind, version)
    assert drop(table, **{DAYS: "11"}) is None
    outcome = drop(table, **{DAYS: "5"})
    gone = {"north"} if kind == "COPY_ON_WRITE" else {"north", "süd"}
    assert (outcome.action, outcome.operation, set(outcome.replaced)) == ("replacecommit", "DELETE_PARTITION", gone)
    assert table.ids() == (["k0", "k2", "k4", "k6", "k8"] if kind == "COPY_ON_WRITE" else [])
    assert drop(table, **{DAYS: "5"}) is None


@pytest.mark.parametrize(
    ("configs", "gone"),
    [
        ({DAYS: "5", TYPE: "KEEP_BY_CREATION_TIME"}, {"north", "süd"}),
        ({DAYS: "5", "hoodie.partition.ttl.strategy.class": "org.apache.KeepByCreationTimeStrategy"}, {"north", "süd"}),
        (
            {DAYS: "5", TYPE: "KEEP_BY_CREATION_TIME", "hoodie.partition.ttl.strategy.max.delete.partitions": "1"},
            {"north"},
        ),
        (
            {DAYS: "5", TYPE: "KEEP_BY_CREATION_TIME", "hoodie.partition.ttl.strategy.partition.selected": "süd"},
            {"süd"},
        ),
        ({DAYS: "5", "hoodie.partition.ttl.strategy.partition.selected": "süd"}, set()),
        ({DAYS: "10", TYPE: "KEEP_BY_CREATION_TIME"}, {"north", "süd"}),
        ({DAYS: "11", TYPE: "KEEP_BY_CREATION_TIME"}, set()),
        ({}, set()),
    ],
)
def test_which_partitions_go(tmp_path: Path, configs: dict[str, str], gone: set[str]):
    """By strategy, selection and number; none where no number of days is given."""
    outcome = drop(old_table(tmp_path / "t"), **configs)
    assert (set() if outcome is None else set(outcome.replaced)) == gone


def test_a_partition_that_a_plan_is_at_work_in_stays(tmp_path: Path):
    """Until the plan has been carried out."""
    table = old_table(tmp_path / "t")
    schedule(table, hoodie__clustering__plan__strategy__partition__selected="north")
    assert drop(table, **{DAYS: "5"}) is None
    assert len(table.ids()) == 10


def test_tables_without_partitions_keep_all(tmp_path: Path):
    """There is nothing to delete whole."""
    table = Written(tmp_path / "t", partition_by=())
    table.write("insert", rows(range(4)))
    table.clock = SetClock(LATER)
    assert drop(table, **{DAYS: "1"}) is None


def test_old_partitions_go_after_a_write(tmp_path: Path):
    """Where the options request it."""
    table = old_table(tmp_path / "t")
    table.write_and_serve("insert", rows([100]), configs={"hoodie.partition.ttl.inline": "true", DAYS: "5"})
    assert table.ids() == ["k0", "k100", "k2", "k4", "k6", "k8"]


def test_a_strategy_of_ones_own_is_refused(tmp_path: Path):
    """By its name, with nothing done."""
    table = old_table(tmp_path / "t")
    with pytest.raises(UnsupportedFeature, match="Mine"):
        drop(table, **{DAYS: "5", "hoodie.partition.ttl.strategy.class": "my.own.Mine"})


def test_killed_before_each_effect(tmp_path: Path):
    """The partition is there whole, or gone; the next time it goes."""
    first, number, completed = old_table(tmp_path / "first"), 0, False
    while not completed:
        table = first.copied(tmp_path / f"t{number}")
        try:
            drop(table, StopAt(number), **{DAYS: "5"})
            completed = True
        except Stopped:
            assert len(table.ids()) in {5, 10}
        drop(table, **{DAYS: "5"})
        assert len(table.ids()) == 5, number
        number += 1
    assert [one.requested for one in timeline(table).completed("replacecommit")]
