"""Base files in HFile: key = record key, value = Avro binary by the schema in the file info, in the order of the keys.

The file info has the bounds of the keys and the type of the bloom filter, which is a meta block.
"""

import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import fastavro
import pyarrow as pa
import pyarrow.compute as pc

from hudi_format.avro.schemas import raw_reading_schema, record_schema, schema_text, writing_schema
from hudi_format.base.bloom_filters import TYPE_CODE, build_bloom_filter, encode_bloom_filter
from hudi_format.errors import DECODING_ERRORS, Reason, refusing
from hudi_format.hfile.blocks import Codec
from hudi_format.hfile.reader import HFile, open_stored_hfile
from hudi_format.hfile.writer import write_hfile
from hudi_format.schemas import arrow_schema
from hudi_format.storage import Storage
from hudi_format.texts import utf16_order

SCHEMA_KEY: Final = "schema"
BLOOM_BLOCK: Final = "bloomFilter"
BLOOM_TYPE_KEY: Final = "bloomFilterTypeCode"
MINIMUM_KEY: Final = "minRecordKey"
MAXIMUM_KEY: Final = "maxRecordKey"
_RECORD_KEY: Final = "_hoodie_record_key"
# The names of the same facts in the footer of a Parquet base file.
_FOOTER_NAMES: Final = {
    BLOOM_TYPE_KEY: "hoodie_bloom_filter_type_code",
    MINIMUM_KEY: "hoodie_min_record_key",
    MAXIMUM_KEY: "hoodie_max_record_key",
    SCHEMA_KEY: "parquet.avro.schema",
}
_BLOOM_NAME: Final = "org.apache.hudi.bloomfilter"


def read_hfile_base(
    storage: Storage,
    path: str,
    columns: Sequence[str] | None = None,
    row_filter: pc.Expression | None = None,
) -> pa.Table:
    """Rows of a base file in HFile that match, with the columns requested that it has, in the order asked.

    Raises:
        FormatError: BASE_FILE_MISSING, BASE_FILE_CORRUPT, LIMIT_EXCEEDED; SCHEMA_INCOMPATIBLE for a schema that Arrow
            cannot hold.
        UnsupportedFormat: base-hfile, for an HFile of another version; base-hfile-snappy and such for other packings.
        ValueError: the filter names a column that the file lacks.

    Clauses: BF-004, BF-010, BF-013.

    """
    opened = open_stored_hfile(storage, path)
    schema = _schema(opened)
    target = arrow_schema(schema, path)
    kept = list(target.names) if columns is None else [name for name in columns if name in target.names]
    needed = kept if row_filter is None else target.names
    records = list(_records(opened, schema))
    with refusing(Reason.BASE_FILE_CORRUPT, "BF-004", path, None, "a value does not fit its type"):
        arrays = [pa.array([one[name] for one in records], target.field(name).type) for name in needed]
        table = pa.Table.from_arrays(arrays, schema=pa.schema([target.field(name) for name in needed]))
        _refuse_impossible_times(table)
    if not needed:
        return pa.table({"": pa.nulls(len(records))}).select([])
    return table if row_filter is None else table.filter(row_filter).select(kept)


def hfile_base_footer(storage: Storage, path: str) -> tuple[dict[str, str], int, pa.Schema]:
    """The footer keys as a Parquet base file has them, the number of rows, and the columns.

    Raises:
        FormatError: BASE_FILE_MISSING, BASE_FILE_CORRUPT, LIMIT_EXCEEDED.
        UnsupportedFormat: as `read_hfile_base`.

    Clauses: BF-002, BF-004, BF-013.

    """
    opened = open_stored_hfile(storage, path)
    bloom = opened.meta_block(BLOOM_BLOCK)
    with refusing(Reason.BASE_FILE_CORRUPT, "BF-002", path, None, "the file info is no text"):
        keys = {_FOOTER_NAMES[name]: opened.info[name].decode() for name in _FOOTER_NAMES if name in opened.info}
        if bloom is not None:
            keys[_BLOOM_NAME] = bloom.decode()
    return keys, opened.trailer.entry_count, arrow_schema(_schema(opened), path)


def write_hfile_base(
    records: Iterable[Mapping[str, Any]],
    schema: Any,
    *,
    key_field: str = _RECORD_KEY,
    codec: Codec = Codec.GZIP,
) -> bytes:
    """A base file in HFile of records with the values that Avro has for the schema.

    Raises:
        ValueError: two records have one key.

    Clauses: BF-002, BF-003, BF-013.

    """
    text, writable = schema_text(schema), writing_schema(schema)
    entries = sorted((str(record[key_field]).encode(), _encode(record, writable)) for record in records)
    keys = [key.decode() for key, _ in entries]
    info = {SCHEMA_KEY: text.encode(), BLOOM_TYPE_KEY: TYPE_CODE.encode()}
    if keys:
        in_order = sorted(keys, key=utf16_order)
        info |= {MINIMUM_KEY: in_order[0].encode(), MAXIMUM_KEY: in_order[-1].encode()}
    bloom = build_bloom_filter(keys, max(len(keys), 1))
    return write_hfile(entries, info, {BLOOM_BLOCK: encode_bloom_filter(bloom).encode()}, codec=codec)


def _schema(opened: HFile) -> Mapping[str, Any]:
    text = opened.info.get(SCHEMA_KEY)
    if text is None:
        raise opened.origin.corrupt(0, "the file info of a base file has no schema")
    return record_schema(text, opened.origin.file, Reason.BASE_FILE_CORRUPT)


def _records(opened: HFile, schema: Mapping[str, Any]) -> Iterable[Any]:
    with refusing(Reason.BASE_FILE_CORRUPT, "BF-004", opened.origin.file, None, "the schema cannot be read by"):
        readable = raw_reading_schema(schema)
    for key, value in opened.entries():
        stream = io.BytesIO(value)
        try:
            record = fastavro.schemaless_reader(stream, readable, None)
        except DECODING_ERRORS as error:
            message = f"the record of the key {key[:80]!r} does not decode: {type(error).__name__} {error}"
            raise opened.origin.corrupt(0, message[:300]) from error
        if stream.tell() != len(value):
            message = f"the record of the key {key[:80]!r} has {len(value)} bytes and takes {stream.tell()}"
            raise opened.origin.corrupt(0, message)
        yield record


def _refuse_impossible_times(table: pa.Table) -> None:
    """Arrow keeps any number as a time of day; only those within a day are times."""
    for column in table.columns:
        if pa.types.is_time(column.type):
            numbers = column.cast(pa.int32() if pa.types.is_time32(column.type) else pa.int64()).cast(pa.int64())
            day = 86_400_000 if pa.types.is_time32(column.type) else 86_400_000_000
            inside = pc.and_(pc.greater_equal(numbers, 0), pc.less(numbers, day))
            if not pc.all(inside).as_py() and column.null_count < len(column):
                raise ValueError("a time of day is not within a day")


def _encode(record: Mapping[str, Any], schema: Any) -> bytes:
    stream = io.BytesIO()
    fastavro.schemaless_writer(stream, schema, record)
    return stream.getvalue()
