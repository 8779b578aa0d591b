"""Ordering values of every type, in rows and in delete blocks, and ordering and key fields inside structs."""

import math
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from engine_tables import avro, tick
from hudi_format.log.blocks import read_blocks
from hudi_format.log.content import data_block, delete_block
from hudi_format.log.deletes import DeleteRecord
from hudi_format.schemas import arrow_schema
from hudi_spark.merge.kernel import merge
from hudi_spark.merge.keys import KeyRule, column_of, columns_of, field_type, field_values
from hudi_spark.merge.log_records import decode_log_records, delete_ordering
from hudi_spark.merge.rules import MergeRule
from hudi_spark.table_state.slicing import LocatedBlock
from hypothesis import given, settings
from hypothesis import strategies as st

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
MOMENTS = st.integers(-(10**15), 10**15).map(lambda micros: EPOCH + timedelta(microseconds=micros))
DECIMAL = {"type": "bytes", "logicalType": "decimal", "precision": 12, "scale": 3}
# Avro type of the column, its values, and the wrapper that a delete has for them.
TYPES: dict[str, tuple[Any, Any, str]] = {
    "int": ("int", st.integers(-(2**31), 2**31 - 1).filter(bool), "Int"),
    "long": ("long", st.integers(-(2**63), 2**63 - 1), "Long"),
    "float": ("float", st.floats(width=32), "Float"),
    "double": ("double", st.floats(), "Double"),
    "boolean": ("boolean", st.booleans(), "Boolean"),
    "string": ("string", st.text(), "String"),
    "date": ({"type": "int", "logicalType": "date"}, st.dates(), "Date"),
    "moment": ({"type": "long", "logicalType": "timestamp-micros"}, MOMENTS, "TimestampMicros"),
    "decimal": (
        DECIMAL,
        st.integers(-(10**12) + 1, 10**12 - 1).map(lambda unscaled: Decimal(unscaled).scaleb(-3)),
        "Decimal",
    ),
}


def merged(
    columns: Any, base: list[dict[str, Any]], blocks: bytes, rule: MergeRule, keys: KeyRule | None = None
) -> Any:
    schema = arrow_schema(avro(columns))
    located = [LocatedBlock("log", tick(1), block) for block in read_blocks(blocks, "log")]
    known = keys or KeyRule()
    records = decode_log_records(located, schema, known, rule)
    return merge(pa.Table.from_pylist(base, schema), records, known, rule).to_pylist()


def java_order(value: Any) -> Any:
    """What compares as Java's compareTo does: minus zero before zero, not-a-number last."""
    if not isinstance(value, float):
        return value
    if math.isnan(value):
        return (2, 0.0)
    return (1, value, not str(value).startswith("-")) if value == 0 else (1, value, True)


@pytest.mark.parametrize("name", TYPES)
@settings(deadline=None, max_examples=30)
@given(data=st.data())
def test_a_delete_competes_by_an_ordering_value_of_any_type(name: str, data: Any):
    """It is stored in a wrapper of another precision than the column's, and compares all the same."""
    kind, values, wrapper = TYPES[name]
    columns = (("_hoodie_record_key", ["null", "string"]), ("at", ["null", kind]))
    stored, deleting = data.draw(values), data.draw(values)
    delete = delete_block(tick(1), [DeleteRecord("a", "p", deleting, wrapper)])
    rule = MergeRule("EVENT_TIME_ORDERING", ("at",))
    left = merged(columns, [{"_hoodie_record_key": "a", "at": stored}], delete, rule)
    assert bool(left) == (java_order(stored) > java_order(deleting))


@pytest.mark.parametrize("name", TYPES)
@settings(deadline=None, max_examples=30)
@given(data=st.data())
def test_rows_compete_by_an_ordering_value_of_any_type(name: str, data: Any):
    kind, values, _ = TYPES[name]
    columns = (("_hoodie_record_key", ["null", "string"]), ("at", ["null", kind]), ("note", ["null", "string"]))
    stored, arriving = data.draw(values), data.draw(values)
    rows = [{"_hoodie_record_key": "a", "at": arriving, "note": "log"}]
    base = [{"_hoodie_record_key": "a", "at": stored, "note": "base"}]
    left = merged(columns, base, data_block(tick(1), rows, avro(columns)), MergeRule("EVENT_TIME_ORDERING", ("at",)))
    assert left[0]["note"] == ("base" if java_order(stored) > java_order(arriving) else "log")


@pytest.mark.parametrize(
    ("kind", "spelt", "value"),
    [
        (pa.decimal128(12, 3), "5.500" + 40 * "0", "5.500"),
        (pa.decimal128(12, 3), "5." + 80 * "0", "5.000"),
        (pa.decimal128(38, 0), 38 * "9" + ".0", 38 * "9"),
        (pa.decimal128(38, 0), 38 * "9" + ".00", 38 * "9"),
        (pa.decimal128(38, 0), "1E+30", "1" + 30 * "0"),
        (pa.decimal128(12, 3), "1E+1000", None),
        (pa.decimal128(38, 0), 100 * "9", None),
        (pa.decimal128(12, 3), "5.5005", None),
        (pa.decimal128(38, 20), "1." + 66 * "3", None),
        (pa.decimal128(38, 0), 90 * "1" + ".5", None),
        (pa.decimal128(12, 3), "5." + 500 * "0", "5.000"),
        (pa.decimal128(12, 3), "0.000", "0.000"),
        (pa.decimal128(20, 13), "7.306068893742E-98", None),
        (pa.int64(), "5.0", "5"),
        (pa.int64(), "5.5", None),
    ],
)
def test_a_deletes_decimal_is_the_number_whatever_zeros_it_is_spelt_with(
    kind: pa.DataType, spelt: str, value: str | None
):
    """Delete lists of before version 0.14 have any scale; a number that the column cannot hold does not compare."""
    rule, schema = MergeRule("EVENT_TIME_ORDERING", ("at",)), pa.schema([("at", kind)])
    deletes = [DeleteRecord("a", "p", Decimal(spelt), "Decimal"), DeleteRecord("b", "p", Decimal(7), "Decimal")]
    (column,) = delete_ordering(deletes, schema, rule)
    assert column.to_pylist() == [None if value is None else Decimal(value), Decimal(7)]


