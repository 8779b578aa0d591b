"""Programs keep the options of Hudi's data source: what `load` reads and `save` writes by them."""
# ruff: noqa: S608 - statements are what is tested

import datetime as dt
import json
import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pytest
from hudi_spark import (
    HudiError,
    HudiTable,
    ServiceWarning,
    UnsupportedFeature,
    check_table,
    hudi_sql,
    load,
    read_arrow,
    register,
    save,
)

pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore:distutils Version classes:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
    pytest.mark.filterwarnings("ignore:.*unclosed <socket:pytest.PytestUnraisableExceptionWarning"),
]
OPTIONS = {
    "hoodie.table.name": "trips",
    "hoodie.datasource.write.recordkey.field": "id",
    "hoodie.datasource.write.partitionpath.field": "city",
    "hoodie.datasource.write.precombine.field": "ts",
    "hoodie.datasource.write.table.type": "MERGE_ON_READ",
    "hoodie.table.cdc.enabled": True,
    "hoodie.metadata.enable": "false",
}
TYPE = "hoodie.datasource.query.type"
BEGIN = "hoodie.datasource.read.begin.instanttime"
END = "hoodie.datasource.read.end.instanttime"
CDC = {"hoodie.datasource.query.incremental.format": "cdc"}


def frame(spark: Any, ids: range, fare: float, ts: int = 1) -> Any:
    """Rows with these keys, even ones in lima, odd ones in oslo."""
    rows = [(n, ("lima", "oslo")[n % 2], fare, ts) for n in ids]
    return spark.createDataFrame(rows, "id int, city string, fare double, ts long")


def fares(found: Any) -> dict[int, float]:
    """What each key has, of a DataFrame."""
    return {row.id: row.fare for row in found.collect()}


def test_a_table_is_made_written_and_queried_by_options(spark: Any, tmp_path: Path):
    """One set of options for all: each query is the one of the method that it stands for."""
    path = tmp_path / "table"
    bulk = {**OPTIONS, "hoodie.datasource.write.operation": "bulk_insert"}
    first = save(frame(spark, range(4), 1.0), path, bulk, "overwrite")
    second = save(frame(spark, range(1, 5), 2.0, 2), path, OPTIONS, "append")
    deleting = {**OPTIONS, "hoodie.datasource.write.operation": "delete"}
    third = save(frame(spark, range(1), 0.0, 3), path, deleting, "Append")
    assert first is not None and second is not None and third is not None  # noqa: PT018 - None is the answer of `ignore`
    assert [one.operation for one in (first, second, third)] == ["BULK_INSERT", "UPSERT", "DELETE"]
    snapshot = load(spark, path, OPTIONS)
    assert snapshot.columns[:5] == [name for name in snapshot.columns if name.startswith("_hoodie")]
    assert fares(snapshot) == dict.fromkeys(range(1, 5), 2.0)
    assert fares(load(spark, path, {"as.of.instant": first.requested})) == dict.fromkeys(range(4), 1.0)
    optimized = load(spark, path, {TYPE: "read_optimized"})
    assert fares(optimized)[1] == 1.0
    middle = {TYPE: "incremental", BEGIN: first.completed, END: second.completed}
    assert fares(load(spark, path, middle)) == dict.fromkeys(range(1, 5), 2.0)
    feed = load(spark, path, {TYPE: "incremental", BEGIN: "earliest", **CDC})
    assert feed.columns == ["op", "ts_ms", "before", "after"]
    changes = sorted((row.ts_ms, row.op, json.loads(row.before or row.after)["id"]) for row in feed.collect())
    assert changes[:4] == [(first.requested, "i", n) for n in range(4)]
    assert changes[4:-1] == [(second.requested, "i", 4), *((second.requested, "u", n) for n in (1, 2, 3))]
    assert changes[-1] == (third.requested, "d", 0)


