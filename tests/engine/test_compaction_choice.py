"""The rules by which a compaction is due and chooses file slices: strategies and triggers by Hudi's keys."""

from collections.abc import Sequence
from datetime import date
from pathlib import Path

import pytest
from hudi_format.storage import LocalStorage
from hudi_format.timeline.plan_values import CompactionOperation
from hudi_spark import HudiError, UnsupportedFeature
from hudi_spark.services.compaction_planning import Choice, chosen, is_due, metrics_of
from hudi_spark.testing import FileSlice, Instant, Timeline, load_table, resolve
from hypothesis import given
from hypothesis import strategies as st
from written_tables import Written

TODAY = date(2024, 3, 1)
DAYS = ("2024/03/05", "2024/03/01", "2024/02/25", "2023/12/31")


def operation(number: int, partition: str = "p", logs: int = 1, log_bytes: int = 0, io: int = 0) -> CompactionOperation:
    files = tuple(f".f{number}_1.log.{one}_0-0-0" for one in range(logs))
    metrics = {"TOTAL_LOG_FILES_SIZE": float(log_bytes), "TOTAL_IO_MB": float(io)}
    return CompactionOperation("1", files, None, f"f{number}", partition, metrics)


def taken(operations: Sequence[CompactionOperation], strategy: str, **configs: str) -> list[str]:
    """Ids of what a strategy takes; `configs` below `hoodie.compaction.`."""
    options = {"hoodie.compaction.strategy": f"org.apache.hudi.table.action.compact.strategy.{strategy}"}
    options |= {f"hoodie.compaction.{key.replace('_', '.')}": value for key, value in configs.items()}
    partitions = tuple(sorted({one.partition_path or "" for one in operations}))
    return [one.file_id or "" for one in chosen(Choice(tuple(operations), partitions, resolve(options), TODAY))]


def test_slices_with_the_most_bytes_of_logs_go_first():
    """Until the target is met; the one that meets it is in; small ones below the threshold stay."""
    found = [operation(1, log_bytes=5, io=3), operation(2, log_bytes=9, io=3), operation(3, log_bytes=7, io=3)]
    name = "LogFileSizeBasedCompactionStrategy"
    assert taken(found, name) == ["f2", "f3", "f1"]
    assert taken(found, name, target_io="4") == ["f2", "f3"]
    assert taken(found, name, target_io="0") == ["f2"]
    assert taken(found, name, logfile_size_threshold="6") == ["f2", "f3"]


def test_slices_with_the_most_log_files_go_first():
    """Those with fewer than the threshold stay."""
    found = [operation(1, logs=1), operation(2, logs=3), operation(3, logs=2)]
    assert taken(found, "LogFileNumBasedCompactionStrategy") == ["f2", "f3", "f1"]
    assert taken(found, "LogFileNumBasedCompactionStrategy", logfile_num_threshold="2") == ["f2", "f3"]


@given(sizes=st.lists(st.integers(0, 9), max_size=6), target=st.integers(1, 20))
def test_a_bounded_plan_is_a_beginning_of_the_unbounded_one(sizes: list[int], target: int):
    """In its order, as long as the target is not met before."""
    found = [operation(number, io=size) for number, size in enumerate(sizes)]
    whole = taken(found, "UnBoundedCompactionStrategy")
    part = taken(found, "BoundedIOCompactionStrategy", target_io=str(target))
    assert part == whole[: len(part)]
    assert sum(sizes[: max(len(part) - 1, 0)]) < target or not part
    assert len(part) == len(whole) or sum(sizes[: len(part)]) >= target


def test_strategies_by_day_take_partitions_that_are_days():
    """The newest ones; those of the last days and to come; and those before."""
    found = [operation(number, day) for number, day in enumerate(DAYS)]
    assert taken(found, "DayBasedCompactionStrategy", daybased_target_partitions="2") == ["f0", "f1"]
    bounded = [operation(number, day, log_bytes=number, io=2) for number, day in enumerate(DAYS)]
    assert taken(bounded, "DayBasedAndBoundedIOCompactionStrategy", target_io="5") == ["f3", "f2"]
    recent = taken(found, "BoundedPartitionAwareCompactionStrategy", daybased_target_partitions="5")
    assert recent == ["f0", "f1", "f2"]
    assert taken(found, "UnBoundedPartitionAwareCompactionStrategy", daybased_target_partitions="5") == ["f3"]


@pytest.mark.parametrize("partition", ["2024-02-25", "year=2024/month=02/day=25", "day=2024-02-25"])
def test_a_day_is_written_in_several_ways(partition: str):
    """With slashes or dashes, with the names of fields or without."""
    found = [operation(1, partition), operation(2, partition.replace("25", "26"))]
    assert taken(found, "DayBasedCompactionStrategy", daybased_target_partitions="1") == ["f2"]


