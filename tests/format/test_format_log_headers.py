"""Header entries: positions as Roaring bitmaps that a stock library agrees with, instants, numbers, flags."""

import base64
import struct
from collections.abc import Mapping

import pytest
from format_strategies import INSTANTS, damaged
from hudi_format.errors import FormatError, Reason
from hudi_format.log.blocks import BlockType, HeaderKey, RawBlock
from hudi_format.log.headers import (
    BlockIdentifier,
    base_instant_of_positions,
    block_identifier,
    compacted_block_times,
    compacted_block_times_text,
    is_partial,
    record_positions,
    record_positions_text,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from pyroaring import BitMap64

RUNS = st.tuples(st.integers(0, 2**34), st.integers(1, 9000)).map(lambda run: range(run[0], sum(run)))
STRIDES = st.tuples(st.integers(0, 2**34), st.integers(1, 6000)).map(lambda one: range(one[0], one[0] + 3 * one[1], 3))
POSITIONS = st.lists(RUNS | STRIDES | st.lists(st.integers(0, 2**63 - 1), max_size=5), max_size=4).map(
    lambda parts: sorted({position for part in parts for position in part})
)


def block(header: Mapping[HeaderKey, str]) -> RawBlock:
    return RawBlock(BlockType.AVRO_DATA, 1, 7, 0, header, b"", 0)


def positions(data: bytes, count: int):
    text = base64.b64encode(data).decode()
    found = record_positions(block({HeaderKey.RECORD_POSITIONS: text}), count, "f")
    assert found is not None
    return found.to_pylist()


@settings(deadline=None)
@given(POSITIONS, st.booleans())
def test_positions_of_every_container_come_back_in_order(values: list[int], optimised: bool):
    bitmap = BitMap64(values)
    if optimised:
        bitmap.run_optimize()
    assert positions(bitmap.serialize(), len(values)) == values


@settings(deadline=None)
@given(POSITIONS)
def test_positions_round_trip_through_their_text(values: list[int]):
    text = record_positions_text(reversed(values))
    found = record_positions(block({HeaderKey.RECORD_POSITIONS: text}), len(values), "f")
    assert found is not None
    assert found.to_pylist() == values


def test_a_block_without_positions_has_none():
    assert record_positions(block({}), 5, "f") is None
    assert base_instant_of_positions(block({HeaderKey.BASE_FILE_INSTANT_TIME_OF_RECORD_POSITIONS: "7"})) == "7"


def endless() -> bytes:
    """A few hundred bytes that declare sixteen million positions."""
    size = 256
    heads = b"".join(struct.pack("<HH", key, 0xFFFF) for key in range(size))
    offsets = bytes(4 * size)
    return struct.pack("<QII", 1, 0, (size - 1) << 16 | 12347) + b"\xff" * 32 + heads + offsets


GOOD = BitMap64([1, 2, 3, 70_000, 2**33]).serialize()


@pytest.mark.parametrize(
    ("data", "count"),
    [
        (b"", 0),
        (GOOD, 4),
        (GOOD, 6),
        (GOOD[:-1], 5),
        (GOOD + b"\0", 5),
        (endless(), 100),
        (struct.pack("<Q", 2**63), 0),
        (struct.pack("<QII", 1, 0, 5), 0),
        (struct.pack("<QIII", 1, 0, 12346, 2**31), 0),
        (struct.pack("<QIIIHHIH", 1, 0, 12346, 1, 0, 1, 16, 5) + struct.pack("<H", 4), 2),
        (struct.pack("<QIIBHHHHH", 1, 0, 12347, 1, 0, 1, 1, 0xFFFF, 1), 2),
    ],
)
def test_bytes_that_are_no_bitmap_of_the_records_are_refused(data: bytes, count: int):
    with pytest.raises(FormatError) as caught:
        positions(data, count)
    assert (caught.value.reason, caught.value.clause) == (Reason.LOG_CONTENT_CORRUPT, "LF-023")


@settings(deadline=None)
@given(damaged(GOOD, BitMap64(range(9000)).serialize()), st.integers(0, 9000))
def test_damaged_bitmaps_give_the_requested_number_of_positions_or_one_error(data: bytes, count: int):
    try:
        found = positions(data, count)
    except FormatError:
        return
    assert len(found) == count


def test_text_that_is_no_base64_is_refused():
    with pytest.raises(FormatError):
        record_positions(block({HeaderKey.RECORD_POSITIONS: "é*"}), 0, "f")


@given(st.lists(INSTANTS, unique=True))
def test_compacted_instants_are_newest_first(instants: list[str]):
    text = compacted_block_times_text(instants)
    found = compacted_block_times(block({HeaderKey.COMPACTED_BLOCK_TIMES: text}))
    assert list(found) == sorted(instants, reverse=True)


@given(st.builds(BlockIdentifier, st.integers(0, 99), st.integers(0, 99)))
def test_a_block_identifier_round_trips(identifier: BlockIdentifier):
    assert block_identifier(block({HeaderKey.BLOCK_IDENTIFIER: str(identifier)}), "f") == identifier


def test_a_block_without_identifier_has_none():
    assert block_identifier(block({}), "f") is None


@pytest.mark.parametrize("text", ["1", "1,2,3", "a,b", "-1,2", "1,", "9999999999,1"])
def test_a_block_identifier_of_another_form_is_refused(text: str):
    with pytest.raises(FormatError) as caught:
        block_identifier(block({HeaderKey.BLOCK_IDENTIFIER: text}), "f")
    assert caught.value.clause == "LF-024"


@pytest.mark.parametrize(("header", "partial"), [({}, False), ({HeaderKey.IS_PARTIAL: "true"}, True)])
def test_partial_blocks_say_so(header: Mapping[HeaderKey, str], partial: bool):
    assert is_partial(block(header)) is partial