def test_modes_are_those_of_a_dataframe_writer(spark: Any, tmp_path: Path):
    path = tmp_path / "table"
    save(frame(spark, range(4), 1.0), path, OPTIONS)
    for mode in ("error", "errorifexists"):
        with pytest.raises(HudiError, match="there is a table in"):
            save(frame(spark, range(1), 2.0), path, OPTIONS, mode)
    assert save(frame(spark, range(1), 2.0), path, OPTIONS, "ignore") is None
    assert read_arrow(path).num_rows == 4
    save(frame(spark, range(1), 2.0), path, OPTIONS, "overwrite")
    assert read_arrow(path, columns=["id"]).to_pydict() == {"id": [0]}
    partition = {**OPTIONS, "hoodie.datasource.write.operation": "insert_overwrite"}
    # The mode of overwrites is one of SQL, with releases as well.
    for mode in ({}, {"hoodie.datasource.overwrite.mode": "STATIC"}):
        save(frame(spark, range(1, 2), 3.0), path, {**partition, **mode}, "overwrite")
        assert sorted(read_arrow(path, columns=["id"])["id"].to_pylist()) == [0, 1]
    gone = {"hoodie.datasource.write.operation": "delete_partition"}
    save(frame(spark, range(0), 0.0), path, {**gone, "hoodie.datasource.write.partitions.to.delete": "oslo"}, "append")
    assert read_arrow(path, columns=["id"]).to_pydict() == {"id": [0]}


def test_rows_without_a_key_are_inserted(spark: Any, tmp_path: Path):
    """As in released implementations, no key and no operation mean an insert."""
    for _ in range(2):
        written = save(frame(spark, range(2), 1.0), tmp_path / "table", {"hoodie.table.name": "trips"}, "append")
        assert written is not None
        assert written.operation == "INSERT"
    assert load(spark, tmp_path / "table").count() == 4


def test_stored_rows_without_a_key_are_updated_and_deleted(spark: Any, tmp_path: Path):
    """As in Apache Hudi 1.1.1, rows that were read from the table bring the key that it generated for them."""
    path, options = tmp_path / "table", {"hoodie.table.name": "trips"}
    save(frame(spark, range(2), 1.0), path, options)
    stored = load(spark, path).where("id = 1")
    written = save(stored.withColumn("fare", stored.fare + 1), path, options, "append")
    assert written is not None
    assert written.operation == "UPSERT"
    assert sorted(read_arrow(path, columns=["id", "fare"]).to_pydict()["fare"]) == [1.0, 2.0]
    save(load(spark, path).where("id = 0"), path, {**options, "hoodie.datasource.write.operation": "delete"}, "append")
    assert read_arrow(path, columns=["id"]).to_pydict() == {"id": [1]}


def test_work_of_other_programs_is_named_once_and_left(spark: Any, tmp_path: Path):
    options = {**OPTIONS, "hoodie.datasource.hive_sync.enable": True, "hoodie.metrics.on": "true"}
    with pytest.warns(ServiceWarning, match=r"hoodie\.datasource\.hive_sync\.enable, hoodie\.metrics\.on") as caught:
        save(frame(spark, range(2), 1.0), tmp_path / "table", options)
    assert len([one for one in caught if "without effect" in str(one.message)]) == 1
    assert load(spark, tmp_path / "table", {"hoodie.datasource.hive_sync.enable": "false"}).count() == 2


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({TYPE: "incremental"}, "needs hoodie.datasource.read.begin.instanttime"),
        ({BEGIN: "20250101000000000"}, "is no option of a query of type snapshot"),
        ({TYPE: "incremental", BEGIN: "000", "as.of.instant": "2025-01-01"}, "as.of.instant is no option"),
        ({TYPE: "snapshots"}, "is 'snapshots'"),
        ({TYPE: "incremental", BEGIN: "000", "hoodie.datasource.merge.type": "skip_merge"}, "a range of time"),
        ({"hoodie.datasource.read.incr.path.glob": "*"}, "is not supported"),
        ({"hoodie.datasource.query.typ": "snapshot"}, "did you mean hoodie.datasource.query.type"),
        ({TYPE: "snapshot", "hoodie.datasource.view.type": "incremental"}, "given twice"),
    ],
)
def test_what_would_change_the_rows_is_honoured_or_refused(
    spark: Any, tmp_path: Path, options: dict[str, str], match: str
):
    save(frame(spark, range(1), 1.0), tmp_path / "table", OPTIONS)
    with pytest.raises(HudiError, match=match) as caught:
        load(spark, tmp_path / "table", options)
    assert caught.value.reason == "CONFIG_INVALID"


@pytest.mark.parametrize("column", ["interval '1' year", "array()", "null", "map(1, 2)", "struct(1 a, array() b)"])
def test_a_column_of_a_type_that_no_table_holds_is_named(spark: Any, tmp_path: Path, column: str):
    """Also where Spark itself has no way to Arrow for it."""
    rows = frame(spark, range(1), 1.0).selectExpr("*", f"{column} further")
    with pytest.raises(HudiError, match=r"table: column 'further.*(cast|leave)") as caught:
        save(rows, tmp_path / "table", OPTIONS)
    assert caught.value.reason == "SCHEMA_INCOMPATIBLE"
    assert not (tmp_path / "table").exists()


