"""Framing of log files: what is written is read, what is torn is named, what is whole and wrong is refused."""

import struct
from typing import Any

import pytest
from format_strategies import TEXT
from hudi_format.errors import FormatError, Reason
from hudi_format.log.blocks import MAGIC, BlockType, CorruptBlock, HeaderKey, RawBlock, encode_block, read_blocks
from hudi_format.log.content import rollback_block
from hypothesis import given
from hypothesis import strategies as st

WRITTEN_TYPES = st.sampled_from([one for one in BlockType if one is not BlockType.CORRUPT])
HEADERS = st.dictionaries(st.sampled_from(list(HeaderKey)), TEXT, max_size=9)
BLOCKS = st.tuples(WRITTEN_TYPES, HEADERS, st.binary(max_size=60))
ONE = encode_block(BlockType.AVRO_DATA, {HeaderKey.INSTANT_TIME: "20250101000000000"}, b"one")
TWO = encode_block(BlockType.DELETE, {HeaderKey.INSTANT_TIME: "20250101000000001"}, b"two")


def whole(blocks: Any):
    return [(block.type, dict(block.header), block.content) for block in blocks if isinstance(block, RawBlock)]


def spans(blocks: Any):
    return [(block.offset, block.length) for block in blocks]


@given(st.lists(BLOCKS, max_size=5))
def test_blocks_round_trip_and_cover_the_file(blocks: Any):
    data = b"".join(encode_block(*block) for block in blocks)
    read = read_blocks(data, "f")
    assert whole(read) == blocks
    assert sum(block.length for block in read) == len(data)
    assert all(data[block.content_offset :].startswith(block.content) for block in read)


@given(st.lists(BLOCKS, min_size=1, max_size=3), st.data())
def test_a_cut_file_yields_the_whole_blocks_and_one_corrupt_one(blocks: Any, data: st.DataObject):
    encoded = [encode_block(*block) for block in blocks]
    file = b"".join(encoded)
    cut = data.draw(st.integers(0, len(file)))
    read = read_blocks(file[:cut], "f")
    ends = [sum(map(len, encoded[: index + 1])) for index in range(len(encoded))]
    kept = sum(end <= cut for end in ends)
    assert [block for block in read[:kept] if isinstance(block, RawBlock)] == list(read[:kept])
    assert all(isinstance(block, CorruptBlock) for block in read[kept:])
    assert sum(block.length for block in read) == cut


def test_a_block_of_real_size_and_layout():
    block = rollback_block("20250101000000002", "20250101000000001")
    assert len(block) == 105
    assert block[:6] == b"#HUDI#"
    assert struct.unpack(">q", block[6:14]) == (105 - 14,)
    assert struct.unpack(">iii", block[14:26]) == (1, 0, 3)
    assert block[-20:] == struct.pack(">qiq", 0, 0, 105 - 8)


def test_an_empty_file_has_no_blocks():
    assert read_blocks(b"", "f") == ()


def test_a_torn_block_is_skipped_up_to_the_next_magic():
    torn = ONE[:-20]
    read = read_blocks(torn + TWO, "f")
    assert spans(read) == [(0, len(torn)), (len(torn), len(TWO))]
    assert isinstance(read[0], CorruptBlock)
    assert whole(read) == whole(read_blocks(TWO, "f"))


def test_a_torn_block_whose_rest_is_exactly_the_next_block_does_not_swallow_it():
    longer = encode_block(BlockType.AVRO_DATA, {}, b"x" * (len(TWO) + 10))
    read = read_blocks(longer[: -len(TWO)] + TWO, "f")
    assert [type(block) for block in read] == [CorruptBlock, RawBlock]


def test_a_magic_inside_a_torn_block_is_tried_and_found_wanting():
    inner = encode_block(BlockType.AVRO_DATA, {}, b"abc" + MAGIC + b"defgh")[:-10]
    read = read_blocks(inner + TWO, "f")
    assert [type(block) for block in read] == [CorruptBlock, CorruptBlock, RawBlock]
    assert sum(block.length for block in read) == len(inner) + len(TWO)


