"""Base files: rows and the footer's keys by the file's extension, and a Parquet writer of reproducible bytes."""

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from hudi_format.avro.schemas import schema_text
from hudi_format.base.bloom_filters import TYPE_CODE, build_bloom_filter, encode_bloom_filter
from hudi_format.base.hfiles import hfile_base_footer, read_hfile_base
from hudi_format.base.orc import open_orc, orc_keys, orc_schema, read_orc_rows
from hudi_format.base.parquet_bytes import as_instants, columns_of, open_parquet, read_rows
from hudi_format.base.stored_file import open_stored
from hudi_format.errors import FormatError, Reason, UnsupportedFormat, base_file_missing, refusing
from hudi_format.storage import Storage
from hudi_format.texts import byte_texts, utf16_range

BLOOM_FILTER_KEY: Final = "org.apache.hudi.bloomfilter"
BLOOM_TYPE_KEY: Final = "hoodie_bloom_filter_type_code"
MINIMUM_KEY: Final = "hoodie_min_record_key"
MAXIMUM_KEY: Final = "hoodie_max_record_key"
AVRO_SCHEMA_KEY: Final = "parquet.avro.schema"
_RECORD_KEY: Final = "_hoodie_record_key"
_ORC: Final = ".orc"
_HFILE: Final = ".hfile"
# Of releases after 1.1.1, which the texts do not know.
_LANCE: Final = ".lance"


@dataclass(frozen=True, slots=True)
class Footer:
    """What the end of a base file says about it.

    Clauses: BF-002.
    """

    keys: Mapping[str, str] = field(hash=False)
    rows: int
    row_groups: int
    schema: pa.Schema


def read_base_file(
    storage: Storage,
    path: str,
    columns: Sequence[str] | None = None,
    filter: pc.Expression | None = None,  # noqa: A002 - the name the reader of a query looks for
) -> pa.Table:
    """Rows of a base file that match, with the columns requested that the file has, in the order asked.

    Row groups of Parquet whose statistics exclude a match are not read.

    Raises:
        FormatError: BASE_FILE_MISSING, or BASE_FILE_CORRUPT when the file does not parse.
        UnsupportedFormat: base-lance; base-hfile and what follows it, for an HFile of another version or packing.
        ValueError: the filter names a column that the file lacks.

    Clauses: BF-001, BF-004, BF-010, SL-021.

    """
    return read_chosen(storage, path, lambda _: (columns, filter))


Choice = tuple[Sequence[str] | None, pc.Expression | None]
"""The columns to read of a base file, all where it is None, and the filter."""


def read_chosen(storage: Storage, path: str, choose: Callable[[pa.Schema], Choice]) -> pa.Table:
    """As `read_base_file`: what is read is chosen by the columns of the file, which is opened once.

    Where no column is chosen, a column of no name keeps the number of rows.

    Raises:
        FormatError, UnsupportedFormat, ValueError: as `read_base_file`; and what `choose` raises.

    Clauses: BF-001, BF-004, BF-010, SL-021.

    """
    _refuse_unbuilt(path)
    if path.endswith(_HFILE):
        with _there(path):
            _, rows, schema = hfile_base_footer(storage, path)
            columns, expression = choose(schema)
            return _bare(rows) if columns == [] else read_hfile_base(storage, path, columns, expression)
    with _there(path), open_stored(storage, path) as source:
        if path.endswith(_ORC):
            tail = open_orc(source, path)
            columns, expression = choose(orc_schema(tail, path))
            return _bare(tail.nrows) if columns == [] else read_orc_rows(tail, path, columns, expression)
        opened = open_parquet(source, path, None, Reason.BASE_FILE_CORRUPT, "BF-004")
        schema = columns_of(opened)
        if not schema.names:
            raise FormatError(Reason.BASE_FILE_CORRUPT, "BF-004", path, None, "the file has no columns, and so no rows")
        columns, expression = choose(schema)
        if columns == []:
            return _bare(opened.metadata.num_rows)
        if expression is not None:
            schema.empty_table().filter(expression)
        source.seek(0)
        with refusing(Reason.BASE_FILE_CORRUPT, "BF-004", path, None, "the Parquet data does not decode"):
            return _with_valid_texts(read_rows(opened, source, columns, expression))


def _bare(rows: int) -> pa.Table:
    return pa.table({"": pa.nulls(rows)})


def _with_valid_texts(rows: pa.Table) -> pa.Table:
    """Rows whose texts are UTF-8: Arrow takes bytes of a page as they are, and whoever requests a value meets them."""
    for column in rows.columns:
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            column.validate(full=True)
    return rows