def test_logs_are_left_unmerged_on_request(spark: Any, tmp_path: Path):
    for fare in (1.0, 2.0):
        save(frame(spark, range(3), fare), tmp_path / "table", OPTIONS, "append")
    found = load(spark, tmp_path / "table", {"hoodie.datasource.merge.type": "SKIP_MERGE"})
    assert sorted((row.id, row.fare) for row in found.collect()) == [(n, fare) for n in range(3) for fare in (1.0, 2.0)]
    assert [row.id for row in found.where("fare = 1.0").select("id").orderBy("id").collect()] == [0, 1, 2]
    base = load(spark, tmp_path / "table", {TYPE: "read_optimized", "hoodie.datasource.merge.type": "skip_merge"})
    assert fares(base) == dict.fromkeys(range(3), 1.0)


@pytest.mark.parametrize(
    ("options", "mode", "match"),
    [
        ({TYPE: "snapshot"}, "append", "is an option of reads"),
        ({}, "appended", "mode 'appended' is unknown"),
        ({"hoodie.datasource.write.operatin": "upsert"}, "append", "did you mean hoodie.datasource.write.operation"),
        ({"hoodie.table.name": ""}, "append", "hoodie.table.name is missing"),
    ],
)
def test_a_refused_write_makes_no_table(spark: Any, tmp_path: Path, options: dict[str, str], mode: str, match: str):
    with pytest.raises(HudiError, match=match):
        save(frame(spark, range(1), 1.0), tmp_path / "table", {**OPTIONS, **options}, mode)
    assert not HudiTable.exists(spark, tmp_path / "table")


def test_a_registered_view_is_the_state_of_its_time(spark: Any, tmp_path: Path):
    save(frame(spark, range(3), 1.0), tmp_path / "table", OPTIONS)
    HudiTable(spark, tmp_path / "table").register_view("trips_now")
    save(frame(spark, range(3, 4), 1.0), tmp_path / "table", OPTIONS, "append")
    assert spark.sql("select count(*) from trips_now").collect()[0][0] == 3


def test_the_format_of_spark_4_reads_what_load_reads(spark: Any, tmp_path: Path):
    """Of every kind of query; Spark 3 has no such formats, and says what to call."""
    path = tmp_path / "table"
    first = save(frame(spark, range(6), 1.0), path, OPTIONS)
    save(frame(spark, range(2), 2.0, 2), path, OPTIONS, "append")
    assert first is not None
    if not hasattr(spark, "dataSource"):
        with pytest.raises(UnsupportedFeature, match=r"call load.*every-way-in\.md"):
            register(spark)
        return
    register(spark)
    read = spark.read.format("hudi_py")
    for options in (
        {},
        {TYPE: "read_optimized"},
        {"as.of.instant": first.requested},
        {TYPE: "incremental", BEGIN: first.completed},
        {TYPE: "incremental", BEGIN: "2099-01-01"},
        {"as.of.instant": "2020-01-01"},
    ):
        found, expected = read.options(**options).load(str(path)), load(spark, path, options)
        assert found.schema == expected.schema
        for condition in ("true", "city = 'oslo' and id > 1", "fare in (2.0, 3.0)", "fare is null"):
            assert sorted(found.where(condition).collect()) == sorted(expected.where(condition).collect())
        read = spark.read.format("hudi_py")


