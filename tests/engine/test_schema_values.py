"""A file's columns as the table's: names and types of other times, part by part."""

import datetime as dt
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hudi_format.table.internal_schema import ArrayType, ColumnType, InternalField, MapType, PrimitiveType, RecordType
from hudi_spark import HudiError
from hudi_spark.schema import Source, conform
from hudi_spark.schema.columns import sources_by_id
from hudi_spark.schema.write_schema import WriterSchema, cast_rows
from hypothesis import given
from hypothesis import strategies as st

INT, TEXT = PrimitiveType("int"), PrimitiveType("string")


def brought(values: list[Any], found: pa.DataType, wanted: pa.DataType) -> list[Any]:
    table = pa.table({"value": pa.array(values, found)})
    rows = conform(table, pa.schema([("value", wanted)]), "a file").column("value")
    rows.validate(full=True)
    return rows.to_pylist()


def field(number: int, name: str, kind: ColumnType) -> InternalField:
    return InternalField(number, name, optional=True, type=kind)


def test_parts_are_found_by_name_whatever_their_order_and_missing_ones_are_null() -> None:
    found = pa.struct([("b", pa.int32()), ("a", pa.string()), ("gone", pa.int8())])
    wanted = pa.struct([("a", pa.string()), ("b", pa.int64()), ("new", pa.list_(pa.int32()))])
    rows = brought([{"b": 1, "a": "x", "gone": 2}, None, {"b": None, "a": None, "gone": None}], found, wanted)
    assert rows == [{"a": "x", "b": 1, "new": None}, None, {"a": None, "b": None, "new": None}]


@given(st.lists(st.one_of(st.none(), st.lists(st.one_of(st.none(), st.integers(-9, 9)), max_size=3)), max_size=6))
def test_lists_keep_nulls_and_empty_ones_while_their_elements_widen(values: list[Any]) -> None:
    assert brought(values, pa.list_(pa.int32()), pa.list_(pa.int64())) == values
    structs = [None if one is None else [{"m": value} for value in one] for one in values]
    found, wanted = pa.struct([("m", pa.int32())]), pa.struct([("n", pa.string()), ("m", pa.int64())])
    widened = [None if one is None else [{"n": None, "m": value} for value in one] for one in values]
    assert brought(structs, pa.list_(found), pa.list_(wanted)) == widened


@given(st.lists(st.one_of(st.none(), st.dictionaries(st.text(max_size=2), st.integers(-9, 9), max_size=3)), max_size=5))
def test_maps_keep_nulls_and_empty_ones_while_their_values_widen(values: list[Any]) -> None:
    pairs = [None if one is None else list(one.items()) for one in values]
    texts = [None if one is None else [(key, str(value)) for key, value in one] for one in pairs]
    assert brought(pairs, pa.map_(pa.string(), pa.int32()), pa.map_(pa.string(), pa.string())) == texts


def test_a_slice_of_a_nested_column_brings_its_own_rows_only() -> None:
    whole = pa.array([[{"m": 1}], None, [{"m": 2}, None]], pa.list_(pa.struct([("m", pa.int32())])))
    table = pa.table({"value": whole.slice(1)})
    wanted = pa.schema([("value", pa.list_(pa.struct([("m", pa.int64())])))])
    assert conform(table, wanted, "a file").column("value").to_pylist() == [None, [{"m": 2}, None]]


@pytest.mark.parametrize(
    ("value", "found", "wanted", "answer"),
    [
        (9007199254740993, pa.int64(), pa.float64(), 9007199254740992.0),
        (16777217, pa.int32(), pa.float32(), 16777216.0),
        (5, pa.int32(), pa.decimal128(20, 2), Decimal("5.00")),
        (1.005, pa.float64(), pa.decimal128(20, 2), Decimal("1.01")),
        (1.005, pa.float32(), pa.decimal128(20, 2), Decimal("1.01")),
        (-0.125, pa.float64(), pa.decimal128(20, 2), Decimal("-0.13")),
        ("0.125", pa.string(), pa.decimal128(20, 2), Decimal("0.13")),
        (Decimal("1E-8"), pa.decimal128(20, 8), pa.string(), "1E-8"),
        (Decimal(0), pa.decimal128(20, 8), pa.string(), "0E-8"),
        (Decimal("1.10"), pa.decimal128(20, 8), pa.string(), "1.10000000"),
        (Decimal("6.25"), pa.decimal128(6, 2), pa.decimal128(10, 3), Decimal("6.250")),
        ("2024-1-3", pa.string(), pa.date32(), dt.date(2024, 1, 3)),
        (dt.date(1, 1, 1), pa.date32(), pa.string(), "0001-01-01"),
    ],
)
def test_an_altered_column_reads_as_apache_hudi_reads_it(
    value: Any, found: pa.DataType, wanted: pa.DataType, answer: Any
) -> None:
    assert brought([value, None], found, wanted) == [answer, None]