def test_a_long_run_of_magics_is_a_few_stretches():
    """The whole blocks around it stay, and every byte between them is in one stretch."""
    data = ONE + MAGIC * 1000 + TWO + MAGIC * 3 + ONE
    blocks = read_blocks(data, "f")
    kinds = "".join("r" if isinstance(block, RawBlock) else "c" for block in blocks)
    assert kinds == "r" + "c" * 8 + "r" + "c" * 3 + "r"
    assert [block.offset for block in blocks[1:]] == [block.offset + block.length for block in blocks[:-1]]
    assert sum(block.length for block in blocks) == len(data)


def test_a_magic_inside_a_whole_block_is_content():
    data = encode_block(BlockType.AVRO_DATA, {}, MAGIC * 3)
    assert whole(read_blocks(data, "f")) == [(BlockType.AVRO_DATA, {}, MAGIC * 3)]


def test_garbage_after_a_block_makes_that_block_corrupt():
    read = read_blocks(ONE + b"garbage" + TWO, "f")
    assert spans(read) == [(0, len(ONE) + 7), (len(ONE) + 7, len(TWO))]
    assert isinstance(read[0], CorruptBlock)


def test_fewer_than_six_bytes_after_a_block_leave_it_whole_and_are_reported():
    read = read_blocks(ONE + b"12345", "f")
    assert whole(read) == whole(read_blocks(ONE, "f"))
    assert spans(read) == [(0, len(ONE)), (len(ONE), 5)]


def test_garbage_at_the_start_is_one_corrupt_block():
    read = read_blocks(b"garbage" + ONE, "f")
    assert spans(read) == [(0, 7), (7, len(ONE))]


@pytest.mark.parametrize("length", [0, 31, -1, -(2**63), 2**63 - 1])
def test_an_impossible_length_is_corrupt(length: int):
    read = read_blocks(MAGIC + struct.pack(">q", length) + ONE[14:] + TWO, "f")
    assert [type(block) for block in read] == [CorruptBlock, RawBlock]


def test_a_second_length_that_differs_is_corrupt():
    read = read_blocks(ONE[:-1] + b"\x00" + TWO, "f")
    assert [type(block) for block in read] == [CorruptBlock, RawBlock]


def patched(offset: int, value: bytes):
    return ONE[:offset] + value + ONE[offset + len(value) :]


def test_bytes_between_footer_and_total_length_are_refused():
    data = encode_block(BlockType.AVRO_DATA, {}, b"\0" * 5).replace(struct.pack(">q", 5), struct.pack(">q", 1), 1)
    with pytest.raises(FormatError, match="4 bytes stand between"):
        read_blocks(data, "f")


@pytest.mark.parametrize(
    ("data", "clause"),
    [
        (patched(14, struct.pack(">i", 0)), "LF-014"),
        (patched(14, struct.pack(">i", 2)), "LF-014"),
        (patched(18, struct.pack(">i", 2)), "LF-014"),
        (patched(18, struct.pack(">i", 7)), "LF-014"),
        (patched(18, struct.pack(">i", -1)), "LF-014"),
        (patched(22, struct.pack(">i", 2**31 - 1)), "LF-004"),
        (patched(22, struct.pack(">i", -1)), "LF-004"),
        (patched(26, struct.pack(">i", 9)), "LF-006"),
        (patched(30, struct.pack(">i", 2**31 - 1)), "LF-004"),
        (patched(34, b"\xff"), "LF-004"),
        (patched(51, struct.pack(">q", 4)), "LF-004"),
        (patched(51, struct.pack(">q", 2)), "LF-004"),
        (patched(51, struct.pack(">q", 2**62)), "LF-003"),
        (patched(51, struct.pack(">q", -1)), "LF-003"),
    ],
)
def test_a_whole_frame_around_a_wrong_inside_is_refused_with_its_place(data: bytes, clause: str):
    with pytest.raises(FormatError) as caught:
        read_blocks(data, "p/.f_1.log.1_0-0-0")
    error = caught.value
    assert (error.reason, error.clause) == (Reason.LOG_CONTENT_CORRUPT, clause)
    assert error.offset is not None
    assert str(error).startswith("LOG_CONTENT_CORRUPT in p/.f_1.log.1_0-0-0 at byte ")
