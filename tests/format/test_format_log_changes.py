"""Blocks of the change feed: three schemas, both directions, and any bytes at all."""

import datetime as dt
import json
from decimal import Decimal
from typing import Any

import pytest
from format_strategies import TEXT, damaged
from hudi_format.errors import FormatError, Reason, UnsupportedFormat
from hudi_format.log.blocks import BlockType, HeaderKey, RawBlock, encode_block, read_blocks
from hudi_format.log.changes import COLUMNS, LoggingMode, change_block, change_schema, decode_changes
from hudi_format.log.content import decode_arrow, encode_avro_records
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

INSTANT = "20250101000000000"
AMOUNT = {
    "type": "fixed",
    "name": "fixed",
    "namespace": "hoodie.orders.orders_record.amount",
    "size": 5,
    "logicalType": "decimal",
    "precision": 10,
    "scale": 2,
}
ORDERS: dict[str, Any] = {
    "type": "record",
    "name": "orders_record",
    "namespace": "hoodie.orders",
    "fields": [
        {"name": "id", "type": ["null", "string"], "default": None},
        {"name": "amount", "type": ["null", AMOUNT], "default": None},
        {"name": "day", "type": ["null", {"type": "int", "logicalType": "date"}], "default": None},
    ],
}
ROW = {"id": "ключ-0", "amount": Decimal("1.00"), "day": dt.date(2024, 2, 29)}
ROWS = st.fixed_dictionaries({"id": TEXT, "amount": st.none() | st.just(Decimal("-7.25")), "day": st.none()})
CHANGES = st.lists(
    st.fixed_dictionaries(
        {
            "op": st.sampled_from("iud"),
            "record_key": TEXT,
            "before": st.none() | ROWS,
            "after": st.none() | ROWS,
        }
    ),
    max_size=4,
)
UPDATE = {"op": "u", "record_key": "ключ-0", "before": ROW, "after": {**ROW, "day": None}}
VALID = [change_block(INSTANT, [UPDATE], mode, ORDERS) for mode in LoggingMode]


def block_of(data: bytes) -> RawBlock:
    (block,) = read_blocks(data, "f")
    assert isinstance(block, RawBlock)
    return block


@given(CHANGES, st.sampled_from(LoggingMode))
def test_changes_come_back_with_what_their_mode_keeps(changes: list[dict[str, Any]], mode: LoggingMode):
    """A change loses the fields that the mode leaves out, and nothing else."""
    table = decode_changes(block_of(change_block(INSTANT, changes, mode, ORDERS)), "f")
    assert tuple(table.column_names) == COLUMNS[mode]
    kept = [{name: INSTANT if name == "ts_ms" else change[name] for name in COLUMNS[mode]} for change in changes]
    assert table.to_pylist() == kept


def test_the_schemas_are_those_of_the_released_writer():
    """Which branch of a union comes first is part of the bytes; the second image refers to the first's record."""
    assert change_schema(LoggingMode.OP_KEY_ONLY, ORDERS) == {
        "type": "record",
        "name": "Record",
        "fields": [{"name": "op", "type": ["string", "null"]}, {"name": "record_key", "type": ["string", "null"]}],
    }
    whole = change_schema(LoggingMode.DATA_BEFORE_AFTER, ORDERS)
    assert (whole["name"], whole["namespace"]) == ("CDC", "hoodie.orders")
    assert [field["name"] for field in whole["fields"]] == ["op", "ts_ms", "before", "after"]
    assert [field["type"] for field in whole["fields"]] == [
        ["null", "string"],
        ["null", "string"],
        ["null", ORDERS],
        ["null", "orders_record"],
    ]


def test_the_instant_stands_where_the_name_promises_milliseconds():
    """`ts_ms` holds the text of the instant, as the released writer puts it there."""
    table = decode_changes(block_of(VALID[-1]), "f")
    assert table.column("ts_ms").to_pylist() == [INSTANT]


def test_no_other_reader_takes_a_change_for_a_row():
    """A reader of rows that meets a block of the change feed says what it does not read."""
    with pytest.raises(UnsupportedFormat, match="log-cdc"):
        decode_arrow(block_of(VALID[0]), "f")


def other_schema(*fields: tuple[str, Any]) -> dict[str, Any]:
    return {"type": "record", "name": "x", "fields": [{"name": name, "type": kind} for name, kind in fields]}


NULLABLE = ["null", "string"]


@pytest.mark.parametrize(
    ("schema", "record"),
    [
        (other_schema(("op", NULLABLE)), {"op": "i"}),
        (other_schema(("op", NULLABLE), ("key", NULLABLE)), {"op": "i", "key": "k"}),
        (other_schema(("op", NULLABLE), ("record_key", NULLABLE)), {"op": "x", "record_key": "k"}),
        (other_schema(("op", NULLABLE), ("record_key", NULLABLE)), {"op": None, "record_key": "k"}),
        (other_schema(("op", NULLABLE), ("record_key", NULLABLE)), {"op": "d", "record_key": None}),
        (other_schema(("op", "long"), ("record_key", NULLABLE)), {"op": 1, "record_key": "k"}),
        (
            other_schema(("op", NULLABLE), ("record_key", NULLABLE), ("before", NULLABLE)),
            {"op": "u", "record_key": "k", "before": "{}"},
        ),
    ],
)
def test_a_change_of_another_make_is_refused(schema: Any, record: dict[str, Any]):
    """Fields of no mode, an unknown operation, a missing key, or an image that is no record."""
    header = {HeaderKey.INSTANT_TIME: INSTANT, HeaderKey.SCHEMA: json.dumps(schema)}
    data = encode_block(BlockType.CDC_DATA, header, encode_avro_records([record], schema))
    with pytest.raises(FormatError) as caught:
        decode_changes(block_of(data), "f")
    assert (caught.value.reason, caught.value.clause) == (Reason.LOG_CONTENT_CORRUPT, "CD-009")


def test_a_block_of_rows_is_no_block_of_changes():
    """The type of a block decides, before its content is looked at."""
    header = {HeaderKey.SCHEMA: json.dumps(ORDERS)}
    data = encode_block(BlockType.AVRO_DATA, header, encode_avro_records([ROW], ORDERS))
    with pytest.raises(FormatError):
        decode_changes(block_of(data), "f")


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(damaged(*VALID))
def test_any_bytes_at_all(data: bytes):
    """Bytes that were a log of the change feed give changes, or a typed error."""
    try:
        for block in read_blocks(data, "f"):
            if isinstance(block, RawBlock):
                decode_changes(block, "f")
    except (FormatError, UnsupportedFormat):
        return
