"""What a user of `hudi-spark` does first, in an empty folder: without Spark; with it; with locks.

example.py
example.py spark | spark4
example.py locks PORT_OF_ZOOKEEPER PORT_OF_DYNAMODB
"""

import datetime as dt
import os
import sys
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import pyarrow as pa

PACKAGES = ("hudi_format", "hudi_spark")
OF_OTHERS = ("hudi_model", "hudi_model_tools", "hudi_conformance")


def main() -> None:
    """Both types of table: created, upserted, deleted from, read in every way, and checked."""
    assert all("site-packages" in str(import_module(name).__file__) for name in PACKAGES), sys.path
    assert not [name for name in OF_OTHERS if find_spec(name)]
    from hudi_format.compat import datetime_of  # noqa: PLC0415 - likewise
    from hudi_spark import (  # noqa: PLC0415 - from the wheel, which the line above made sure of
        TableDefinition,
        check_table,
        create_arrow,
        read_arrow,
        read_batches,
        read_changes,
        write_arrow,
    )

    # Python 3.10 by itself reads neither.
    half_past = dt.datetime(2025, 1, 31, 12, 0, 0, 500_000, dt.timezone.utc)
    assert datetime_of("2025-01-31T12:00:00.5Z") == datetime_of("2025-01-31 17:30:00,5+0530") == half_past

    schema = pa.schema([("id", pa.int64()), ("city", pa.string()), ("fare", pa.float64()), ("ts", pa.int64())])
    for kind in ("COPY_ON_WRITE", "MERGE_ON_READ"):
        path = Path(kind)
        definition = TableDefinition(
            name="t",
            schema=schema,
            record_key=("id",),
            ordering=("ts",),
            partition_by=("city",),
            table_type=kind,
            configs={"hoodie.table.cdc.enabled": "true"},
        )
        create_arrow(path, definition)
        rows = [{"id": n, "city": ("lima", "oslo")[n % 2], "fare": n / 2, "ts": 1} for n in range(100)]
        first = write_arrow(path, pa.Table.from_pylist(rows, schema), "insert")
        write_arrow(path, pa.Table.from_pylist([{**rows[0], "fare": 9.0, "ts": 2}], schema), "upsert")
        write_arrow(path, pa.Table.from_pylist(rows[1:2], schema), "delete")
        assert read_arrow(path, filter="fare > 8 AND city = 'lima'").num_rows == 1 + 41
        assert sum(batch.num_rows for batch in read_batches(path)) == 99
        assert sorted(read_changes(path, first.completed)["op"].to_pylist()) == ["d", "u"]
        assert not [one for one in check_table(path, deep=True) if one.level == "error"]
    assert "hudi_adapter" not in sys.modules
    print(f"Python {sys.version.split()[0]}, pyarrow {pa.__version__}: tables are written and read")


def with_locks(zookeeper: str, dynamodb: str) -> None:
    """Writes of several writers, under a lock of each library."""
    from hudi_spark import TableDefinition, create_arrow, write_arrow  # noqa: PLC0415

    rows = pa.table({"id": [1], "fare": [1.5]})
    create_arrow("locked", TableDefinition("t", rows.schema, record_key=("id",)))
    prefix = "hoodie.write.lock."
    several = {"hoodie.write.concurrency.mode": "OPTIMISTIC_CONCURRENCY_CONTROL"}
    several["hoodie.clean.failed.writes.policy"] = "LAZY"
    os.environ |= {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret"}
    for provider, options in {
        "FileSystemBasedLockProvider": {},
        "ZookeeperBasedLockProvider": {
            "zookeeper.url": "127.0.0.1",
            "zookeeper.port": zookeeper,
            "zookeeper.base_path": "/hudi",
            "zookeeper.lock_key": "t",
        },
        "DynamoDBBasedLockProvider": {
            "dynamodb.endpoint_url": f"http://127.0.0.1:{dynamodb}",
            "dynamodb.table": "locks",
            "dynamodb.partition_key": "t",
        },
    }.items():
        given = {f"{prefix}{name}": text for name, text in {"provider": provider, **options}.items()}
        for _ in range(2):
            outcome = write_arrow("locked", rows, configs={**several, **given})
            assert outcome.completed, outcome
            assert not outcome.failures, outcome
        print(f"Python {sys.version.split()[0]}: {provider}")
    names = ("boto3", "filelock", "kazoo")
    print(", ".join(f"{name} {version(name)}" for name in names))


def on_spark(line: str) -> None:
    """A table written and read by Spark, by calls and by statements; on Spark 4 by its format, too."""
    from hudi_adapter.java import set_java_home  # noqa: PLC0415
    from hudi_spark import HudiTable, hudi_sql, register  # noqa: PLC0415
    from pyspark.sql import SparkSession  # noqa: PLC0415

    if line == "spark":
        set_java_home()
    spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    rows = spark.createDataFrame([("a", 1, 9.5), ("b", 1, 4.0)], "id string, ts long, fare double")
    kind = {"record_key": "id", "ordering": "ts", "table_type": "MERGE_ON_READ"}
    table = HudiTable.create(spark, str(Path("on_spark").resolve()), name="t", schema=rows.schema, **kind)
    table.insert(rows)
    table.upsert(spark.createDataFrame([("a", 2, 12.0), ("b", 0, 1.0)], rows.schema))
    found = sorted(tuple(row) for row in table.snapshot(columns=["id", "fare"]).collect())
    assert found == [("a", 12.0), ("b", 4.0)], found
    path = str(Path("on_spark").resolve())
    hudi_sql(spark, f"UPDATE hudi.`{path}` SET fare = fare + 1 WHERE id = 'b'")  # noqa: S608 - a path of this program
    if line == "spark4":
        register(spark)
        rows.limit(1).write.format("hudi_py").mode("append").save(path)
        assert spark.read.format("hudi_py").load(path).where("fare = 5").count() == 1
    print(f"Python {sys.version.split()[0]}, Spark {spark.version}: a table is written and read")
    spark.stop()


if __name__ == "__main__":
    if sys.argv[1:2] == ["locks"]:
        with_locks(*sys.argv[2:])
    elif sys.argv[1:]:
        on_spark(sys.argv[1])
    else:
        main()
