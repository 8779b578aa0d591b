"""Bytes made to hurt: few that become many, values that take for ever, nesting, and text that wants to be code."""

import gzip
import io
import json
import struct
import time
import zlib
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fuzz_inputs import Target
from fuzz_targets import TARGETS
from hudi_format import limits
from hudi_format.avro.files import read_container, write_container
from hudi_format.avro.schemas import parse_avro_schema
from hudi_format.base import parquet_bytes
from hudi_format.base.files import base_file_footer, read_base_file
from hudi_format.errors import FormatError, Reason
from hudi_format.hfile import reader
from hudi_format.hfile.blocks import Codec, Origin
from hudi_format.hfile.reader import open_hfile
from hudi_format.hfile.writer import write_hfile
from hudi_format.log.blocks import BlockType, HeaderKey, encode_block, read_blocks
from hudi_format.log.content import decode_arrow, decode_records
from hudi_format.storage import LocalStorage
from hudi_format.timeline.history import read_history_file

SECONDS = 5.0


def refused(use: Any, *arguments: object) -> FormatError:
    started = time.monotonic()
    with pytest.raises(FormatError) as caught:
        use(*arguments)
    assert time.monotonic() - started < SECONDS
    return caught.value


def long(value: int) -> bytes:
    return varint(value << 1)


def varint(value: int) -> bytes:
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*encoded, value))


def avro_block(schema: Any, record: bytes) -> Any:
    header = {HeaderKey.INSTANT_TIME: "20250101000000000", HeaderKey.SCHEMA: json.dumps(schema)}
    content = struct.pack(">iii", 3, 1, len(record)) + record
    (block,) = read_blocks(encode_block(BlockType.AVRO_DATA, header, content), "f")
    return block


def record_of(*fields: dict[str, Any]) -> dict[str, Any]:
    return {"type": "record", "name": "r", "fields": list(fields)}


DEEP = {
    "lists": b"[" * 100_000,
    "objects": b'{"a":' * 100_000,
    "arrays": b'{"type":"array","items":' * 5000 + b'"int"' + b"}" * 5000,
    "columns": b'{"schemas":[{"version_id":1,"type":"record","fields":[{"id":0,"name":"a","optional":true,"type":'
    + b'{"type":"array","element_id":1,"element_optional":true,"element":' * 5000
    + b'"int"'
    + b"}" * 5000
    + b"}]}]}",
    "a long number": b"9" * 1_000_000,
    "a long number inside": b'{"version":' + b"9" * 1_000_000 + b"}",
}


@pytest.mark.parametrize("data", DEEP.values(), ids=DEEP)
@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_nesting_and_length_end_in_an_answer_or_a_typed_error(target: Target, data: bytes):
    """No RecursionError, and no quadratic time."""
    started = time.monotonic()
    target.refuses_or_answers(data)
    assert time.monotonic() - started < SECONDS


