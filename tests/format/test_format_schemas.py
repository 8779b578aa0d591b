"""Avro schemas as Arrow schemas."""

from typing import Any

import pyarrow as pa
import pytest
from hudi_format.errors import FormatError, Reason, UnsupportedFormat
from hudi_format.schemas import META_FIELDS, arrow_schema, parse_avro_schema, with_meta_fields, without_meta_fields


def record(*fields: tuple[str, Any], name: str = "r", **more: Any):
    return {"type": "record", "name": name, "fields": [{"name": n, "type": t} for n, t in fields], **more}


def arrow_type(kind: Any):
    return arrow_schema(record(("x", kind))).field("x")


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("boolean", pa.bool_()),
        ("int", pa.int32()),
        ("long", pa.int64()),
        ("float", pa.float32()),
        ("double", pa.float64()),
        ("string", pa.string()),
        ("bytes", pa.binary()),
        ({"type": "int", "logicalType": "date"}, pa.date32()),
        ({"type": "int", "logicalType": "time-millis"}, pa.time32("ms")),
        ({"type": "long", "logicalType": "time-micros"}, pa.time64("us")),
        ({"type": "long", "logicalType": "timestamp-millis"}, pa.timestamp("ms", "UTC")),
        ({"type": "long", "logicalType": "timestamp-micros"}, pa.timestamp("us", "UTC")),
        ({"type": "long", "logicalType": "local-timestamp-millis"}, pa.timestamp("ms")),
        ({"type": "long", "logicalType": "local-timestamp-micros"}, pa.timestamp("us")),
        ({"type": "string", "logicalType": "uuid"}, pa.string()),
        ({"type": "string", "avro.java.string": "String"}, pa.string()),
        ({"type": "enum", "name": "e", "symbols": ["A"]}, pa.string()),
        ({"type": "fixed", "name": "f", "size": 3}, pa.binary()),
        ({"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2}, pa.decimal128(10, 2)),
        ({"type": "bytes", "logicalType": "decimal", "precision": 10}, pa.decimal128(10, 0)),
        ({"type": "bytes", "logicalType": "decimal", "precision": 50, "scale": 2}, pa.decimal256(50, 2)),
        (
            {"type": "fixed", "name": "f", "size": 5, "logicalType": "decimal", "precision": 10, "scale": 2},
            pa.decimal128(10, 2),
        ),
        ({"type": "long", "logicalType": "date"}, pa.int64()),
        ({"type": "int", "logicalType": "something-new"}, pa.int32()),
    ],
)
def test_a_type_has_one_column_form(kind: Any, expected: Any):
    field = arrow_type(kind)
    assert (field.type, field.nullable) == (expected, False)


@pytest.mark.parametrize("union", [["null", "int"], ["int", "null"]])
def test_a_union_with_null_is_nullable_in_either_order(union: list[str]):
    assert (arrow_type(union).type, arrow_type(union).nullable) == (pa.int32(), True)


def test_nested_types_keep_their_nullability():
    inner = record(("a", ["null", "int"]), ("b", "string"), name="inner")
    array = arrow_type({"type": "array", "items": ["null", inner]}).type
    assert array == pa.list_(pa.field("element", pa.struct([("a", pa.int32()), pa.field("b", pa.string(), False)])))
    named = arrow_type({"type": "map", "values": "long"}).type
    assert named.item_field == pa.field("value", pa.int64(), nullable=False)


def test_a_named_type_can_be_named_again():
    inner = record(("a", "int"), name="inner", namespace="n.s")
    schema = arrow_schema(record(("x", inner), ("y", "n.s.inner"), ("z", ["null", "n.s.inner"])))
    assert schema.field("x").type == schema.field("y").type == schema.field("z").type


def test_meta_fields_are_put_first_once_and_taken_out():
    plain = record(("id", "string"))
    full = with_meta_fields(plain)
    assert arrow_schema(full).names == [*META_FIELDS, "id"]
    assert with_meta_fields(full) == full
    assert without_meta_fields(full) == plain


@pytest.mark.parametrize(
    "kind",
    [
        ["int", "string"],
        {"type": "fixed", "name": "d", "size": 12, "logicalType": "duration"},
        {"type": "long", "logicalType": "timestamp-nanos"},
        {"type": "fixed", "name": "v", "size": 16, "logicalType": "vector"},
        record(("value", "bytes"), ("metadata", "bytes"), name="v", logicalType="variant"),
        record(("data", "bytes"), name="b", logicalType="blob"),
    ],
)
def test_a_type_without_column_form_is_unsupported_not_wrong(kind: Any):
    with pytest.raises(UnsupportedFormat):
        arrow_type(kind)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nonsense",
        "{}",
        '"int"',
        '["null"]',
        '{"type":"record","name":"r","fields":[{"name":"a","type":"b"}]}',
        "[" * 9999,
    ],
)
def test_a_text_that_is_no_record_schema_is_refused(text: str):
    with pytest.raises(FormatError) as caught:
        arrow_schema(text, "commit")
    assert caught.value.reason == Reason.SCHEMA_INCOMPATIBLE


def test_a_huge_schema_is_refused_unread():
    with pytest.raises(FormatError) as caught:
        parse_avro_schema(" " * (4 * 1024 * 1024 + 1), "f")
    assert caught.value.reason == Reason.LIMIT_EXCEEDED


def test_a_decimal_of_too_many_digits_is_refused():
    with pytest.raises(FormatError, match="76"):
        arrow_type({"type": "bytes", "logicalType": "decimal", "precision": 77, "scale": 2})