def test_the_name_of_bundles_is_the_same_format_where_there_is_no_bundle(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """A name that the class path has is left alone: Spark would refuse one that two sources have."""
    if not hasattr(spark, "dataSource"):
        pytest.skip("Spark 3 has no data sources in Python")
    for _ in range(2):
        register(spark)
    frame(spark, range(3), 1.0).write.format("hudi").options(**OPTIONS).mode("append").save(str(tmp_path / "table"))
    assert fares(spark.read.format("hudi").load(str(tmp_path / "table"))) == dict.fromkeys(range(3), 1.0)
    spark.sql(f"create or replace temporary view bundled using hudi options (path '{tmp_path / 'table'}')")
    assert spark.sql("select id from bundled where id > 1").collect() == [(2,)]
    spark.catalog.dropTempView("bundled")
    monkeypatch.setattr("hudi_spark.spark_source.BUNDLED", "csv")
    register(spark)
    (tmp_path / "rows.csv").write_text("1,x\n", encoding="utf-8")
    assert spark.read.format("csv").load(str(tmp_path / "rows.csv")).collect() == [("1", "x")]


def test_filters_of_one_query_are_not_those_of_the_next(spark: Any, tmp_path: Path):
    """A frame is queried in any order, and beside itself: Spark keeps what it has planned for a frame."""
    if not hasattr(spark, "dataSource"):
        pytest.skip("Spark 3 has no data sources in Python")
    register(spark)
    save(frame(spark, range(4), 1.0), tmp_path / "table", OPTIONS)
    for pushed in ("true", "false"):
        spark.conf.set("spark.sql.python.filterPushdown.enabled", pushed)
        found = spark.read.format("hudi_py").load(str(tmp_path / "table"))
        few, others = found.where("id > 2"), found.where("id < 2")
        assert [one.count() for one in (few, found, others, found)] == [1, 4, 2, 4]
        assert (few.union(others).count(), few.join(found, "id", "right").count()) == (3, 4)


def test_plain_sql_reads_and_inserts_by_names_that_spark_4_gives(spark: Any, tmp_path: Path):
    """A view takes SELECT and INSERT, and its first INSERT may make the table; a table of the catalog takes SELECT."""
    if not hasattr(spark, "dataSource"):
        pytest.skip("Spark 3 has no data sources in Python")
    register(spark)
    path = tmp_path / "table"
    given = ", ".join(f"'{key}' '{value}'" for key, value in OPTIONS.items())
    using = f"using hudi_py options (path '{path}', {given})"
    columns = "(id int, city string, fare double, ts long)"
    try:
        spark.sql(f"create temporary view made {columns} {using}")
        spark.sql("insert into made values (1, 'lima', 1.0D, 1), (2, 'oslo', 2.0D, 1)")
        spark.sql(f"create table cab {using}")
        assert spark.sql("select id from made where fare > 1").collect() == [(2,)]
        spark.sql("insert into made by name select 5L ts, 1 id, 'lima' city, 7.0D fare")
        assert fares(spark.sql("select * from cab")) == {1: 7.0, 2: 2.0}
        assert spark.table("cab").columns[:5] == load(spark, path).columns[:5]
        spark.sql(f"create temporary view whole {using}")
        spark.sql("insert into whole (id, city, fare, ts) values (3, 'rome', 3.0D, 1)")
        assert fares(spark.sql("select id, fare from cab where id > 1")) == {2: 2.0, 3: 3.0}
        spark.sql(f"insert into cab with ('path' = '{path}') (id, city, fare, ts) values (4, 'rome', 4.0D, 1)")
        spark.sql("insert overwrite made select 9, 'rome', 9.0D, 1L")
        assert fares(spark.table("cab")) == {9: 9.0}
        changes = "'hoodie.datasource.query.type' 'incremental', 'hoodie.datasource.read.begin.instanttime' 'earliest'"
        spark.sql(f"create table changed using hudi_py options (path '{path}', {changes})")
        assert fares(spark.table("changed")) == fares(load(spark, path, {TYPE: "incremental", BEGIN: "earliest"}))
        assert [one.action for one in HudiTable(spark, path).timeline()][-1] == "replacecommit"
    finally:
        for name in ("cab", "changed"):
            spark.sql(f"drop table if exists {name}")
        for name in ("made", "whole"):
            spark.catalog.dropTempView(name)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("insert into cab (id, city, fare, ts) values (4, 'rome', 4.0D, 1)", "write to it by hudi_sql"),
        ("create table other using hudi_py {options} as select 1 id", "write to it by hudi_sql"),
        ("create table other using hudi_py options (path '{path}', 'fs.s3a.secret.key' 'x')", "in the catalog"),
        ("select * from typed", "the column 'fare' is double, and is declared as int"),
        ("select * from named", "has no column 'taxes'"),
        ("update cab set fare = 1", "UPDATE"),
        ("delete from cab where id = 1", "delete"),
        ("merge into cab using (select 1 id) s on s.id = cab.id when matched then delete", "MERGE"),
    ],
)
def test_plain_sql_that_spark_4_cannot_hand_on_changes_nothing(spark: Any, tmp_path: Path, text: str, match: str):
    if not hasattr(spark, "dataSource"):
        pytest.skip("Spark 3 has no data sources in Python")
    register(spark)
    path = tmp_path / "table"
    save(frame(spark, range(2), 1.0), path, OPTIONS)
    options = f"options (path '{path}')"
    spark.sql(f"create temporary view typed (id int, fare int) using hudi_py {options}")
    spark.sql(f"create temporary view named (id int, taxes int) using hudi_py {options}")
    try:
        spark.sql(f"create table cab using hudi_py {options}")
        before = sorted(str(one) for one in path.rglob("*"))
        with pytest.raises(Exception, match=match):
            spark.sql(text.replace("{options}", options).replace("{path}", str(path))).collect()
        assert sorted(str(one) for one in path.rglob("*")) == before
        assert [one.name for one in spark.catalog.listTables() if not one.isTemporary] == ["cab"]
    finally:
        spark.sql("drop table if exists cab")
        for name in ("typed", "named"):
            spark.catalog.dropTempView(name)