def base_file_footer(storage: Storage, path: str) -> Footer:
    """Footer keys, row counts and columns, without reading a row.

    Raises:
        FormatError: BASE_FILE_MISSING, or BASE_FILE_CORRUPT when the file does not parse.
        UnsupportedFormat: base-lance; base-hfile and what follows it, for an HFile of another version or packing.

    Clauses: BF-002, BF-004.

    """
    _refuse_unbuilt(path)
    if path.endswith(_HFILE):
        with _there(path):
            keys, rows, schema = hfile_base_footer(storage, path)
        return Footer(keys, rows, 1, schema)
    with _there(path), open_stored(storage, path) as source:
        if path.endswith(_ORC):
            tail = open_orc(source, path)
            return Footer(orc_keys(tail, path), tail.nrows, tail.nstripes, orc_schema(tail, path))
        opened = open_parquet(source, path, None, Reason.BASE_FILE_CORRUPT, "BF-004")
        with refusing(Reason.BASE_FILE_CORRUPT, "BF-002", path, None, "the footer's keys are no text"):
            pairs = (opened.metadata.metadata or {}).items()
            keys = {key.decode(): value.decode() for key, value in pairs}
            return Footer(keys, opened.metadata.num_rows, opened.metadata.num_row_groups, columns_of(opened))


def _refuse_unbuilt(path: str) -> None:
    if path.endswith(_LANCE):
        raise UnsupportedFormat("base-lance", path)


@dataclass(frozen=True, slots=True)
class BaseParquet:
    """A Parquet base file with its footer read; rows are read as they are requested.

    Clauses: BF-001, BF-004.
    """

    path: str
    _opened: pq.ParquetFile

    @property
    def metadata(self) -> pq.FileMetaData:
        """What the footer says of row groups and columns."""
        return self._opened.metadata

    @property
    def schema(self) -> pa.Schema:
        """The columns."""
        return columns_of(self._opened)

    def column(self, name: str) -> pa.ChunkedArray:
        """All values of a column.

        Raises:
            FormatError: BASE_FILE_MISSING, or BASE_FILE_CORRUPT when they do not decode.

        """
        with self._decoding():
            return _with_valid_texts(as_instants(self._opened, self._opened.read(columns=[name]))).column(name)

    def row_groups(self) -> Iterator[pa.Table]:
        """The rows, group by group.

        Raises:
            FormatError: as `column`.

        """
        for number in range(self.metadata.num_row_groups):
            with self._decoding():
                rows = _with_valid_texts(as_instants(self._opened, self._opened.read_row_group(number)))
            yield rows

    @contextmanager
    def _decoding(self) -> Iterator[None]:
        what = "the Parquet data does not decode"
        with _there(self.path), refusing(Reason.BASE_FILE_CORRUPT, "BF-004", self.path, None, what):
            yield


def open_base_parquet(storage: Storage, path: str) -> BaseParquet:
    """A Parquet base file with its footer read.

    Raises:
        FormatError: BASE_FILE_MISSING, or BASE_FILE_CORRUPT when the file does not parse.
        UnsupportedFormat: base-lance.

    Clauses: BF-001, BF-004, BF-010.

    """
    _refuse_unbuilt(path)
    with _there(path):
        opened = open_parquet(open_stored(storage, path), path, None, Reason.BASE_FILE_CORRUPT, "BF-004")
    return BaseParquet(path, opened)


def write_base_file(
    table: pa.Table,
    avro_schema: Mapping[str, Any] | str,
    *,
    bloom_entries: int | None = None,
    rows_a_group: int | None = None,
    extra_keys: Mapping[str, str] | None = None,
) -> bytes:
    """A Parquet base file, uncompressed, the meta columns as they stand in `table`.

    With record keys in `_hoodie_record_key` the footer holds their range and a bloom filter for `bloom_entries`
    keys (as many as there are when None; 0 leaves the filter out).

    Clauses: BF-001, BF-002, BF-003.
    """
    keys = {AVRO_SCHEMA_KEY: avro_schema if isinstance(avro_schema, str) else schema_text(avro_schema)}
    keys |= {"writer.model.name": "avro", **_key_footer(table, bloom_entries), **(extra_keys or {})}
    sink = io.BytesIO()
    with pq.ParquetWriter(sink, table.schema.remove_metadata(), compression="NONE", store_schema=False) as writer:
        writer.write_table(table.replace_schema_metadata(None), row_group_size=rows_a_group)
        writer.add_key_value_metadata(dict(sorted(keys.items())))
    return sink.getvalue()


def _key_footer(table: pa.Table, bloom_entries: int | None) -> dict[str, str]:
    """Clauses: BF-002, BF-003."""
    if _RECORD_KEY not in table.column_names:
        return {}
    record_keys = table.column(_RECORD_KEY)
    if record_keys.null_count or not byte_texts(record_keys).lengths().all():
        return {}
    footer = _key_range(record_keys)
    if bloom_entries == 0:
        return footer
    bloom = build_bloom_filter(record_keys, bloom_entries or max(table.num_rows, 1))
    return {BLOOM_FILTER_KEY: encode_bloom_filter(bloom), BLOOM_TYPE_KEY: TYPE_CODE, **footer}


def _key_range(record_keys: pa.ChunkedArray) -> dict[str, str]:
    ends = utf16_range(record_keys)
    return {} if ends is None else {MINIMUM_KEY: ends[0], MAXIMUM_KEY: ends[1]}


@contextmanager
def _there(path: str) -> Iterator[None]:
    """A base file that is not there, or goes while it is read, is missing, no matter who reads it.

    Clauses: RD-011.
    """
    try:
        yield
    except FileNotFoundError as error:
        raise base_file_missing(path) from error
