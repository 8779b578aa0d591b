"""Base files written from Arrow: Parquet, row group by row group, with the footer that Hudi's readers look at."""

import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from hudi_format.avro.schemas import schema_text
from hudi_format.base.bloom_filters import build_bloom_filter, build_simple_filter, encode_bloom_filter
from hudi_format.base.files import AVRO_SCHEMA_KEY, BLOOM_FILTER_KEY, BLOOM_TYPE_KEY, MAXIMUM_KEY, MINIMUM_KEY
from hudi_format.schemas import META_FIELDS, arrow_schema, with_meta_fields
from hudi_format.texts import utf16_range

from hudi_spark.options.resolving import Options

RECORD_KEY: Final = "_hoodie_record_key"
FILE_NAME: Final = "_hoodie_file_name"

# Few rows a group would cost more than they prune; many would not fit into memory beside each other.
_LEAST_ROWS, _MOST_ROWS = 10_000, 1_000_000
_CODECS: Final[Mapping[str, str]] = {"uncompressed": "NONE", "gzip": "GZIP", "snappy": "SNAPPY", "zstd": "ZSTD"}
_LEVELS: Final[Mapping[str, int]] = {"gzip": 6, "zstd": 1}


@dataclass(frozen=True, slots=True)
class BloomSettings:
    """How the filter of a file's record keys is made.

    Clauses: BF-002, IX-011.
    """

    type_code: str
    entries: int
    error_rate: float
    maximum: int


@dataclass(frozen=True, slots=True)
class BaseFileForm:
    """How the base files of a write look.

    `avro`: the columns, meta fields first. `drops`: columns that only the folders' names hold.
    Sizes are in bytes; a file is closed once it reaches `most_bytes`.

    Clauses: BF-001, BF-002, BF-003, DM-022.
    """

    avro: Mapping[str, Any] = field(hash=False)
    codec: str
    group_bytes: int
    page_bytes: int
    most_bytes: int
    dictionary: bool
    bloom: BloomSettings | None

    @property
    def schema(self) -> pa.Schema:
        """The columns as Arrow has them."""
        return arrow_schema(self.avro)


def base_file_form(avro: Mapping[str, Any], options: Options, *, drops: tuple[str, ...] = ()) -> BaseFileForm:
    """The form that a write's options ask for; `avro` is the table's schema without meta fields.

    Clauses: BF-001, BF-002, DM-022.
    """
    kept = {**avro, "fields": [one for one in avro["fields"] if one["name"] not in drops]}
    bloom = BloomSettings(
        options.text("hoodie.bloom.index.filter.type"),
        options.number("hoodie.index.bloom.num_entries"),
        float(options.text("hoodie.index.bloom.fpp")),
        options.number("hoodie.bloom.index.filter.dynamic.max.entries"),
    )
    return BaseFileForm(
        avro=with_meta_fields(kept),
        codec=options.text("hoodie.parquet.compression.codec"),
        group_bytes=options.number("hoodie.parquet.block.size"),
        page_bytes=options.number("hoodie.parquet.page.size"),
        most_bytes=options.number("hoodie.parquet.max.file.size"),
        dictionary=options.flag("hoodie.parquet.dictionary.enabled"),
        bloom=bloom if options.flag("hoodie.parquet.bloom.filter.enabled") else None,
    )


@dataclass(frozen=True, slots=True)
class BaseFileBytes:
    """A base file that is made and not yet stored."""

    data: bytes
    rows: int
    metadata: pq.FileMetaData

    def column(self, name: str) -> pa.ChunkedArray:
        """The values of a column."""
        return pq.read_table(pa.BufferReader(self.data), columns=[name]).column(name)


def base_file(rows: pa.Table, file_name: str, form: BaseFileForm) -> BaseFileBytes:
    """All rows as one file, whatever its size.

    Clauses: BF-001, BF-002.
    """
    return _Open(file_name, form).finished(rows, rows.num_rows)


def rolled_base_file(rows: pa.Table, file_name: str, form: BaseFileForm) -> tuple[BaseFileBytes, pa.Table]:
    """A file of as many rows, in order, as fit; and the rows that are left for the next.

    Clauses: BF-001, BF-002.
    """
    opened = _Open(file_name, form)
    return (found := opened.finished(rows, None)), rows.slice(found.rows)


