"""Statistics of a file's columns are those that Apache Hudi keeps, and bound every value whatever says them."""

import io
import json
import math
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hudi_format.metadata.records import ColumnStats
from hudi_format.metadata.wrapped_values import Wrapped, plain_value
from hudi_format.schemas import META_FIELDS
from hudi_spark.files import (
    IndexedColumn,
    base_file_statistics,
    indexed_columns,
    indexed_meta_fields,
    no_rows_statistics,
    rows_statistics,
)
from hypothesis import given, settings
from hypothesis import strategies as st

APACHE = Path(__file__).parent / "apache_statistics"
KINDS = {
    "int": (pa.int32(), st.integers(-(2**31), 2**31 - 1)),
    "long": (pa.int64(), st.integers(-(2**63), 2**63 - 1)),
    "flag": (pa.bool_(), st.booleans()),
    "text": (pa.string(), st.text(max_size=8)),
    "real": (pa.float64(), st.floats()),
    "price": (pa.decimal128(12, 3), st.integers(-(10**11), 10**11).map(lambda n: Decimal(n).scaleb(-3))),
    "day": (pa.date32(), st.dates()),
    "seen": (pa.timestamp("us", tz="UTC"), st.integers(-(2**40), 2**50)),
}


def of_file(data: bytes, columns: tuple[IndexedColumn, ...], version: str) -> tuple[ColumnStats, ...]:
    opened = pq.ParquetFile(io.BytesIO(data))
    return base_file_statistics(
        "f", opened.metadata, columns, version, lambda name: opened.read(columns=[name]).column(name)
    )


def normalized(bound: Wrapped | None) -> list[str] | None:
    if bound is None:
        return None
    return [bound.wrapper, bound.value.hex() if isinstance(bound.value, bytes) else str(bound.value)]


@pytest.mark.parametrize(("release", "version"), [("0.15.0", "V1"), ("1.1.1", "V2")])
def test_base_files_of_apache_hudi_have_the_statistics_that_it_keeps(release: str, version: str) -> None:
    """Bounds, wrappers, types, counts and sizes agree in every column."""
    recorded = json.loads((APACHE / f"{release}.json").read_text())
    schema = pq.read_schema(APACHE / f"{release}.parquet")
    columns = tuple(IndexedColumn(one["column"], schema.field(one["column"]).type) for one in recorded)
    for one, theirs in zip(
        of_file((APACHE / f"{release}.parquet").read_bytes(), columns, version), recorded, strict=True
    ):
        kind = None if one.value_type is None else [one.value_type.kind.name, one.value_type.detail]
        assert kind == theirs["type"]
        assert (normalized(one.minimum), normalized(one.maximum)) == (theirs["minimum"], theirs["maximum"])
        sizes = (one.value_count, one.null_count, one.total_size, one.total_uncompressed_size)
        assert sizes == (theirs["values"], theirs["nulls"], theirs["size"], theirs["unpacked"])


@settings(deadline=None)
@given(st.data(), st.sampled_from(sorted(KINDS)), st.sampled_from(["V1", "V2"]))
def test_a_footer_says_what_the_rows_say(data: st.DataObject, name: str, version: str) -> None:
    """Statistics do not depend on whether they are taken from a footer or from rows, and they bound each value."""
    kind, values = KINDS[name]
    column = pa.chunked_array([pa.array(data.draw(st.lists(st.none() | values, max_size=6)), kind)])
    rows = pa.table({name: column})
    columns = (IndexedColumn(name, kind),)
    (from_rows,) = rows_statistics("f", rows, columns, version)
    sink = io.BytesIO()
    pq.write_table(rows, sink, row_group_size=2)
    (from_file,) = of_file(sink.getvalue(), columns, version)
    assert repr((from_rows.minimum, from_rows.maximum)) == repr((from_file.minimum, from_file.maximum))
    assert (from_rows.value_count, from_rows.null_count) == (from_file.value_count, from_file.null_count)
    least, greatest = (plain_value(one, from_rows.value_type) for one in (from_rows.minimum, from_rows.maximum))
    for value in column.drop_null().to_pylist():
        if version == "V1" and name == "seen":
            continue
        assert math.isnan(least) if value != value and least != least else not value < least  # noqa: PLR0124
        assert greatest != greatest or not value > greatest  # noqa: PLR0124


def test_texts_too_long_for_a_footer_are_bounded_by_the_file_s_values() -> None:
    """Parquet keeps no bounds of more than some kilobytes; the column is read then."""
    texts = ["a" * 9000, "b" * 9000]
    sink = io.BytesIO()
    pq.write_table(pa.table({"text": texts}), sink)
    (found,) = of_file(sink.getvalue(), (IndexedColumn("text", pa.string()),), "V2")
    assert found.minimum == Wrapped("String", texts[0])
    assert found.maximum == Wrapped("String", texts[1])


def test_leaves_of_structs_are_named_by_their_path() -> None:
    """`a.b` is a column of its own; lists and maps have no bounds."""
    rows = pa.table({"a": [{"b": 3}, {"b": 1}, None], "tags": [["x"], [], None], "n": [1, 2, 3]})
    found = indexed_columns(rows.schema, ["a.b", "tags", "n", "gone", "a.gone"], 32, meta_fields=(), version="V2")
    assert [one.name for one in found] == ["a.b", "n"]
    sink = io.BytesIO()
    pq.write_table(rows, sink)
    for stats in (rows_statistics("f", rows, found, "V2"), of_file(sink.getvalue(), found, "V2")):
        assert [(one.minimum, one.maximum, one.null_count) for one in stats] == [
            (Wrapped("Long", 1), Wrapped("Long", 3), 1),
            (Wrapped("Long", 1), Wrapped("Long", 3), 0),
        ]


def test_the_first_columns_are_indexed_unless_some_are_named() -> None:
    """As many as the limit says, counted without meta fields and without columns that have no order."""
    schema = pa.schema([("tags", pa.list_(pa.string())), ("a", pa.int32()), ("b", pa.int32()), ("c", pa.int32())])
    found = indexed_columns(schema, (), 2, meta_fields=indexed_meta_fields(9, populated=True), version="V2")
    assert [one.name for one in found] == [
        "_hoodie_commit_time",
        "_hoodie_partition_path",
        "_hoodie_record_key",
        "a",
        "b",
    ]
    assert indexed_meta_fields(6, populated=True) == META_FIELDS
    assert indexed_meta_fields(9, populated=False) == ()


def test_decimals_that_no_wrapper_of_v1_holds_are_not_indexed() -> None:
    """The wrapper has 15 digits on either side of the point; V2 holds any decimal."""
    schema = pa.schema([("wide", pa.decimal128(20, 4)), ("small", pa.decimal128(10, 2))])
    assert [one.name for one in indexed_columns(schema, (), 9, meta_fields=(), version="V1")] == ["small"]
    assert len(indexed_columns(schema, (), 9, meta_fields=(), version="V2")) == len(schema)


def test_a_log_that_only_deletes_has_no_values() -> None:
    """Nothing is bounded, and nothing is unknown."""
    (stats,) = no_rows_statistics("f", (IndexedColumn("n", pa.int32()),), "V2")
    assert (stats.value_count, stats.null_count, stats.minimum) == (0, 0, None)