class TestFewBytesThatBecomeMany:
    """Each is refused before what it requests is allocated."""

    @pytest.fixture(autouse=True)
    def lower_limits(self, monkeypatch: pytest.MonkeyPatch):
        """The allowance of any file is a mebibyte here and a gibibyte there: smaller bombs show the same."""
        for module in (parquet_bytes, reader):
            monkeypatch.setattr(module, "columns_limit", lambda size: limits.MEBIBYTE + 1100 * size)

    def test_rows_of_a_parquet_file(self, tmp_path: Path):
        sink = io.BytesIO()
        columns = {f"c{n}": pa.nulls(2_000_000, pa.int64()) for n in range(10)}
        pq.write_table(pa.table(columns), sink, compression="zstd", row_group_size=2_000_000)
        storage = LocalStorage(tmp_path)
        storage.put("a.parquet", sink.getvalue())
        assert refused(read_base_file, storage, "a.parquet").reason == Reason.LIMIT_EXCEEDED

    def test_columns_nested_deeper_than_python_calls(self, tmp_path: Path):
        kind = pa.int32()
        for _ in range(600):
            kind = pa.struct([("x", kind)])
        pq.write_table(pa.table({"a": [1], "deep": pa.nulls(1, kind)}), tmp_path / "a.parquet", store_schema=False)
        storage = LocalStorage(tmp_path)
        assert base_file_footer(storage, "a.parquet").schema.names == ["a", "deep"]
        assert read_base_file(storage, "a.parquet", ["a"]).to_pydict() == {"a": [1]}

    @pytest.mark.parametrize("above", [0, 1_500_000], ids=["small", "read in ranges"])
    def test_columns_nested_so_deep_that_arrow_ends_the_process(self, tmp_path: Path, above: int):
        root, inner, leaf = b"\x48\1r\x15\2\0", b"\x35\2\x18\1x\x15\2\0", b"\x15\2\x25\2\x18\1x\0"
        for depth, is_opened in ((900, True), (100_000, False)):
            columns = b"\x19\xfc" + varint(depth + 2) + root + inner * depth + leaf
            footer = b"\x15\2" + columns + b"\x16\0\x19\x0c\0"
            storage = LocalStorage(tmp_path)
            storage.put("a.parquet", b"PAR1" + bytes(above) + footer + struct.pack("<I", len(footer)) + b"PAR1")
            if is_opened:
                assert base_file_footer(storage, "a.parquet").schema.names == ["x"]
            else:
                assert refused(base_file_footer, storage, "a.parquet").reason == Reason.LIMIT_EXCEEDED

    def test_rows_that_become_python_values(self):
        sink = io.BytesIO()
        pq.write_table(pa.table({"a": pa.nulls(4_000_000, pa.int64())}), sink)
        assert refused(read_history_file, sink.getvalue(), "f").reason == Reason.LIMIT_EXCEEDED

    def test_pages_of_a_parquet_file(self, tmp_path: Path):
        sink = io.BytesIO()
        text = pa.array(["x" * 1_000_000] * 12)
        pq.write_table(pa.table({"a": text}), sink, compression="zstd", use_dictionary=False)
        storage = LocalStorage(tmp_path)
        storage.put("a.parquet", sink.getvalue())
        assert refused(read_base_file, storage, "a.parquet").reason == Reason.LIMIT_EXCEEDED

    def test_a_packed_block_of_a_container(self):
        schema = record_of({"name": "a", "type": "string"})
        plain = write_container(schema, [{"a": ""}])
        codec = b"\x02\x14avro.codec" + long(7) + b"deflate"
        packer = zlib.compressobj(9, zlib.DEFLATED, -15)
        packed = packer.compress(b"\0" * 100_000_000) + packer.flush()
        head, sync = plain[: plain.index(b"\0hudi-conformance")], b"hudi-conformance"
        data = head + codec + b"\0" + sync + long(1) + long(len(packed)) + packed + sync
        assert len(data) < 100_000 + 1000
        assert refused(read_container, data, "f").reason == Reason.LIMIT_EXCEEDED

    def test_packed_blocks_of_an_hfile(self, monkeypatch: pytest.MonkeyPatch):
        data = write_hfile([(f"k{n:04}".encode(), bytes(1_000_000)) for n in range(8)], codec=Codec.GZIP)
        assert sum(1 for _ in open_hfile(data, Origin("f")).entries()) == 8
        monkeypatch.setattr(reader, "columns_limit", lambda size: limits.MEBIBYTE + 64 * size)
        error = refused(lambda: list(open_hfile(data, Origin("f")).entries()))
        assert error.reason == Reason.LIMIT_EXCEEDED

    def test_a_decimal_of_a_megabyte(self):
        """Its digits would take minutes to compute."""
        decimal = {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}
        block = avro_block(record_of({"name": "d", "type": decimal}), long(10**6) + b"\x55" * 10**6)
        for decode in (decode_records, decode_arrow):
            assert refused(decode, block, "f").reason == Reason.LOG_CONTENT_CORRUPT

    def test_a_decimal_of_more_digits_than_its_type_is_not_rounded(self):
        decimal = {"type": "bytes", "logicalType": "decimal", "precision": 2, "scale": 0}
        block = avro_block(record_of({"name": "d", "type": decimal}), long(3) + (123_456).to_bytes(3, "big"))
        assert int(decode_records(block, "f")[0]["d"]) == 123_456
        assert refused(decode_arrow, block, "f").reason == Reason.LOG_CONTENT_CORRUPT

    @pytest.mark.parametrize(
        "schema",
        [
            record_of(*({"name": f"n{n}", "type": "null"} for n in range(1000))),
            record_of({"name": "a", "type": {"type": "array", "items": "null"}}),
            record_of({"name": "a", "type": {"type": "array", "items": record_of()}}),
            record_of({"name": "a", "type": "r"}),
        ],
        ids=["nulls", "an array of nulls", "an array of nothing", "itself"],
    )
    def test_types_that_take_no_bytes(self, schema: Any):
        refused(parse_avro_schema, json.dumps(schema), "f")

    def test_lengths_that_are_not_there(self):
        block = avro_block(record_of({"name": "a", "type": "string"}), long(2**40) + b"a")
        assert refused(decode_records, block, "f").reason == Reason.LOG_CONTENT_CORRUPT
        lists = avro_block(record_of({"name": "a", "type": {"type": "array", "items": "int"}}), long(2**40) + b"\2")
        assert refused(decode_records, lists, "f").reason == Reason.LOG_CONTENT_CORRUPT


class TestNothingRuns:
    """Content is data: classes, pickles and names in it are never looked up."""

    PICKLE = b"cposix\nsystem\n(S'touch %s'\ntR."

    @pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
    def test_a_pickle(self, target: Target, tmp_path: Path):
        target.refuses_or_answers(self.PICKLE % str(tmp_path / "ran").encode())
        target.refuses_or_answers(gzip.compress(self.PICKLE % str(tmp_path / "ran").encode()))
        assert not list(tmp_path.iterdir())

    def test_classes_named_in_a_schema(self):
        schema = record_of(
            {"name": "a", "type": {"type": "string", "java-class": "java.lang.ProcessBuilder"}},
            {"name": "b", "type": {"type": "int", "logicalType": "__import__('os').abort()"}},
        )
        block = avro_block(schema, long(1) + b"x" + b"\2")
        assert decode_records(block, "f") == [{"a": "x", "b": 1}]
        assert decode_arrow(block, "f").column("a").to_pylist() == ["x"]

    def test_extension_types_and_pandas_of_a_parquet_file(self, tmp_path: Path):
        """What Arrow and pandas left in a footer names classes of Python; they stay text."""
        field = pa.field("a", pa.binary(), metadata={"ARROW:extension:name": "arrow.py_extension_type"})
        field = field.with_metadata({**(field.metadata or {}), "ARROW:extension:metadata": self.PICKLE})
        schema = pa.schema([field], metadata={"pandas": '{"index_columns": ["__import__"], "columns": []}'})
        pq.write_table(pa.table([pa.array([b"x"])], schema=schema), tmp_path / "a.parquet")
        table = read_base_file(LocalStorage(tmp_path), "a.parquet")
        assert table.column("a").type == pa.binary()
        assert [path.name for path in tmp_path.iterdir()] == ["a.parquet"]