class _Open:
    """A Parquet file in memory while it grows."""

    def __init__(self, file_name: str, form: BaseFileForm) -> None:
        self._form = form
        self._schema = form.schema
        self._file_name = file_name
        self._sink = io.BytesIO()

    def finished(self, rows: pa.Table, count: int | None) -> BaseFileBytes:
        """The file of the first `count` rows; of as many as fit when that is None."""
        written = 0
        with pq.ParquetWriter(self._sink, self._schema, **_writer_options(self._form)) as writer:
            for group in self._groups(rows):
                writer.write_table(group, row_group_size=max(group.num_rows, 1))
                written += group.num_rows
                if count is None and self._sink.tell() >= self._form.most_bytes:
                    break
            writer.add_key_value_metadata(_footer_keys(rows.slice(0, written), self._form))
        data = self._sink.getvalue()
        return BaseFileBytes(data, written, pq.read_metadata(pa.BufferReader(data)))

    def _groups(self, rows: pa.Table) -> Iterator[pa.Table]:
        a_row = max(rows.nbytes // max(rows.num_rows, 1), 1)
        size = min(max(self._form.group_bytes // a_row, _LEAST_ROWS), _MOST_ROWS)
        for start in range(0, max(rows.num_rows, 1), size):
            yield self._stored(rows.slice(start, size))

    def _stored(self, rows: pa.Table) -> pa.Table:
        """The rows in the file's columns, each with the file's name where there are meta fields."""
        columns = []
        for one in self._schema:
            if one.name == FILE_NAME:
                columns.append(_constant(self._file_name, rows.num_rows))
            else:
                columns.append(rows.column(one.name))
        return pa.Table.from_arrays(columns, names=self._schema.names).cast(self._schema)


def empty_meta_fields(rows: pa.Table) -> pa.Table:
    """The same rows with empty meta fields, as files of tables without them have.

    Clauses: MF-014, DM-002.
    """
    for name in META_FIELDS:
        rows = rows.set_column(rows.column_names.index(name), name, [_constant("", rows.num_rows)])
    return rows


def _constant(text: str, rows: int) -> pa.Array:
    return pa.repeat(pa.scalar(text), rows)


def packing(codec: str) -> tuple[str, int | None]:
    """The name and the level by which Arrow knows a codec of Hudi's."""
    name = codec.lower()
    return _CODECS.get(name, name.upper()), _LEVELS.get(name)


def _writer_options(form: BaseFileForm) -> dict[str, Any]:
    compression, level = packing(form.codec)
    return {
        "compression": compression,
        "compression_level": level,
        "data_page_size": form.page_bytes,
        "use_dictionary": form.dictionary,
        "store_schema": False,
    }


def _footer_keys(rows: pa.Table, form: BaseFileForm) -> dict[str, str]:
    """Clauses: BF-002, BF-003."""
    named = {AVRO_SCHEMA_KEY: schema_text(form.avro), "writer.model.name": "avro"}
    keys = rows.column(RECORD_KEY)
    ends = utf16_range(keys) if _all_named(keys) else None
    if ends is None:
        return named
    named |= {MINIMUM_KEY: ends[0], MAXIMUM_KEY: ends[1]}
    return named if form.bloom is None else {**named, **_bloom_keys(keys, form.bloom)}


def _all_named(keys: pa.ChunkedArray) -> bool:
    return not keys.null_count and not pc.any(pc.equal(pc.binary_length(keys), 0)).as_py()


def _bloom_keys(keys: pa.ChunkedArray, settings: BloomSettings) -> dict[str, str]:
    if settings.type_code == "SIMPLE":
        bloom = build_simple_filter(keys, settings.entries, settings.error_rate)
    else:
        bloom = build_bloom_filter(keys, settings.entries, settings.error_rate, settings.maximum)
    return {BLOOM_FILTER_KEY: encode_bloom_filter(bloom), BLOOM_TYPE_KEY: settings.type_code}