class Client:
    """A session of Spark Connect, of which nothing may be requested."""

    __module__ = "pyspark.sql.connect.session"

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(name)


class ClientFrame:
    """A frame of one."""

    sparkSession = Client()  # noqa: N815 - the name of Spark


SCHEMA = pa.schema([("id", pa.int32())])
DOORS: list[Callable[[Any, Path], Any]] = [
    HudiTable,
    HudiTable.exists,
    lambda spark, path: HudiTable.create(spark, path, name="t", schema=SCHEMA),
    HudiTable.recover,
    load,
    lambda _, path: save(cast("Any", ClientFrame()), path, OPTIONS),
    lambda spark, path: hudi_sql(spark, f"create table t (id int) using hudi location '{path}'"),
    lambda spark, _: hudi_sql(spark, "set hoodie.metadata.enable = false"),
]


@pytest.mark.parametrize("door", DOORS)
def test_a_client_of_spark_connect_is_refused_by_name(tmp_path: Path, door: Callable[[Any, Path], Any]):
    """Before any effect, by one error that says what to call."""
    with pytest.raises(UnsupportedFeature, match=r"spark-connect .*register\(spark\)"):
        door(Client(), tmp_path / "table")
    assert not (tmp_path / "table").exists()


class Stopped:
    """A session whose context was stopped."""

    sparkContext = type("Context", (), {"_jsc": None})  # noqa: N815 - the name of Spark


@pytest.mark.parametrize("door", [*(one for one in DOORS if one is not DOORS[5]), lambda spark, _: register(spark)])
@pytest.mark.parametrize(
    ("given", "match"),
    [(None, "session is a NoneType.*getOrCreate"), ("lake/t", "session is a str: 'lake/t'"), (Stopped(), "is stopped")],
)
def test_what_is_no_session_is_refused_by_name(
    tmp_path: Path, door: Callable[[Any, Path], Any], given: Any, match: str
):
    """Also where path and session are exchanged."""
    with pytest.raises(HudiError, match=f"CONFIG_INVALID.*{match}"):
        door(given, tmp_path / "table")
    assert not (tmp_path / "table").exists()


def test_arguments_of_another_kind_are_refused_by_name(spark: Any, tmp_path: Path):
    rows = frame(spark, range(1), 1.0)
    for call, match in (
        (lambda: load(spark, None), "NOT_A_TABLE.*NoneType"),  # type: ignore[arg-type]
        (lambda: HudiTable(spark, 3), "NOT_A_TABLE.*int"),  # type: ignore[arg-type]
        (lambda: load(spark, tmp_path, "hoodie.metadata.enable"), "options are a str"),  # type: ignore[arg-type]
        (lambda: save(rows, tmp_path / "t", OPTIONS, None), "mode None is unknown"),  # type: ignore[arg-type]
        (lambda: hudi_sql(spark, None), "the statement is a NoneType"),  # type: ignore[arg-type]
    ):
        with pytest.raises(HudiError, match=match):
            call()


def test_a_table_of_a_session_that_was_stopped_since_is_refused_by_name(spark: Any, tmp_path: Path):
    save(frame(spark, range(2), 1.0), tmp_path / "table", OPTIONS)
    table = HudiTable(spark, tmp_path / "table")
    table._session = cast("Any", Stopped())
    before = sorted(tmp_path.rglob("*"))
    for call in (table.snapshot, table.compact, lambda: table.delete(filter="id = 1"), lambda: table.changes("000")):
        with pytest.raises(HudiError, match="the Spark session is stopped"):
            call()
    assert sorted(tmp_path.rglob("*")) == before


