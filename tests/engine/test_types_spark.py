"""Columns of every type: Spark's scan and the tasks give the rows that `read_arrow` gives."""

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from engine_tables import TableBuilder, row
from hudi_spark import HudiTable, read_arrow

UTC = dt.timezone.utc
PART = {
    "type": "record",
    "name": "part",
    "fields": [{"name": "x", "type": ["null", "int"]}, {"name": "y", "type": "string"}],
}
FIXED = {"type": "fixed", "name": "small", "size": 5, "logicalType": "decimal", "precision": 10, "scale": 2}
TYPES: tuple[tuple[str, Any], ...] = (
    ("flag", ["null", "boolean"]),
    ("whole", ["int", "null"]),
    ("real", ["null", "float"]),
    ("price", ["null", FIXED]),
    ("vast", ["null", {"type": "bytes", "logicalType": "decimal", "precision": 38, "scale": 18}]),
    ("day", ["null", {"type": "int", "logicalType": "date"}]),
    ("at", ["null", {"type": "long", "logicalType": "timestamp-micros"}]),
    ("at_ms", ["null", {"type": "long", "logicalType": "timestamp-millis"}]),
    ("there", ["null", {"type": "long", "logicalType": "local-timestamp-micros"}]),
    ("noon", ["null", {"type": "int", "logicalType": "time-millis"}]),
    ("uid", ["null", {"type": "string", "logicalType": "uuid"}]),
    ("kind", ["null", {"type": "enum", "name": "kind", "symbols": ["A", "B"]}]),
    ("raw", ["null", {"type": "fixed", "name": "raw", "size": 2}]),
    ("parts", ["null", {"type": "array", "items": ["null", PART]}]),
    ("by_name", ["null", {"type": "map", "values": ["null", "part"]}]),
)
FIRST = {
    "flag": True,
    "whole": -1,
    "real": 1.5,
    "price": Decimal("-12345678.90"),
    "vast": Decimal("-12345678901234567890.123456789012345678"),
    "day": dt.date(1, 1, 1),
    "at": dt.datetime(1500, 1, 1, 12, 0, 0, 1, UTC),
    "at_ms": dt.datetime(2024, 2, 29, 12, 34, 56, 789000, UTC),
    "there": dt.datetime(1, 1, 1, 0, 0, 0, 1),  # noqa: DTZ001 - a local time
    "noon": dt.time(12, 0, 0, 1000),
    "uid": "0c9ab4d8-6f34-5a53-9d39-1d3f5f0a7c11",
    "kind": "B",
    "raw": b"\x00\xff",
    "parts": [{"x": 1, "y": "é"}, None],
    "by_name": {"k": {"x": None, "y": ""}, "n": None},
}
EMPTY: dict[str, Any] = dict.fromkeys(FIRST)


def table(path: Path) -> None:
    """One file group of base files, and one with a log over it."""
    builder = TableBuilder(path, columns=(("id", "string"), ("region", "string"), ("ts", ["null", "long"]), *TYPES))
    first = [{**row("a", 1), **FIRST}, {**row("b", 1), **EMPTY}]
    stats = [
        builder.base_file(10, first),
        builder.base_file(10, [{**one, "id": f"2{one['id']}"} for one in first], group="f2"),
    ]
    builder.commit(10, stats)
    later = {**row("2b", 2), **FIRST, "day": dt.date(2024, 2, 29)}
    builder.commit(20, [builder.log_file(20, [builder.data(20, [later])], group="f2")])


# pyspark 3.5 compares the version of pandas with distutils, and leaves sockets of collected frames to the collector.
@pytest.mark.filterwarnings("ignore:distutils Version classes:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
@pytest.mark.filterwarnings("ignore:.*unclosed <socket:pytest.PytestUnraisableExceptionWarning")
@pytest.mark.spark
@pytest.mark.parametrize("columns", [None, ["id", "day", "at", "there", "vast", "parts", "by_name"]])
def test_spark_has_the_rows_that_arrow_has(tmp_path: Path, spark: Any, columns: list[str] | None) -> None:
    table(tmp_path / "t")
    expected = read_arrow(tmp_path / "t", columns=columns).sort_by("id")
    frame = HudiTable(spark, tmp_path / "t").snapshot(columns)
    assert frame.count() == 4
    frame.write.parquet((tmp_path / "out").as_uri())
    found = pq.read_table(tmp_path / "out", coerce_int96_timestamp_unit="us").sort_by("id")
    assert found.select(expected.column_names).cast(expected.schema).to_pylist() == expected.to_pylist()
