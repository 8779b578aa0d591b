"""Writes on Spark: the same files as in this process, batches once, executors in processes of their own."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import written_tables
from hudi_spark import HudiError, HudiTable
from hudi_spark.testing import OnSpark, TableServices, WriteRequest
from pyspark import cloudpickle
from written_tables import Written, fixed_identity, rows

pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore:distutils Version classes:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
    pytest.mark.filterwarnings("ignore:.*unclosed <socket:pytest.PytestUnraisableExceptionWarning"),
]
JOB = Path(__file__).parent / "local_cluster_writes.py"
DATED = ("hoodie.properties", ".hoodie_partition_metadata")


def _bytes(path: Path) -> dict[str, bytes]:
    """Every file by name, without the lines of properties that say when they were written."""
    found = {}
    for file in sorted(one for one in path.rglob("*") if one.is_file() and not one.name.endswith(".crc")):
        data = file.read_bytes()
        if file.name.startswith(DATED):
            data = b"\n".join(line for line in data.splitlines() if not line.startswith(b"#"))
        found[str(file.relative_to(path))] = data
    return found


# Nothing by the driver; rows, but hardly a file; everything.
@pytest.mark.parametrize("driver_bytes", [0, 400_000, 1 << 30])
@pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_both_executors_write_equal_bytes(tmp_path: Path, spark: Any, table_type: str, driver_bytes: int):
    """Under one task identity, one clock and ids that count: data, logs, timeline and metadata table."""
    cloudpickle.register_pickle_by_value(written_tables)
    here, there = Written(tmp_path / "here", table_type), Written(tmp_path / "there", table_type)
    given = [
        ("upsert", rows(range(8), 1)),
        ("upsert", pa.concat_tables([rows([2, 3, 9], 3, 3.0), rows([3], 2, 9.0)])),
        ("delete", rows([0], 0)),
        ("insert", rows([20, 21])),
        ("insert_overwrite", rows([5, 7], 4)),
    ]
    for operation, one in given:
        here.write(operation, one)
        executor = OnSpark(spark, fixed_identity, driver_bytes)
        there.writer(executor=executor).write(WriteRequest(operation, one))
    assert here.found() == there.found()
    first, second = _bytes(here.path), _bytes(there.path)
    assert sorted(first) == sorted(second)
    assert [name for name in first if first[name] != second[name]] == []


def _seen(session: Any, limit: str | None, path: Path, frame: Any) -> tuple[list[tuple[Any, ...]], int]:
    """The rows of a new table after an upsert of a frame, and the jobs that it took."""
    written = Written(path)
    if limit is not None:
        session.conf.set("spark.hudi.driver.bytes", limit)
    tracker = session.sparkContext.statusTracker()
    before = set(tracker.getJobIdsForGroup(None))
    try:
        HudiTable(session, written.path).upsert(frame)
    finally:
        session.conf.unset("spark.hudi.driver.bytes")
    return written.found(), len(set(tracker.getJobIdsForGroup(None)) - before)


def test_few_rows_that_spark_knows_the_size_of_are_written_by_the_driver(tmp_path: Path, spark: Any):
    """One job brings them, and a later row of a key is the later one; a frame of unknown size goes to Spark's tasks."""
    columns = ["concat('k', id % 700) as id", "'north' as region", "1L as ts", "cast(id as double) as price"]
    spark.range(0, 1000, 1, 4).selectExpr(*columns).write.parquet(str(tmp_path / "source"))
    known = spark.read.parquet(str(tmp_path / "source")).where("price >= 0").sort("price")
    unknown = known.mapInArrow(lambda batches: batches, known.schema)
    exploded = known.selectExpr("explode(array(id)) as id", "region", "ts", "price").sort("price")
    rows_here, jobs = _seen(spark, None, tmp_path / "here", known)
    assert rows_here == _seen(spark, "0", tmp_path / "there", known)[0]
    assert jobs <= 3  # a sort looks at its rows first, and sends them in a job of its own
    renamed = known.selectExpr("id as id", "region", "ts", "price")
    assert _seen(spark, None, tmp_path / "renamed", renamed)[1] <= jobs
    computed = known.selectExpr("concat(id, '') as id", "region", "ts", "price").sort("price")
    for number, frame in enumerate((unknown, exploded, computed)):
        found, more = _seen(spark, None, tmp_path / f"unknown {number}", frame)
        assert found == rows_here
        assert more > jobs