CONNECTED = """
import sys
from hudi_spark import HudiTable, UnsupportedFeature, read_arrow, register
from pyspark.sql import SparkSession

path, options = sys.argv[1], eval(sys.argv[2])
spark = SparkSession.builder.remote("local[2]").getOrCreate()
register(spark)
rows = spark.createDataFrame([(1, "lima", 1.0, 1), (2, "oslo", 2.0, 1)], "id int, city string, fare double, ts long")
rows.write.format("hudi_py").options(**options).mode("append").save(path)
found = spark.read.format("hudi_py").load(path).where("fare > 1").select("id").collect()
spark.sql(f"create temporary view fares using hudi_py options (path '{path}')")
summed = spark.sql("select sum(fare) from fares").collect()
stream = spark.readStream.format("hudi_py").load(path).select("id", "city", "fare", "ts")
target = {**options, "checkpointLocation": path + "-checkpoint"}
query = stream.writeStream.format("hudi_py").options(**target).start(path + "-copy")
query.processAllAvailable()
query.stop()
try:
    HudiTable(spark, path)
except UnsupportedFeature as error:
    refused = error.feature
counts = [read_arrow(one).num_rows for one in (path, path + "-copy")]
print("answers", [one.id for one in found], summed[0][0], counts, refused)
spark.stop()
"""


@pytest.mark.timeout(600)
def test_the_format_of_spark_4_serves_a_client_of_spark_connect(spark: Any, tmp_path: Path):
    """Its server runs the tasks, in a process of its own; streams from and into tables too."""
    if not hasattr(spark, "dataSource"):
        pytest.skip("Spark 3 has no data sources in Python")
    pytest.importorskip("grpc", reason="the client of Spark Connect is not installed")
    command = [sys.executable, "-W", "ignore", "-c", CONNECTED, str(tmp_path / "table"), repr(OPTIONS)]
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable}
    done = subprocess.run(command, env=environment, check=False, capture_output=True, text=True, timeout=500)
    assert done.stdout.splitlines()[-1:] == ["answers [2] 3.0 [2, 2] spark-connect"], done.stderr[-3000:]


ALL_TYPES = """id int, flag boolean, byte int, long long, small float, wide double, amount decimal(20, 9), day date,
    moment timestamp, local timestamp_ntz, text string, bytes binary, list array<double>,
    map map<string, decimal(9, 2)>, `in` struct<a: timestamp, b: array<struct<c: string, d: boolean>>>"""
UTC = dt.timezone.utc
HARD = [
    (
        1,
        True,
        -1,
        2**62,
        0.1,
        1e-7,
        Decimal("0.000000001"),
        dt.date(1969, 12, 31),
        dt.datetime(1969, 12, 31, 23, 59, 59, 999999, UTC),
        dt.datetime(2024, 2, 29, 1, 2, 3, 4567, tzinfo=UTC).replace(tzinfo=None),
        'a"\\/\b\x01\u2028é𝄞',
        b"\x00\xff",
        [float("nan"), float("inf"), None, -0.0],
        {"a.b": Decimal("1.50"), 'k"': None},
        (dt.datetime(2024, 1, 1, tzinfo=UTC), [("x", None), None]),
    ),
    (
        2,
        None,
        7,
        -1,
        1e30,
        1e22,
        Decimal("12345678901.5"),
        dt.date(2024, 2, 29),
        dt.datetime(2024, 2, 29, 1, 2, 3, 1000, UTC),
        dt.datetime(1950, 1, 1, tzinfo=UTC).replace(tzinfo=None),
        "",
        b"",
        [],
        {},
        None,
    ),
    (3, *[None] * 14),
    (
        4,
        False,
        0,
        0,
        -3.5,
        12345678.9,
        Decimal("-1E-9"),
        dt.date(1, 1, 1),
        dt.datetime(2000, 1, 1, tzinfo=UTC),
        dt.datetime(2000, 1, 1, 0, 0, 0, 999, tzinfo=UTC).replace(tzinfo=None),
        "\x7f\u0085",
        b"x",
        [1e-3, 9999999.0, 1e7, 5e-324],
        {"é": Decimal("-0.01")},
        (None, []),
    ),
]


