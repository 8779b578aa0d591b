"""Delete lists in Kryo's form: the bytes of Apache Hudi's serialiser, every text form, and nothing else accepted."""

import datetime as dt
import struct
from decimal import Decimal
from typing import Any

import pytest
from format_strategies import damaged
from hudi_format.errors import FormatError, Reason
from hudi_format.log.blocks import BlockType, RawBlock
from hudi_format.log.deletes import DeleteRecord, decode_deletes
from hypothesis import given
from hypothesis import strategies as st

MODEL = "org.apache.hudi.common.model"


def text(value: str | None) -> bytes:
    """A text as Kryo writes it."""
    if value is None:
        return b"\x80"
    raw = value.encode("utf-16-be", "surrogatepass")
    units = [raw[at] << 8 | raw[at + 1] for at in range(0, len(raw), 2)]
    if 1 < len(units) < 64 and value.isascii():
        return value[:-1].encode() + bytes((ord(value[-1]) | 0x80,))
    return length(len(units) + 1) + b"".join(map(unit, units))


def unit(value: int) -> bytes:
    if value < 0x80:
        return bytes((value,))
    if value < 0x800:
        return bytes((0xC0 | value >> 6, 0x80 | value & 0x3F))
    return bytes((0xE0 | value >> 12, 0x80 | value >> 6 & 0x3F, 0x80 | value & 0x3F))


def length(value: int) -> bytes:
    if value < 0x40:
        return bytes((0x80 | value,))
    return bytes((0xC0 | value & 0x3F,)) + varint(value >> 6)


def varint(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*out, value))


ARRAY = b"\1\0" + text(f"[L{MODEL}.DeleteRecord;") + b"\1"
DELETE = b"\1\1" + text(f"{MODEL}.DeleteRecord") + b"\1"
KEY = b"\1\2" + text(f"{MODEL}.HoodieKey") + b"\1"
KEYS = b"\1\0" + text(f"[L{MODEL}.HoodieKey;") + b"\1"
FIRST = b"\2" + DELETE + KEY + b"\1" + text("p1") + b"\1" + text("k1")


def decode(payload: bytes, version: int = 2) -> list[DeleteRecord]:
    content = struct.pack(">ii", version, len(payload)) + payload
    return decode_deletes(RawBlock(BlockType.DELETE, 1, 0, len(content), {}, content, 0), "f")


def one(ordering: bytes) -> bytes:
    return ARRAY + FIRST + ordering


# The ordering value's bytes as SerializationUtils of 0.11.1, 0.13.1 and 0.15.0 wrote them.
WRITTEN: list[tuple[bytes, Any, str | None]] = [
    (b"\0", None, None),
    (b"\x02\x0e", 7, "Int"),
    (b"\x02\x00", 0, "Int"),
    (b"\x09\x80\x80\x80\x80\x80\x40", 2**40, "Long"),
    (b"\x09\x09", -5, "Long"),
    (b"\x0a\x3f\xf8" + bytes(6), 1.5, "Double"),
    (b"\x04\x3f\xc0\0\0", 1.5, "Float"),
    (b"\x05\x01", True, "Boolean"),
    (b"\x03\x01z\xfa", "zz", "String"),
    (b"\x03\x06", "k1", "String"),
    (b"\x1e\x01\x04utf", "utf", "String"),
    (b"\x1d\x01\x04utf", "utf", "String"),
    (b"\1\3org.apache.avro.util.Utf\xb8\x01\x01\x04utf\0\6\1ut\xe6", "utf", "String"),
    (b"\1\3java.math.BigDecima\xec\x01\x03\x30\x39\x06", Decimal("12.345"), "Decimal"),
    (b"\1\3java.sql.Dat\xe5\x01\x80\xa8\xcc\x7b", dt.date.fromisoformat("1970-01-04"), "Date"),
    (b"\1\3java.time.LocalDat\xe5\x01\xe8\x0f\x01\x02", dt.date.fromisoformat("2024-01-02"), "Date"),
    (
        b"\1\3java.sql.Timestam\xf0\x01\xfb\xd0\x95\xff\xbc\x31",
        dt.datetime.fromisoformat("2023-11-14T22:13:20.123+00:00"),
        "TimestampMicros",
    ),
    (
        b"\1\3java.time.Instan\xf4\x01\x05\xd8\x36",
        dt.datetime.fromisoformat("1970-01-01T00:00:05.000007+00:00"),
        "TimestampMicros",
    ),
]