def test_files_of_more_rows_than_their_bytes_promise_do_not_come_to_the_driver(tmp_path: Path, spark: Any):
    """A column of one value takes hardly a byte of a file: no partition gives the driver more rows than the limit."""
    columns = ["concat('k', id % 10) as id", "'north' as region", "1L as ts", "1.0D as price"]
    spark.range(0, 200_000, 1, 2).selectExpr(*columns).write.parquet(str(tmp_path / "source"))
    source = spark.read.parquet(str(tmp_path / "source"))
    context = spark.sparkContext
    context.setJobGroup("too many", "rows")
    try:
        found, _ = _seen(spark, "400000", tmp_path / "table", source)
    finally:
        context.setLocalProperty("spark.jobGroup.id", None)
    assert len(found) == 10
    tracker, store = context.statusTracker(), context._jsc.sc().statusStore()
    stages = {one for job in tracker.getJobIdsForGroup("too many") for one in tracker.getJobInfo(job).stageIds}
    results = [store.lastStageAttempt(one).resultSize() for one in stages]
    assert stages
    assert max(results) < 200_000 * (2 * 4 + 2 * 8) / 2  # texts have offsets of four bytes


def test_the_driver_takes_no_more_than_the_session_allows(tmp_path: Path, spark: Any):
    """Rows that turn out to be more, and what the driver may not receive, go to Spark's tasks; no number is refused."""
    columns = ["concat('k', id) as id", "'north' as region", "1L as ts", "cast(id as double) as price"]
    frame = spark.range(2000).selectExpr(*columns)
    frame.write.parquet(str(tmp_path / "source"))
    stored = spark.read.parquet(str(tmp_path / "source"))
    expected, jobs = _seen(spark, None, tmp_path / "all", stored)
    size = sum(file.stat().st_size for file in (tmp_path / "source").glob("*.parquet"))
    for number, limit in enumerate((4 * size + 64, 1000)):
        found, more = _seen(spark, str(limit), tmp_path / str(number), stored)
        assert found == expected
        assert more > jobs
    with pytest.raises(HudiError, match=r"spark\.hudi\.driver\.bytes is 'many'") as refused:
        _seen(spark, "many", tmp_path / "refused", frame)
    assert refused.value.reason == "CONFIG_INVALID"


def test_a_data_frame_does_not_change_the_types_of_a_table(tmp_path: Path, spark: Any):
    """Text for the ordering number is refused; a column of longs is taken where that is requested, and is said."""
    schema = "id string, region string, ts bigint, n int"
    table = HudiTable.create(
        spark,
        tmp_path,
        name="trips",
        schema=spark.createDataFrame([], schema).schema,
        record_key="id",
        partition_by="region",
        ordering="ts",
    )
    table.upsert(spark.createDataFrame([("a", "x", 10, 1)], schema))
    texts = spark.createDataFrame([("a", "x", "9", 2)], schema.replace("ts bigint", "ts string"))
    longs = spark.createDataFrame([("a", "x", 11, 2**40)], schema.replace("n int", "n bigint"))
    settings = {"hoodie.schema.on.read.enable": "true"}
    for frame, configs in ((texts, {}), (texts, settings), (longs, {})):
        with pytest.raises(HudiError, match="in the rows and") as refused:
            table.upsert(frame, configs=configs)
        assert refused.value.reason == "SCHEMA_INCOMPATIBLE"
    assert table.upsert(longs, configs=settings).schema_changes == ("column n from int to long",)
    assert [row.n for row in table.snapshot().collect()] == [2**40]


def test_spark_takes_frames_and_tables_alone(tmp_path: Path, spark: Any):
    """A stream is refused before anything is read of it."""
    table, reader = Written(tmp_path), rows([1]).to_reader()
    with pytest.raises(HudiError, match=r"RecordBatchReader.*write_arrow") as refused:
        table.writer(executor=OnSpark(spark)).write(WriteRequest("upsert", reader))
    assert refused.value.reason == "CONFIG_INVALID"
    assert reader.read_all().num_rows == 1


