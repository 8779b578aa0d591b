"""Avro, Parquet and command content of log blocks, as Python values and as Arrow."""

import datetime as dt
import io
import json
import math
import struct
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from format_strategies import INSTANT_VALUES, LOCAL_VALUES, LONGS, TEXT, decimals
from hudi_format.errors import FormatError, Reason, UnsupportedFormat
from hudi_format.log.blocks import BlockType, HeaderKey, encode_block, read_blocks
from hudi_format.log.content import (
    RollbackCommand,
    data_block,
    decode_arrow,
    decode_avro_arrow,
    decode_avro_records,
    decode_command,
    decode_records,
    encode_avro_records,
    rollback_block,
)
from hypothesis import given
from hypothesis import strategies as st


def logical(kind: Any, name: str, **more: Any):
    return {"type": kind, "logicalType": name, **more}


FIXED = {"type": "fixed", "name": "five", "size": 5}
PLACE = {"type": "record", "name": "place", "fields": [{"name": "x", "type": "int"}]}
COLUMNS = {
    "text": ("string", TEXT),
    "flag": ("boolean", st.booleans()),
    "small": ("int", st.integers(-(2**31), 2**31 - 1)),
    "large": ("long", LONGS),
    "single": ("float", st.floats(width=32, allow_nan=False)),
    "double": ("double", st.floats(allow_nan=False)),
    "blob": ("bytes", st.binary(max_size=8)),
    "fixed": (FIXED, st.binary(min_size=5, max_size=5)),
    "kind": ({"type": "enum", "name": "kind", "symbols": ["A", "B"]}, st.sampled_from("AB")),
    "uuid": (logical("string", "uuid"), st.uuids().map(str)),
    "money": (logical("bytes", "decimal", precision=12, scale=2), decimals(12, 2)),
    "price": (FIXED | {"name": "six"} | logical("fixed", "decimal", precision=11, scale=3), decimals(11, 3)),
    "day": (logical("int", "date"), st.dates()),
    "at": (logical("long", "timestamp-micros"), INSTANT_VALUES),
    "at_ms": (
        logical("long", "timestamp-millis"),
        INSTANT_VALUES.map(lambda value: value.replace(microsecond=value.microsecond // 1000 * 1000)),
    ),
    "local": (logical("long", "local-timestamp-micros"), LOCAL_VALUES),
    "local_ms": (
        logical("long", "local-timestamp-millis"),
        LOCAL_VALUES.map(lambda value: value.replace(microsecond=value.microsecond // 1000 * 1000)),
    ),
    "clock": (logical("long", "time-micros"), st.times()),
    "clock_ms": (
        logical("int", "time-millis"),
        st.times().map(lambda value: value.replace(microsecond=value.microsecond // 1000 * 1000)),
    ),
    "numbers": (
        {"type": "array", "items": ["null", logical("bytes", "decimal", precision=5, scale=1)]},
        st.lists(st.none() | decimals(5, 1), max_size=3),
    ),
    "names": ({"type": "map", "values": ["null", "long"]}, st.dictionaries(TEXT, st.none() | LONGS, max_size=3)),
    "place": (PLACE, st.fixed_dictionaries({"x": st.integers(0, 9)})),
}


def schema(names: Iterable[str], *, null_first: bool = True):
    def union(kind: Any) -> list[Any]:
        return ["null", kind] if null_first else [kind, "null"]

    fields = [{"name": name, "type": union(COLUMNS[name][0])} for name in names]
    return {"type": "record", "name": "trips_record", "namespace": "hoodie.trips", "fields": fields}


RECORDS = st.lists(
    st.fixed_dictionaries({name: st.none() | values for name, (_, values) in COLUMNS.items()}), max_size=3
)


def block_of(records: list[dict[str, Any]], avro: Any):
    (block,) = read_blocks(data_block("20250101000000000", records, avro), "f")
    return block


@given(RECORDS, st.booleans())
def test_records_of_every_type_round_trip_as_python_values(records: list[dict[str, Any]], null_first: bool):
    block = block_of(records, schema(COLUMNS, null_first=null_first))
    assert decode_avro_records(block, "f") == records


@given(RECORDS, st.booleans())
def test_arrow_holds_the_same_values(records: list[dict[str, Any]], null_first: bool):
    block = block_of(records, schema(COLUMNS, null_first=null_first))
    table = decode_avro_arrow(block, "f")
    assert table.num_rows == len(records)
    assert table.to_pylist(maps_as_pydicts="strict") == records


def test_nan_and_negative_zero_survive():
    block = block_of([{"double": math.nan, "single": -0.0}], schema(["double", "single"]))
    (record,) = decode_avro_records(block, "f")
    assert math.isnan(record["double"])
    assert math.copysign(1, record["single"]) == -1


def test_the_layout_is_that_of_the_bytes():
    content = encode_avro_records([{"large": 1}, {"large": None}], schema(["large"]))
    assert content == struct.pack(">ii", 3, 2) + b"\0\0\0\x02\x02\x02" + b"\0\0\0\x01\x00"


def corrupt(content: bytes, avro: Any = None, header: Any = None):
    entries = {HeaderKey.SCHEMA: json.dumps(avro or schema(["large"]))} if header is None else header
    (block,) = read_blocks(encode_block(BlockType.AVRO_DATA, entries, content), "f")
    return block


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\0\0\0\3",
        struct.pack(">ii", 0, 0),
        struct.pack(">ii", 4, 0),
        struct.pack(">ii", 3, 1),
        struct.pack(">ii", 3, -1),
        struct.pack(">ii", 3, 2**31 - 1),
        struct.pack(">iii", 3, 1, 2**31 - 1),
        struct.pack(">iii", 3, 1, -1),
        struct.pack(">iii", 3, 1, 2) + b"\x02",
        struct.pack(">iii", 3, 1, 1) + b"\x04",
        struct.pack(">iii", 3, 1, 2) + b"\x00\x00",
        struct.pack(">iii", 3, 1, 1) + b"\x02",
        struct.pack(">iii", 3, 1, 1) + b"\x00" + b"rest",
    ],
)
def test_content_that_does_not_decode_is_an_error_never_fewer_records(content: bytes):
    for decode in (decode_avro_records, decode_avro_arrow):
        with pytest.raises(FormatError) as caught:
            decode(corrupt(content), "f")
        assert caught.value.reason == Reason.LOG_CONTENT_CORRUPT
        assert caught.value.offset is not None


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", '"int"', '{"type":"record"}', "{", "\ud800".encode("utf-8", "replace").decode()]
)
def test_a_schema_that_is_none_is_an_error(text: str):
    with pytest.raises(FormatError) as caught:
        decode_avro_records(corrupt(struct.pack(">ii", 3, 0), header={HeaderKey.SCHEMA: text}), "f")
    assert caught.value.reason == Reason.LOG_CONTENT_CORRUPT


def test_a_data_block_without_schema_is_an_error():
    with pytest.raises(FormatError, match="no schema"):
        decode_avro_records(corrupt(struct.pack(">ii", 3, 0), header={}), "f")


def record(kind: Any):
    return {"type": "record", "name": "r", "fields": [{"name": "x", "type": kind}]}


def test_an_array_of_empty_items_cannot_cause_endless_work():
    content = struct.pack(">iii", 3, 1, 11) + b"\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00"
    for items in ("null", {"type": "record", "name": "e", "fields": []}, {"type": "fixed", "name": "z", "size": 0}):
        with pytest.raises(FormatError) as caught:
            decode_avro_records(corrupt(content, record({"type": "array", "items": items})), "f")
        assert caught.value.reason == Reason.LIMIT_EXCEEDED


def test_a_type_that_contains_itself_is_refused():
    tree = {"type": "record", "name": "t", "fields": [{"name": "next", "type": ["null", "t"]}]}
    with pytest.raises(FormatError, match="contains itself"):
        decode_avro_records(corrupt(struct.pack(">ii", 3, 0), tree), "f")


def test_types_that_double_and_double_again_are_refused():
    kind: object = "null"
    for level in range(30):
        fields = [{"name": "a", "type": kind}, {"name": "b", "type": f"r{level - 1}" if level else "null"}]
        kind = {"type": "record", "name": f"r{level}", "fields": fields}
    with pytest.raises(FormatError) as caught:
        decode_avro_records(corrupt(struct.pack(">ii", 3, 0), kind), "f")
    assert caught.value.reason == Reason.LIMIT_EXCEEDED


def test_a_day_has_no_more_than_24_hours():
    content = encode_avro_records([{"x": 86_400_000_000}], record(["null", "long"]))
    avro = record(["null", logical("long", "time-micros")])
    for decode in (decode_avro_records, decode_avro_arrow):
        with pytest.raises(FormatError):
            decode(corrupt(content, avro), "f")


def parquet_block(content: bytes):
    (block,) = read_blocks(encode_block(BlockType.PARQUET_DATA, {HeaderKey.INSTANT_TIME: "1"}, content), "f")
    return block


def test_parquet_blocks_are_read_whole():
    table = pa.table({"a": [1, None], "m": pa.array([{"k": 1}, None], pa.map_(pa.string(), pa.int64()))})
    sink = io.BytesIO()
    pq.write_table(table, sink)
    assert decode_arrow(parquet_block(sink.getvalue()), "f").equals(table)
    assert decode_records(parquet_block(sink.getvalue()), "f") == [{"a": 1, "m": {"k": 1}}, {"a": None, "m": None}]
    with pytest.raises(FormatError) as caught:
        decode_arrow(parquet_block(sink.getvalue()[:-9]), "f")
    assert caught.value.reason == Reason.LOG_CONTENT_CORRUPT


def test_a_legal_block_that_is_not_built_says_which_feature_is_missing():
    (block,) = read_blocks(encode_block(BlockType.CDC_DATA, {}, b""), "f")
    for decode in (decode_records, decode_arrow):
        with pytest.raises(UnsupportedFormat) as caught:
            decode(block, "f")
        assert caught.value.feature == "log-cdc"


def test_a_rollback_names_its_target():
    (block,) = read_blocks(rollback_block("2", "1"), "f")
    assert decode_command(block, "f") == RollbackCommand("2", "1")


@pytest.mark.parametrize(
    ("header", "content"),
    [
        ({}, b""),
        ({HeaderKey.COMMAND_BLOCK_TYPE: "0", HeaderKey.INSTANT_TIME: "1"}, b""),
        ({HeaderKey.COMMAND_BLOCK_TYPE: "0", HeaderKey.TARGET_INSTANT_TIME: "1"}, b""),
        (
            {HeaderKey.COMMAND_BLOCK_TYPE: "1", HeaderKey.TARGET_INSTANT_TIME: "1", HeaderKey.INSTANT_TIME: "2"},
            b"",
        ),
        (
            {HeaderKey.COMMAND_BLOCK_TYPE: "0", HeaderKey.TARGET_INSTANT_TIME: "1", HeaderKey.INSTANT_TIME: "2"},
            b"x",
        ),
    ],
)
def test_a_command_that_is_no_rollback_is_refused(header: Any, content: bytes):
    (block,) = read_blocks(encode_block(BlockType.COMMAND, header, content), "f")
    with pytest.raises(FormatError) as caught:
        decode_command(block, "f")
    assert caught.value.clause == "LF-009"


def test_values_have_the_python_types_of_their_logical_types():
    values = {
        "money": Decimal("1.10"),
        "at": dt.datetime(2025, 1, 1, tzinfo=dt.timezone.utc),
        "local": dt.datetime.fromisoformat("2025-01-01"),
        "day": dt.date(2025, 1, 1),
        "clock": dt.time(1, 2),
        "uuid": "6f5f4536-875c-43f6-846f-b3f300000000",
    }
    (decoded,) = decode_avro_records(block_of([values], schema(values)), "f")
    assert {name: type(value) for name, value in decoded.items()} == {n: type(v) for n, v in values.items()}
    assert decoded["at"].tzinfo is not None
    assert decoded["local"].tzinfo is None