def test_the_change_feed_of_the_format_is_that_of_load(spark: Any, tmp_path: Path):
    """Every type's images are the text that Spark's own JSON has, whatever the time zone of the session."""
    if not hasattr(spark, "dataSource"):
        pytest.skip("Spark 3 has no data sources in Python")
    register(spark)
    path = tmp_path / "table"
    options = {
        "hoodie.table.name": "all",
        "hoodie.datasource.write.recordkey.field": "id",
        "hoodie.table.cdc.enabled": True,
    }
    rows = spark.createDataFrame(HARD, ALL_TYPES)
    first = save(rows, path, options)
    save(rows.where("id < 3").selectExpr("*").withColumn("long", rows.long - 1), path, options, "append")
    save(rows.where("id = 4"), path, {**options, "hoodie.datasource.write.operation": "delete"}, "append")
    assert first is not None
    for begin in ("earliest", first.completed):
        query = {TYPE: "incremental", BEGIN: begin, **CDC}
        found, expected = spark.read.format("hudi_py").options(**query).load(str(path)), load(spark, path, query)
        assert found.schema == expected.schema
        assert sorted(map(repr, found.collect())) == sorted(map(repr, expected.collect()))
        assert found.select("op", "after").where("op = 'u'").count() == 2
    assert len(streamed(spark, path, tmp_path / "checkpoint", CDC, changes_of)) == 4 + 2 + 1


def changes_of(batch: Any) -> dict[Any, Any]:
    """Each change of a batch."""
    return {(row.op, row.ts_ms, row.before, row.after): None for row in batch.collect()}


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_the_format_of_spark_4_writes_what_save_writes(spark: Any, tmp_path: Path, kind: str):
    """By every operation; what is refused, or fails, leaves nothing."""
    if not hasattr(spark, "dataSource"):
        pytest.skip("Spark 3 has no data sources in Python")
    register(spark)
    operation = "hoodie.datasource.write.operation"
    base = {**OPTIONS, "hoodie.datasource.write.table.type": kind, "hoodie.datasource.hive_sync.enable": "true"}
    steps = [
        (range(6), 1.0, 1, {operation: "bulk_insert"}, "overwrite"),
        (range(4, 8), 2.0, 2, {}, "append"),
        (range(0, 6, 5), 0.0, 0, {}, "append"),
        (range(2), 0.0, 3, {operation: "delete"}, "append"),
        (range(3, 4), 4.0, 4, {operation: "insert_overwrite"}, "overwrite"),
        (range(20, 22), 5.0, 5, {operation: "insert"}, "append"),
        (range(30, 33), 6.0, 6, {operation: "insert_overwrite_table"}, "append"),
        (range(33, 35), 7.0, 7, {}, "overwrite"),
        (
            range(0),
            0.0,
            0,
            {operation: "delete_partition", "hoodie.datasource.write.partitions.to.delete": "oslo"},
            "append",
        ),
    ]
    ours, theirs = tmp_path / "format", tmp_path / "save"
    for ids, fare, ts, options, mode in steps:
        rows = frame(spark, ids, fare, ts)
        rows.write.format("hudi_py").options(**{**base, **options}).mode(mode).save(str(ours))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ServiceWarning)
            save(rows, theirs, {**base, **options}, mode)
        assert sorted(read_arrow(ours).to_pylist(), key=str) == sorted(read_arrow(theirs).to_pylist(), key=str)
        assert [one.action for one in HudiTable(spark, ours).timeline()] == [
            one.action for one in HudiTable(spark, theirs).timeline()
        ]
        assert not [name for name in ours.rglob("*") if "hudi_py-" in name.name]
    assert not [one for one in check_table(ours, deep=True) if one.level == "error"]


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({TYPE: "snapshot"}, "is an option of reads"),
        ({"hoodie.datasource.write.operatin": "upsert"}, "did you mean hoodie.datasource.write.operation"),
        ({"hoodie.datasource.write.recordkey.field": "nothing"}, "is no column|the table has 'id'"),
        ({}, "division by zero|DIVIDE_BY_ZERO"),
    ],
)
def test_a_write_of_the_format_that_fails_leaves_nothing(
    spark: Any, tmp_path: Path, options: dict[str, str], match: str
):
    """Neither of a table that is there, nor of one that would have been made."""
    if not hasattr(spark, "dataSource"):
        pytest.skip("Spark 3 has no data sources in Python")
    register(spark)
    rows = frame(spark, range(4), 1.0)
    if not options:
        rows = rows.selectExpr("id", "city", "fare / (3 - id) fare", "ts")
        spark.conf.set("spark.sql.ansi.enabled", "true")
    made, known = tmp_path / "made", tmp_path / "known"
    save(frame(spark, range(2), 9.0), known, OPTIONS)
    before = sorted(str(one) for one in known.rglob("*"))
    for path in (made, known):
        with pytest.raises(Exception, match=match):
            rows.write.format("hudi_py").options(**{**OPTIONS, **options}).mode("append").save(str(path))
    assert not made.exists()
    assert sorted(str(one) for one in known.rglob("*")) == before
    assert fares(load(spark, known)) == {0: 9.0, 1: 9.0}