def test_a_batch_that_comes_again_is_written_once(tmp_path: Path, spark: Any):
    """As `foreachBatch` repeats it after a failure; another stream's batches have numbers of their own."""
    Written(tmp_path)
    table = HudiTable(spark, tmp_path)
    frame = spark.createDataFrame([("k1", "north", 1, 1.0)], "id string, region string, ts long, price double")
    assert table.write_batch(frame, 0) is not None
    assert table.write_batch(frame.selectExpr("'k2' as id", "region", "ts", "price"), 1) is not None
    before = len(table.timeline())
    assert table.write_batch(frame.selectExpr("'k3' as id", "region", "ts", "price"), 1) is None
    other = {"hoodie.datasource.write.streaming.checkpoint.identifier": "other"}
    assert table.write_batch(frame.selectExpr("'k4' as id", "region", "ts", "price"), 1, configs=other) is not None
    assert table.write_batch(frame, 1) is None
    assert sorted(row.id for row in table.snapshot().collect()) == ["k1", "k2", "k4"]
    assert len(table.timeline()) == before + 1


def test_a_stream_feeds_a_table(tmp_path: Path, spark: Any):
    """A streaming query of Spark's own, its checkpoint lost once: every row is there once."""
    Written(tmp_path / "table")
    table = HudiTable(spark, tmp_path / "table")
    source = tmp_path / "source"
    frame = spark.range(6).selectExpr("concat('k', id) as id", "'north' as region", "id as ts", "1.0D as price")
    frame.repartition(3).write.parquet(str(source))
    for _ in range(2):
        stream = spark.readStream.schema(frame.schema).option("maxFilesPerTrigger", 1).parquet(str(source))
        query = stream.writeStream.foreachBatch(lambda rows, number: table.write_batch(rows, number) and None)
        query.option("checkpointLocation", str(tmp_path / f"checkpoint {_}")).trigger(
            availableNow=True
        ).start().awaitTermination()
    assert sorted(row.id for row in table.snapshot().collect()) == [f"k{n}" for n in range(6)]


def test_a_bulk_insert_is_one_job_and_an_upsert_few(tmp_path: Path, spark: Any):
    """Few jobs a commit: as many as `write.running` says, and those of shuffles that Spark plans one by one."""
    frame = spark.range(100).selectExpr("concat('k', id) as id", "'north' as region", "id as ts", "1.0D as price")
    Written(tmp_path)
    table = HudiTable(spark, tmp_path, configs={"hoodie.metadata.enable": "false"})
    assert _jobs(spark, lambda: table.bulk_insert(frame)) == 1
    assert _jobs(spark, lambda: table.upsert(frame)) <= 10


@pytest.mark.parametrize("index", ["SIMPLE", "BLOOM", "GLOBAL_SIMPLE"])
def test_a_write_of_a_few_rows_has_few_tasks(tmp_path: Path, spark: Any, index: str):
    """Whatever number of partitions the session shuffles into: Spark's default of 200 would be as many Python tasks."""
    Written(tmp_path)
    table = HudiTable(spark, tmp_path, configs={"hoodie.metadata.enable": "false", "hoodie.index.type": index})
    frame = spark.range(3).selectExpr("concat('k', id) as id", "'north' as region", "id as ts", "1.0D as price")
    before = spark.conf.get("spark.sql.shuffle.partitions")
    spark.conf.set("spark.sql.shuffle.partitions", "200")
    try:
        table.insert(frame)
        assert max(_tasks(spark, lambda: table.upsert(frame))) <= 4 * spark.sparkContext.defaultParallelism
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", before)


def _jobs(spark: Any, run: Any) -> int:
    return len(_run_in_group(spark, run))


def _tasks(spark: Any, run: Any) -> list[int]:
    """The number of tasks of each stage of what runs."""
    tracker = spark.sparkContext.statusTracker()
    jobs = [tracker.getJobInfo(one) for one in _run_in_group(spark, run)]
    stages = [tracker.getStageInfo(stage) for job in jobs for stage in job.stageIds]
    return [stage.numTasks for stage in stages if stage is not None and stage.numCompletedTasks]


def _run_in_group(spark: Any, run: Any) -> list[int]:
    """The ids of the jobs of what runs."""
    context = spark.sparkContext
    group = f"jobs {id(run)}"
    context.setJobGroup(group, group)
    run()
    found: list[int] = context.statusTracker().getJobIdsForGroup(group)
    context.setLocalProperty("spark.jobGroup.id", None)
    return found


