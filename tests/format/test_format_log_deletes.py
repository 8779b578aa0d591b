"""Delete blocks: keys, partitions, ordering values of every wrapper."""

import struct
from decimal import Decimal
from typing import Any

import pytest
from format_strategies import INSTANT_VALUES, LONGS, TEXT, decimals
from hudi_format.errors import FormatError, Reason
from hudi_format.log.blocks import BlockType, encode_block, read_blocks
from hudi_format.log.content import delete_block
from hudi_format.log.deletes import DeleteRecord, decode_deletes, encode_deletes
from hypothesis import given
from hypothesis import strategies as st

SCALARS = {
    "Boolean": st.booleans(),
    "Int": st.integers(-(2**31), 2**31 - 1),
    "Long": LONGS,
    "Float": st.floats(width=32, allow_nan=False),
    "Double": st.floats(allow_nan=False),
    "Bytes": st.binary(max_size=6),
    "String": TEXT,
    "Date": st.dates(),
    "Decimal": decimals(30, 15),
    "TimeMicros": st.times(),
    "TimestampMicros": INSTANT_VALUES,
}
ARRAYS = st.lists(st.none() | st.one_of([SCALARS[kind] for kind in ("Long", "String", "Date")]), max_size=3).map(tuple)
DELETES = st.one_of(
    [st.builds(DeleteRecord, TEXT, st.none() | TEXT, values, st.just(kind)) for kind, values in SCALARS.items()]
    + [st.builds(DeleteRecord, TEXT, TEXT, ARRAYS, st.just("Array"))]
    + [st.builds(DeleteRecord, st.none() | TEXT, TEXT, st.none(), st.none())]
)


def block_of(content: bytes):
    (block,) = read_blocks(encode_block(BlockType.DELETE, {}, content), "f")
    return block


@given(st.lists(DELETES, max_size=5))
def test_deletes_of_every_kind_round_trip_mixed(deletes: list[DeleteRecord]):
    assert decode_deletes(block_of(encode_deletes(deletes)), "f") == deletes


def test_a_delete_without_ordering_value_has_the_bytes_of_real_files():
    payload = b"\x02\x02\x08k015\x02\x04p0\x04\x00\x00"
    content = struct.pack(">ii", 3, len(payload)) + payload
    assert encode_deletes([DeleteRecord("k015", "p0")]) == content
    assert decode_deletes(block_of(content), "f") == [DeleteRecord("k015", "p0", 0, "Int")]


def test_an_empty_list_is_one_byte():
    content = struct.pack(">ii", 3, 1) + b"\0"
    assert encode_deletes([]) == content
    assert decode_deletes(block_of(content), "f") == []


def test_an_ordering_value_of_zero_differs_from_none():
    content = encode_deletes([DeleteRecord("a", "p", 0), DeleteRecord("a", "p", 0, "Long")])
    assert [one.kind for one in decode_deletes(block_of(content), "f")] == ["Int", "Long"]


@pytest.mark.parametrize(
    ("value", "kind"), [(5, "Long"), (True, "Boolean"), ("a", "String"), (Decimal(1), "Decimal"), ((1, "a"), "Array")]
)
def test_a_bare_value_gets_the_wrapper_of_its_type(value: Any, kind: Any):
    (block,) = read_blocks(delete_block("1", [DeleteRecord("k", "p", value)]), "f")
    assert decode_deletes(block, "f") == [DeleteRecord("k", "p", value, kind)]


def test_a_value_without_wrapper_cannot_be_written():
    with pytest.raises(ValueError, match="ordering value"):
        encode_deletes([DeleteRecord("k", "p", object())])


@pytest.mark.parametrize(
    "content",
    [
        b"",
        struct.pack(">ii", 3, 0),
        struct.pack(">ii", 3, 2) + b"\0",
        struct.pack(">ii", 3, 1) + b"\0\0",
        struct.pack(">ii", 3, 2) + b"\0\0",
        struct.pack(">ii", 3, -1),
        struct.pack(">ii", 3, 2**31 - 1) + b"\0",
        struct.pack(">ii", 0, 1) + b"\0",
        struct.pack(">ii", 4, 1) + b"\0",
        struct.pack(">ii", 3, 4) + b"\x02\x02\x08k",
        struct.pack(">ii", 3, 10) + b"\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01",
        struct.pack(">ii", 3, 5) + b"\x02\x00\x00\x1e\x00",
    ],
)
def test_a_list_that_does_not_decode_is_refused_with_its_place(content: bytes):
    with pytest.raises(FormatError) as caught:
        decode_deletes(block_of(content), "f")
    assert (caught.value.reason, caught.value.clause) == (Reason.LOG_CONTENT_CORRUPT, "LF-008")
    assert caught.value.offset is not None