@pytest.mark.parametrize(("ordering", "value", "kind"), WRITTEN)
def test_ordering_values_of_every_class_are_read(ordering: bytes, value: Any, kind: str | None):
    assert decode(one(ordering)) == [DeleteRecord("k1", "p1", value, kind)]


def test_keys_alone_delete_without_ordering_value():
    body = b"\3" + b"\1\1" + text(f"{MODEL}.HoodieKey") + b"\1\1" + text("p1") + b"\1" + text("k1")
    second = b"\1\1\1" + b"\4" + b"\1" + text("é")
    assert decode(KEYS + body + second, version=1) == [
        DeleteRecord("k1", "p1", 0, "Int"),
        DeleteRecord("é", "p1", 0, "Int"),
    ]


def test_a_text_that_came_before_is_meant_by_its_number():
    second = b"\1\1\1" + b"\1\2\1" + b"\5" + b"\1" + text("k2") + b"\2\0"
    payload = ARRAY + b"\3" + FIRST[1:] + b"\2\0" + second
    assert decode(payload) == [DeleteRecord("k1", "p1", 0, "Int"), DeleteRecord("k2", "p1", 0, "Int")]


@given(st.lists(st.tuples(st.none() | st.text(max_size=70), st.text(max_size=70)), max_size=4))
def test_texts_of_every_length_and_letter_are_read(pairs: list[tuple[str | None, str]]):
    payload = ARRAY + varint(len(pairs) + 1)
    for index, (partition, key) in enumerate(pairs):
        classes = (DELETE, KEY) if index == 0 else (b"\1\1\1", b"\1\2\1")
        path = b"\0" if partition is None else b"\1" + text(partition)
        payload += b"".join(classes) + path + b"\1" + text(key) + b"\2\0"
    assert decode(payload) == [DeleteRecord(key, partition, 0, "Int") for partition, key in pairs]


BAD = [
    b"",
    b"\0",
    KEYS + b"\1",
    ARRAY,
    ARRAY + b"\0",
    ARRAY + b"\xff\xff\xff\xff\x0f",
    ARRAY + b"\xff" * 12,
    ARRAY[:-1] + b"\0",
    ARRAY + b"\2\0",
    one(b""),
    one(b"\2\0\0"),
    one(b"\x05\x02"),
    one(b"\x0c\0"),
    one(b"\x03\x00"),
    one(b"\x03\x01\x80"),
    one(b"\x03\x03"),
    one(b"\x03\x63"),
    one(b"\x03\x01\xff\xff\xff\xff\x7f"),
    one(b"\x03\x01\x82\xff"),
    one(b"\x03\x01\x82\xed\xa0\x80"),
    one(b"\x1e\x01\x00"),
    one(b"\1\3org.apache.avro.util.Utf\xb8\x01\x01\x04utf\0\x08\0"),
    one(b"\1\3java.lang.Runtim\xe5\1"),
    one(b"\1\4java.sql.Dat\xe5\1\0"),
    one(b"\1\3java.time.LocalDat\xe5\1\xe8\x0f\x0d\x02"),
    one(b"\1\3java.sql.Timestam\xf0\x01" + b"\xff" * 8 + b"\x7f"),
    one(b"\1\3java.math.BigDecima\xec\1\xff\xff\xff\x7f"),
    one(b"\1\3java.math.BigDecima\xec\1\x02\x01\xfe\xff\xff\xff\x0f"),
]


@pytest.mark.parametrize("payload", BAD)
def test_what_no_writer_makes_is_refused_with_its_place(payload: bytes):
    with pytest.raises(FormatError) as caught:
        decode(payload)
    assert (caught.value.reason, caught.value.clause) == (Reason.LOG_CONTENT_CORRUPT, "LF-008")


@given(damaged(one(b"\2\0"), one(WRITTEN[11][0]), one(WRITTEN[14][0])))
def test_damaged_lists_give_deletes_or_one_error(payload: bytes):
    try:
        found = decode(payload)
    except FormatError:
        return
    assert len(found) <= len(payload)