def test_a_failed_task_leaves_no_file(tmp_path: Path, spark: Any):
    """A row without a key in one of many partitions: the table answers as before, nothing of the write is left."""
    table = Written(tmp_path)
    table.write("upsert", rows([1, 2]))
    before = table.files()
    expression = "case when id = 77 then null else concat('k', id) end as id"
    frame = spark.range(0, 100, 1, 4).selectExpr(expression, "'north' as region", "id as ts", "1.0D as price")
    with pytest.raises(Exception, match="KEY_MISSING"):
        HudiTable(spark, tmp_path).bulk_insert(frame)
    assert [name for name in table.files() if not name.endswith(".crc")] == before
    assert table.ids() == ["k1", "k2"]


@pytest.mark.timeout(900)  # three JVMs on two cores: minutes where the machine is busy
def test_writes_run_on_executors_of_their_own(tmp_path: Path):
    """Nothing leans on the driver: two executor processes, and results of at most 16 MB on the driver."""
    run = subprocess.run([sys.executable, str(JOB), str(tmp_path)], check=True, capture_output=True, text=True)
    answer = json.loads(run.stdout.splitlines()[-1])
    assert answer == {"rows": 50_500, "total": 2 * 1000 + 49_500, "executors": 2, "limit": "16m"}


@pytest.mark.parametrize("version", [6, 9])
def test_services_write_equal_bytes(tmp_path: Path, spark: Any, version: int):
    """Compactions of logs and of slices, planned and carried out by either executor."""
    cloudpickle.register_pickle_by_value(written_tables)
    configs = {"hoodie.parquet.small.file.limit": "0", "hoodie.compact.inline.max.delta.commits": "1"}
    configs["hoodie.log.compaction.blocks.threshold"] = "1"
    tables = [Written(tmp_path / name, "MERGE_ON_READ", version, configs=configs) for name in ("here", "there")]
    for table, more in zip(tables, ({}, {"executor": OnSpark(spark, fixed_identity)}), strict=True):
        table.write("upsert", rows(range(8), 1))
        table.write("upsert", rows([2, 3, 9], 3, 3.0))
        table.write("delete", rows([0], 0))
        before = table.found()
        services = TableServices(table.writer(**more))
        assert services.run("logcompaction") is not None
        assert services.run("compaction") is not None
        assert table.found() == before
    first, second = (_bytes(table.path) for table in tables)
    assert sorted(first) == sorted(second)
    assert [name for name in first if first[name] != second[name]] == []


def test_a_table_is_compacted_from_its_object(tmp_path: Path, spark: Any):
    """However few deltacommits there were; copy-on-write tables are refused."""
    written = Written(tmp_path / "mor", "MERGE_ON_READ", configs={"hoodie.parquet.small.file.limit": "0"})
    written.write("upsert", rows(range(8), 1))
    written.write("upsert", rows([2, 3], 3, 3.0))
    table, before = HudiTable(spark, written.path), written.found()
    assert str(table.compact()).startswith("COMPACT ")
    assert table.compact() is None
    written.write("upsert", rows([2], 4, 3.0))
    assert table.schedule("compaction") is None
    plan = table.schedule("compaction", {"hoodie.compact.inline.max.delta.commits": "1"})
    assert plan is not None
    assert table.execute(plan).requested == plan
    assert written.found() == before


def test_a_table_is_cleaned_and_archived_from_its_object(tmp_path: Path, spark: Any):
    """Files are deleted by Spark's tasks; the answers of now stay."""
    written = Written(tmp_path / "cow", configs={"hoodie.metadata.enable": "false"})
    for n in range(5):
        written.write("upsert", rows(range(8), n))
    configs = {"hoodie.metadata.enable": "false", "hoodie.clean.commits.retained": "1"}
    table, before = HudiTable(spark, written.path, configs=configs), written.found()
    done = table.clean()
    assert done is not None
    assert sum(map(len, done.deleted.values())) == 6
    assert table.clean() is None
    assert len(table.archive({"hoodie.keep.min.commits": "2", "hoodie.keep.max.commits": "3"})) == 3
    assert written.found() == before