def test_several_ordering_values_of_a_delete_compare_in_turn():
    columns = (("_hoodie_record_key", ["null", "string"]), ("day", ["null", TYPES["date"][0]]), ("at", ["null", "int"]))
    rule = MergeRule("EVENT_TIME_ORDERING", ("day", "at"))
    base = [{"_hoodie_record_key": key, "day": date(2024, 2, 29), "at": 5} for key in "abc"]
    places = {"a": (date(2024, 2, 29), 4), "b": (date(2024, 2, 29), 5), "c": (date(2024, 2, 28), 9)}
    deletes = [DeleteRecord(key, "p", place, "Array") for key, place in places.items()]
    assert [one["_hoodie_record_key"] for one in merged(columns, base, delete_block(tick(1), deletes), rule)] == [
        "a",
        "c",
    ]


def test_of_several_ordering_values_those_before_a_null_decide():
    columns = (("_hoodie_record_key", ["null", "string"]), ("day", ["null", "long"]), ("at", ["null", "long"]))
    rule = MergeRule("EVENT_TIME_ORDERING", ("day", "at"))

    def rows(*places: tuple[str, int | None, int | None]) -> list[dict[str, Any]]:
        return [{"_hoodie_record_key": key, "day": day, "at": at} for key, day, at in places]

    base = rows(("a", 2, 5), ("b", 2, None), ("c", 1, 5), ("d", 1, 5), ("e", None, 9))
    first = rows(("a", 1, None), ("b", 1, 5), ("c", 2, None), ("d", 1, None), ("e", None, 8), ("f", 2, 1), ("g", 2, 1))
    # Of f the last is less than the first, and only what stands between lets it win; of g nothing does.
    then = rows(("f", 2, None), ("f", 2, 0), ("g", 1, None))
    logs = data_block(tick(1), first, avro(columns)) + data_block(tick(1), then, avro(columns))
    assert {one["_hoodie_record_key"]: (one["day"], one["at"]) for one in merged(columns, base, logs, rule)} == {
        "a": (2, 5),
        "b": (2, None),
        "c": (2, None),
        "d": (1, None),
        "e": (None, 9),
        "f": (2, 0),
        "g": (2, 1),
    }


PLACE = {
    "type": "record",
    "name": "place",
    "fields": [{"name": "ts", "type": ["null", "long"]}, {"name": "part", "type": ["null", "int"]}],
}
NESTED = (("source", ["null", PLACE]), ("note", ["null", "string"]))


def test_fields_inside_structs_order_and_identify():
    """No column holds them: the table has neither meta fields nor an ordering column of its own."""
    keys, rule = KeyRule(("source.part", "note"), named=True), MergeRule("EVENT_TIME_ORDERING", ("source.ts",))
    base = [{"source": {"ts": 5, "part": part}, "note": "n"} for part in (1, 2)]
    late = data_block(tick(1), [{"source": {"ts": 4, "part": 1}, "note": "n"}], avro(NESTED))
    newer = data_block(tick(1), [{"source": {"ts": 9, "part": 2}, "note": "n"}], avro(NESTED))
    gone = delete_block(tick(1), [DeleteRecord("source.part:1,note:n", "p", 4, "Long")])
    left = merged(NESTED, base, late + newer + gone, rule, keys)
    assert [one["source"]["ts"] for one in left] == [5, 9]


def test_a_field_is_a_column_or_a_place_in_one():
    schema = pa.schema(
        [("a.b", pa.int32()), ("a", pa.struct([("b", pa.int64()), ("c", pa.struct([("d", pa.string())]))]))]
    )
    table = pa.Table.from_pylist([{"a.b": 1, "a": {"b": 2, "c": {"d": "x"}}}, {"a.b": None, "a": None}], schema)
    assert columns_of(("a.c.d", "a.b", "a.c", "a.x", "z"), schema) == ("a", "a.b")
    assert (column_of("a.c.d.e", schema), column_of("z.b", schema)) == (None, None)
    assert (field_type("a.c.d", schema), field_type("a.b", schema)) == (pa.string(), pa.int32())
    assert field_values(table, "a.c.d").to_pylist() == ["x", None]
    assert field_values(table, "a.b").to_pylist() == [1, None]


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        (pa.float64(), 7.0, "7.0"),
        (pa.float64(), 1e10, "1.0E10"),
        (pa.float32(), 0.1, "0.1"),
        (pa.decimal128(8, 2), Decimal("5.50"), "5.50"),
        (pa.date32(), date(2024, 2, 29), "2024-02-29"),
        (pa.timestamp("us", tz="UTC"), EPOCH + timedelta(seconds=1), "1000000"),
        (pa.bool_(), False, "false"),
    ],
)
def test_key_fields_are_spelt_as_writers_spell_them(kind: pa.DataType, value: Any, text: str):
    table = pa.table({"k": pa.array([value], kind), "sub": pa.array([None], pa.int32())})
    assert KeyRule(("k",)).keys(table).to_pylist() == [text]
    assert KeyRule(("k", "sub"), named=True).keys(table).to_pylist() == [f"k:{text},sub:__null__"]