def test_strategies_follow_one_another():
    """Each chooses from what the one before left."""
    found = [operation(1, "a/x", logs=2), operation(2, "b/x", logs=3), operation(3, "a/y", logs=1)]
    both = "PartitionRegexBasedCompactionStrategy,LogFileNumBasedCompactionStrategy"
    assert taken(found, both, partition_path_regex="^a/", logfile_num_threshold="2") == ["f1"]


def test_strategies_that_do_not_fit_are_refused():
    """Partitions that are no days, no pattern, a strategy of a user's own."""
    found = [operation(1, "north")]
    for name, configs in (
        ("DayBasedCompactionStrategy", {}),
        ("PartitionRegexBasedCompactionStrategy", {}),
        ("PartitionRegexBasedCompactionStrategy", {"partition_path_regex": "("}),
    ):
        with pytest.raises(HudiError) as refused:
            taken(found, name, **configs)
        assert refused.value.reason == "CONFIG_INVALID"
    with pytest.raises(UnsupportedFeature, match="compaction-strategy"):
        taken(found, "OurOwn")


def test_a_plan_says_what_a_slice_costs():
    """Bytes of logs and whole megabytes; without a base file a full one is expected."""
    one = FileSlice("p", "f", "1", "p/base", ("p/log1", "p/log2"))
    sizes = {"p/base": 5 << 20, "p/log1": 1 << 20, "p/log2": (1 << 20) - 1}
    assert metrics_of(one, sizes, 120 << 20) == {
        "TOTAL_LOG_FILES": 2.0,
        "TOTAL_IO_MB": 11.0,
        "TOTAL_IO_READ_MB": 6.0,
        "TOTAL_LOG_FILES_SIZE": float((2 << 20) - 1),
        "TOTAL_IO_WRITE_MB": 5.0,
    }
    alone = FileSlice("p", "f", "1", None, ("p/log1",))
    assert metrics_of(alone, sizes, 120 << 20)["TOTAL_IO_WRITE_MB"] == 120.0


def second(number: int) -> str:
    return f"2025010100{number // 60:02d}{number % 60:02d}000"


def done(number: int, action: str = "deltacommit", *, completed: bool = True) -> Instant:
    time = second(number)
    state = "COMPLETED" if completed else "REQUESTED"
    return Instant(time, action, state, f"{time[:-3]}500" if completed else None, {state: "x"})


WRITES = [done(number) for number in range(3)]
COMPACTED = [*WRITES, done(3, "commit"), done(4), done(5)]


@pytest.mark.parametrize(
    ("instants", "trigger", "limits", "due"),
    [
        (WRITES, "NUM_COMMITS", (3, 0), True),
        (WRITES, "NUM_COMMITS", (4, 0), False),
        ([], "NUM_COMMITS", (1, 0), False),
        (COMPACTED, "NUM_COMMITS", (2, 0), True),
        (COMPACTED, "NUM_COMMITS", (3, 0), False),
        ([*COMPACTED, done(6, "compaction", completed=False)], "NUM_COMMITS", (2, 0), True),
        ([*COMPACTED, done(6, "compaction", completed=False)], "NUM_COMMITS_AFTER_LAST_REQUEST", (1, 0), False),
        ([*COMPACTED, done(6, "compaction", completed=False), done(7)], "NUM_COMMITS_AFTER_LAST_REQUEST", (1, 0), True),
        (WRITES, "TIME_ELAPSED", (9, 60), True),
        (WRITES, "TIME_ELAPSED", (9, 61), False),
        (COMPACTED, "TIME_ELAPSED", (9, 57), True),
        (COMPACTED, "TIME_ELAPSED", (9, 58), False),
        (WRITES, "NUM_AND_TIME", (3, 60), True),
        (WRITES, "NUM_AND_TIME", (3, 61), False),
        (WRITES, "NUM_OR_TIME", (3, 61), True),
        (WRITES, "NUM_OR_TIME", (4, 60), True),
        (WRITES, "NUM_OR_TIME", (4, 61), False),
    ],
)
def test_triggers(tmp_path: Path, instants: list[Instant], trigger: str, limits: tuple[int, int], due: object):
    """Deltacommits since the last compaction completed, or was requested; seconds since then, or since the first."""
    configs = {
        "hoodie.compact.inline.trigger.strategy": trigger,
        "hoodie.compact.inline.max.delta.commits": str(limits[0]),
        "hoodie.compact.inline.max.delta.seconds": str(limits[1]),
    }
    Written(tmp_path, "MERGE_ON_READ")
    configuration, _ = load_table(LocalStorage(tmp_path))
    found = is_due(Timeline(tuple(instants)), configuration, resolve(configs), lambda: second(60))
    assert found == due
