"""Native logs: what the footer says is read back; what is torn, of a later format or without schema is refused."""

import pyarrow as pa
import pytest
from hudi_format.errors import FormatError, UnsupportedFormat
from hudi_format.log.blocks import BlockType, HeaderKey
from hudi_format.log.native import RECORD_KEY, native_changes, native_deletes, read_native_log, write_native_log
from hudi_format.names import NativeLogName
from hypothesis import given
from hypothesis import strategies as st

NAME = NativeLogName("f", "0-1-0", "20250101000000000", 1, "log", "parquet")
HEADER = {HeaderKey.SCHEMA: '{"type": "record"}', HeaderKey.INSTANT_TIME: "20250101000000001"}
ROWS = pa.table({RECORD_KEY: ["a", "b"], "ts": pa.array([1, None], pa.int64())})


@given(st.dictionaries(st.sampled_from(HeaderKey), st.text(st.characters(codec="utf-8", exclude_characters="\0"))))
def test_what_the_footer_says_is_read_back(header: dict[HeaderKey, str]):
    stated = {**HEADER, **header}
    found = read_native_log(write_native_log(ROWS, stated), NAME, "f")
    assert found.header == stated
    assert found.type is BlockType.PARQUET_DATA


def test_the_instant_is_that_of_the_name_where_the_footer_has_none():
    data = write_native_log(ROWS, {HeaderKey.SCHEMA: "{}"})
    assert read_native_log(data, NAME, "f").header[HeaderKey.INSTANT_TIME] == NAME.instant


@given(st.integers(0, 400))
def test_a_torn_log_is_refused(kept: int):
    data = write_native_log(ROWS, HEADER)
    with pytest.raises(FormatError) as refused:
        read_native_log(data[: min(kept, len(data) - 1)], NAME, "f")
    assert (refused.value.reason, refused.value.clause) == ("LOG_CONTENT_CORRUPT", "NL-007")


@pytest.mark.parametrize("version", [b"3", b"x"])
def test_a_later_format_is_refused(version: bytes):
    data = write_native_log(ROWS, HEADER)
    key = b"hudi.log.format.VERSION\x18\x01"
    with pytest.raises(FormatError) as refused:
        read_native_log(data.replace(key + b"2", key + version), NAME, "f")
    assert refused.value.clause == "NL-008"


def test_another_format_is_not_read():
    with pytest.raises(UnsupportedFormat):
        read_native_log(b"", NativeLogName("f", "0-1-0", "1", 1, "log", "lance"), "f")


def test_deletes_have_a_key_and_every_ordering_field():
    found = read_native_log(write_native_log(ROWS, HEADER), NAME, "f")
    assert native_deletes(found, ("ts",), "f").column_names == [RECORD_KEY, "ts"]
    with pytest.raises(FormatError, match="no column fare"):
        native_deletes(found, ("ts", "fare"), "f")
    keyless = pa.table({RECORD_KEY: pa.array([None], pa.string())})
    with pytest.raises(FormatError, match="names no key"):
        native_deletes(read_native_log(write_native_log(keyless, HEADER), NAME, "f"), (), "f")


def test_changes_have_the_fields_of_a_mode():
    other = read_native_log(write_native_log(ROWS, HEADER), NAME, "f")
    with pytest.raises(FormatError):
        native_changes(other, "f")
    changes = pa.table({"op": ["i"], "record_key": ["a"]})
    assert native_changes(read_native_log(write_native_log(changes, HEADER), NAME, "f"), "f").num_rows == 1
