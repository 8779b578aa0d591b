"""hoodie.properties: Java's text form, the checksum, a writer that always gives the same bytes."""

import zlib
from typing import Any

import pytest
from hudi_format.errors import FormatError, Reason
from hudi_format.table.properties import check_checksum, parse_properties, serialise_properties, table_checksum
from hypothesis import given
from hypothesis import strategies as st


@given(st.dictionaries(st.text(st.characters(codec="utf-8")), st.text(st.characters(codec="utf-8")), max_size=6))
def test_what_is_written_is_read_back(properties: dict[str, str]):
    assert parse_properties(serialise_properties(properties, ["Updated at 2025"]), "f") == properties


@given(st.dictionaries(st.text(st.characters(codec="utf-8")), st.text(st.characters(codec="utf-8")), max_size=6))
def test_the_order_of_the_mapping_leaves_no_trace_in_the_bytes(properties: dict[str, str]):
    backwards = dict(reversed(properties.items()))
    assert serialise_properties(backwards) == serialise_properties(properties)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"a=b", {"a": "b"}),
        (b"a = b ", {"a": "b "}),
        (b"a:b", {"a": "b"}),
        (b"a b=c", {"a": "b=c"}),
        (b"  a\t=\tb", {"a": "b"}),
        (b"a", {"a": ""}),
        (b"=b", {"": "b"}),
        (b"a==b", {"a": "=b"}),
        (b"a\\=b=c", {"a=b": "c"}),
        (b"a\\ b c", {"a b": "c"}),
        (b"#x=1\n !y=2\nz=3", {"z": "3"}),
        (b"a=#b", {"a": "#b"}),
        (b"a=1\\\n   2\\\r\n\t3\nb=4", {"a": "123", "b": "4"}),
        (b"a=1\\\\\nb=2", {"a": "1\\", "b": "2"}),
        (b"a=1\\\n#2", {"a": "1#2"}),
        (b"a=1\\", {"a": "1"}),
        (b"\\\n\na=1", {"a": "1"}),
        (b"a=\\u00e9\\t\\q", {"a": "é\tq"}),
        (b"a=\\uD83D\\uDE00", {"a": "\U0001f600"}),
        (b"a=\xe9", {"a": "é"}),
        (b"a=1\ra=2\r\n\r\n", {"a": "2"}),
        (b"\x0ca=1", {"a": "1"}),
        (b"", {}),
    ],
)
def test_the_syntax_is_that_of_java(text: str, expected: Any):
    assert parse_properties(text, "f") == expected


def test_an_escaped_schema_is_written_as_java_writes_it():
    written = serialise_properties({"hoodie.table.create.schema": '{"type":"record"}', "p": " part:SIMPLE é"})
    assert written == b'hoodie.table.create.schema={"type"\\:"record"}\np=\\ part\\:SIMPLE \\u00E9\n'


@pytest.mark.parametrize("text", [b"x=1\na=\\u12", b"x=1\na=\\uzzzz", b"x=1\na=\\u 123", b"x=1\na=\\uD83D"])
def test_a_bad_unicode_escape_is_refused_with_its_place(text: str):
    with pytest.raises(FormatError) as caught:
        parse_properties(text, ".hoodie/hoodie.properties")
    assert (caught.value.reason, caught.value.offset) == (Reason.PROPERTIES_INVALID, 4)
    assert "hoodie.properties at byte 4" in str(caught.value)


def test_a_comment_cannot_smuggle_an_entry_into_the_file():
    assert parse_properties(serialise_properties({}, ["one\nevil=1"]), "f") == {}


def test_the_checksum_is_the_crc_of_database_and_table():
    assert table_checksum(None, "trips") == zlib.crc32(b".trips")
    assert table_checksum("", "trips") == table_checksum(None, "trips")
    assert table_checksum("db", "süd") == zlib.crc32("db.süd".encode())


def test_an_absent_checksum_is_accepted_and_a_wrong_one_refused():
    properties = {"hoodie.table.name": "trips"}
    check_checksum(properties, "f")
    check_checksum(properties | {"hoodie.table.checksum": str(zlib.crc32(b".trips"))}, "f")
    with pytest.raises(FormatError) as caught:
        check_checksum(properties | {"hoodie.table.checksum": "1"}, "f")
    assert caught.value.reason == Reason.CHECKSUM_MISMATCH


def test_a_huge_file_is_refused_before_it_is_parsed():
    with pytest.raises(FormatError) as caught:
        parse_properties(b"#" * (16 * 1024 * 1024 + 1), "f")
    assert caught.value.reason == Reason.LIMIT_EXCEEDED
