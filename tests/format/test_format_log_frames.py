"""Blocks of a log file without their content: as they are when the whole file is read, however it is damaged."""

from dataclasses import replace
from pathlib import Path

import pytest
from hudi_format.errors import FormatError
from hudi_format.log import frames
from hudi_format.log.blocks import BlockType, CorruptBlock, HeaderKey, RawBlock, encode_block, read_blocks
from hudi_format.log.frames import read_frames
from hudi_format.storage import LocalStorage
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

NAME = "a.log"
headers = st.dictionaries(st.sampled_from(list(HeaderKey)), st.text(max_size=30), max_size=4)
kinds = st.sampled_from([one for one in BlockType if one is not BlockType.CORRUPT])
blocks = st.builds(encode_block, kinds, headers, st.binary(max_size=300))
damages = st.lists(st.tuples(st.integers(0, 2000), st.integers(0, 255)), max_size=3)


def outcome(read: object) -> object:
    try:
        return read()  # type: ignore[operator]
    except FormatError as error:
        return error.clause, error.offset


def bare(found: object) -> object:
    return tuple(replace(one, content=b"") if isinstance(one, RawBlock) else one for one in found)  # type: ignore[attr-defined]


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(blocks, max_size=4), damages, st.integers(0, 40))
def test_frames_are_those_of_the_whole_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, parts: list[bytes], spoilt: list[tuple[int, int]], lost: int
) -> None:
    """Also where bytes were changed or cut off; the content alone is left out, and only of large files."""
    monkeypatch.setattr(frames, "_HEAD", 200)
    data = bytearray(b"".join(parts))
    for place, value in spoilt:
        if place < len(data):
            data[place] = value
    data = data[: len(data) - lost] if lost > 20 else data
    (tmp_path / NAME).write_bytes(data)

    found = outcome(lambda: read_frames(LocalStorage(tmp_path), NAME, len(data), whole_to=0))
    whole = outcome(lambda: read_blocks(bytes(data), NAME))

    assert found == whole or bare(found) == bare(whole)


def test_of_a_large_file_only_frames_and_headers_are_read(tmp_path: Path) -> None:
    """Two blocks of a megabyte: what is read of them fits into a tenth."""
    data = b"".join(encode_block(BlockType.AVRO_DATA, {HeaderKey.SCHEMA: "x" * 5000}, b"y" * 2**20) for _ in range(2))
    (tmp_path / NAME).write_bytes(data)
    read = 0

    class Counting(LocalStorage):
        def read_range(self, path: str, offset: int, length: int) -> bytes:
            nonlocal read
            found = super().read_range(path, offset, length)
            read += len(found)
            return found

        def read(self, path: str) -> bytes:
            raise AssertionError(path)

    found = read_frames(Counting(tmp_path), NAME, len(data))
    assert bare(read_blocks(data, NAME)) == found
    assert not any(isinstance(one, CorruptBlock) for one in found)
    assert read < len(data) / 10