def test_a_stream_into_the_format_writes_each_batch_once(spark: Any, tmp_path: Path):
    """A batch that stands is not written again, also where Spark has lost what it knew of it."""
    if not hasattr(spark, "dataSource"):
        pytest.skip("Spark 3 has no data sources in Python")
    register(spark)
    source, path, place = tmp_path / "source", tmp_path / "table", tmp_path / "checkpoint"
    inserts = {**OPTIONS, "hoodie.datasource.write.operation": "insert"}

    def run() -> list[str]:
        stream = spark.readStream.format("hudi_py").load(str(source)).select("id", "city", "fare", "ts")
        query = (
            stream.writeStream.format("hudi_py")
            .options(**inserts)
            .option("checkpointLocation", str(place))
            .start(str(path))
        )
        try:
            query.processAllAvailable()
        finally:
            query.stop()
        return [one.requested for one in HudiTable(spark, path).timeline()]

    save(frame(spark, range(3), 1.0), source, OPTIONS)
    first = run()
    save(frame(spark, range(3, 5), 2.0), source, OPTIONS, "append")
    second = run()
    assert (len(first), len(second)) == (1, 2)
    for lost in (place / "commits").glob("*1*"):
        lost.unlink()
    assert run() == second
    assert sorted(read_arrow(path, columns=["id"])["id"].to_pylist()) == list(range(5))
    assert not [name for name in path.rglob("*") if "hudi_py-" in name.name]


def streamed(
    spark: Any, path: Path, place: Path, options: dict[str, str], read: Callable[[Any], dict[Any, Any]] = fares
) -> dict[Any, Any]:
    """What a stream of Spark 4 brings by now, from where its checkpoint stands."""
    found: dict[Any, Any] = {}
    stream = spark.readStream.format("hudi_py").options(**options).load(str(path))
    writer = stream.writeStream.foreachBatch(lambda batch, _: found.update(read(batch)))
    query = writer.option("checkpointLocation", str(place)).start()
    try:
        query.processAllAvailable()
    finally:
        query.stop()
    return found


def test_a_stream_of_spark_4_has_each_write_once(spark: Any, tmp_path: Path):
    """Also after a restart; it begins where its options say, and refuses those of other queries."""
    if not hasattr(spark, "dataSource"):
        with pytest.raises(UnsupportedFeature, match=r"call load.*every-way-in\.md"):
            register(spark)
        return
    register(spark)
    path, place = tmp_path / "table", tmp_path / "checkpoint"
    first = save(frame(spark, range(3), 1.0), path, OPTIONS)
    assert first is not None
    assert streamed(spark, path, place, {}) == dict.fromkeys(range(3), 1.0)
    assert streamed(spark, path, place, {}) == {}
    save(frame(spark, range(2), 2.0, 2), path, OPTIONS, "append")
    save(frame(spark, range(1, 2), 3.0, 3), path, OPTIONS, "append")
    assert streamed(spark, path, place, {}) == {0: 2.0, 1: 3.0}
    begin = {"hoodie.datasource.streaming.startOffset": first.completed}
    assert streamed(spark, path, tmp_path / "later", begin) == {0: 2.0, 1: 3.0}
    latest = {"hoodie.datasource.streaming.startOffset": "latest"}
    assert streamed(spark, path, tmp_path / "latest", latest) == {}
    for options, match in (
        ({"as.of.instant": first.requested}, "as.of.instant is no option of a stream"),
        ({TYPE: "read_optimized"}, "is an incremental query"),
        ({TYPE: "snapshot", **CDC}, "is no option of a query of type snapshot"),
    ):
        with pytest.raises(Exception, match=match):
            streamed(spark, path, tmp_path / "other", options)
    with pytest.raises(Exception, match="is an option of streams"):
        spark.read.format("hudi_py").options(**begin).load(str(path)).collect()