@pytest.mark.parametrize(
    ("value", "found", "wanted"),
    [
        (2**40, pa.int64(), pa.int32()),
        (1.5, pa.float64(), pa.int64()),
        ("x", pa.string(), pa.decimal128(10, 2)),
        ("soon", pa.string(), pa.date32()),
        (1e30, pa.float64(), pa.decimal128(10, 2)),
        (float("nan"), pa.float64(), pa.decimal128(10, 2)),
        (Decimal("1.25"), pa.decimal128(10, 2), pa.decimal128(10, 1)),
        ({"a": 1}, pa.struct([("a", pa.int32())]), pa.string()),
        ([1], pa.list_(pa.int32()), pa.map_(pa.string(), pa.int32())),
    ],
)
def test_what_the_tables_type_cannot_hold_is_refused_with_the_place(
    value: Any, found: pa.DataType, wanted: pa.DataType
) -> None:
    inside = pa.struct([("x", found)]), pa.struct([("x", wanted)])
    for kinds, one in (((found, wanted), value), (inside, {"x": value})):
        with pytest.raises(HudiError, match=r"SCHEMA_INCOMPATIBLE.*'value'"):
            brought([one], *kinds)


MAPS = st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 3)), max_size=3)


@given(st.lists(st.none() | st.lists(st.none() | MAPS, max_size=3), max_size=4))
def test_a_map_with_one_key_twice_is_refused_at_every_depth(values: list[Any]) -> None:
    kind = pa.map_(pa.string(), pa.int32())
    wanted = pa.schema([("lists", pa.list_(kind)), ("parts", pa.struct([("inner", pa.list_(kind))]))])
    parts = [{"inner": one} for one in values]
    rows = pa.table([[None, *values], [None, *parts]], schema=wanted).slice(1)
    maps = [one for many in values if many for one in many if one]
    schema = WriterSchema({}, wanted)
    if any(len(dict(one)) < len(one) for one in maps):
        with pytest.raises(HudiError, match=r"SCHEMA_INCOMPATIBLE.*'lists'.*one key twice"):
            cast_rows(rows, schema)
    else:
        assert cast_rows(rows, schema) == rows


def test_a_column_of_nulls_takes_any_type() -> None:
    assert brought([None], pa.null(), pa.struct([("a", pa.int32())])) == [None]
    assert brought([[None]], pa.list_(pa.null()), pa.list_(pa.int32())) == [[None]]


def test_ids_find_a_renamed_column_and_hide_what_a_column_of_the_name_held_before() -> None:
    written = (field(1, "id", TEXT), field(2, "col2", TEXT), field(3, "col3", TEXT))
    current = (field(1, "id", TEXT), field(2, "col3", TEXT), field(4, "col2", TEXT))
    table = pa.table({"id": ["a"], "col2": ["two"], "col3": ["three"], "other": [1]})
    wanted = pa.schema([("col2", pa.string()), ("col3", pa.string()), ("other", pa.int64())])
    rows = conform(table, wanted, "a file", sources_by_id(wanted, current, written))
    assert rows.to_pylist() == [{"col2": None, "col3": "two", "other": 1}]


def test_ids_reach_into_structs_lists_and_maps() -> None:
    then = RecordType((field(11, "old", INT), field(12, "gone", INT)))
    now = RecordType((field(11, "new", INT), field(13, "gone", INT)))
    written = (
        field(1, "s", then),
        field(2, "l", ArrayType(3, then)),
        field(4, "m", MapType(5, TEXT, 6, then)),
    )
    current = (field(1, "s", now), field(2, "l", ArrayType(3, now)), field(4, "m", MapType(5, TEXT, 6, now)))
    stored, kind = (pa.struct([(name, pa.int32()) for name in names]) for names in (("old", "gone"), ("new", "gone")))
    value = {"old": 1, "gone": 2}
    table = pa.table(
        {
            "s": pa.array([value], stored),
            "l": pa.array([[value, None]], pa.list_(stored)),
            "m": pa.array([[("k", value)]], pa.map_(pa.string(), stored)),
        }
    )
    wanted = pa.schema([("s", kind), ("l", pa.list_(kind)), ("m", pa.map_(pa.string(), kind))])
    rows = conform(table, wanted, "a file", sources_by_id(wanted, current, written)).to_pylist()
    answer = {"new": 1, "gone": None}
    assert rows == [{"s": answer, "l": [answer, None], "m": [("k", answer)]}]


def test_a_column_that_stands_twice_in_a_file_is_refused() -> None:
    table = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["value", "value"])
    with pytest.raises(HudiError, match="twice"):
        conform(table, pa.schema([("value", pa.int64())]), "a file", {"value": Source("value")})
