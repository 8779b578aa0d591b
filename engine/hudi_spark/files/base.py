"""Base files written from Arrow, and the change logs beside them."""

import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from hudi_format.avro.columnar import encode_framed_rows
from hudi_format.avro.schemas import schema_text
from hudi_format.base.bloom_filters import (
    bits_and_hashes,
    build_bloom_filter,
    build_simple_filter,
    encode_bloom_filter,
)
from hudi_format.base.files import AVRO_SCHEMA_KEY, BLOOM_FILTER_KEY, BLOOM_TYPE_KEY, MAXIMUM_KEY, MINIMUM_KEY
from hudi_format.log.blocks import BlockType, HeaderKey, block_parts
from hudi_format.log.changes import COLUMNS, LoggingMode, change_schema
from hudi_format.log.columnar import avro_content, parts_within
from hudi_format.names import LogFileName
from hudi_format.schemas import META_FIELDS, arrow_schema, with_meta_fields, without_meta_fields
from hudi_format.texts import utf16_range

from hudi_spark.concurrency import joined
from hudi_spark.errors import HudiError, Reason
from hudi_spark.files.written import Place
from hudi_spark.options import Options, refusal
from hudi_spark.read import TaskIdentity
from hudi_spark.schema import brought, one_chunk
from hudi_spark.table_state import PROPERTIES_FILE, TableConfiguration, flag

RECORD_KEY: Final = "_hoodie_record_key"
FILE_NAME: Final = "_hoodie_file_name"

# Few rows a group would cost more than they prune; many would not fit into memory beside each other.
_LEAST_ROWS, _MOST_ROWS = 10_000, 1_000_000
# Java counts them in 32 bits.
_MOST_BITS: Final = 2**31 - 1
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

    @classmethod
    def stated(cls, type_code: str, entries: str, error_rate: str, maximum: str) -> "BloomSettings":
        """Settings as options and definitions of indexes have them.

        Raises:
            HudiError: CONFIG_INVALID for what makes no filter, or one whose bits Apache Hudi cannot count.

        Clauses: BF-002, IX-011.

        """
        shown = f"{entries} keys, {maximum} at most, with a share of {error_rate} wrong answers"
        try:
            found = cls(type_code, int(entries), float(error_rate), int(maximum))
            bits, _ = bits_and_hashes(found.entries, found.error_rate)
        except (ArithmeticError, ValueError):
            bits = 0
        if not 0 < bits <= _MOST_BITS or not 0 < found.maximum <= _MOST_BITS:
            hint = "give the share between 0 and 1, and so many keys that 2,147,483,647 bits are enough for them"
            raise refusal(f"there is no bloom filter for {shown}", hint)
        return found


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


def base_file_form(
    avro: Mapping[str, Any], options: Options, *, drops: tuple[str, ...] = (), meta_fields: bool = True
) -> BaseFileForm:
    """The form that a write's options request; `avro` is the table's schema without meta fields.

    `meta_fields`: the table fills them; where it does not, no file has a filter, with rows or without.

    Raises:
        HudiError: CONFIG_INVALID for a bloom filter that cannot be made.

    Clauses: BF-001, BF-002, BF-003, DM-022.

    """
    kept = {**avro, "fields": [one for one in avro["fields"] if one["name"] not in drops]}
    bloom = BloomSettings.stated(
        options.text("hoodie.bloom.index.filter.type"),
        options.text("hoodie.index.bloom.num_entries"),
        options.text("hoodie.index.bloom.fpp"),
        options.text("hoodie.bloom.index.filter.dynamic.max.entries"),
    )
    return BaseFileForm(
        avro=with_meta_fields(kept),
        codec=options.text("hoodie.parquet.compression.codec"),
        group_bytes=options.number("hoodie.parquet.block.size"),
        page_bytes=options.number("hoodie.parquet.page.size"),
        most_bytes=options.number("hoodie.parquet.max.file.size"),
        dictionary=options.flag("hoodie.parquet.dictionary.enabled"),
        bloom=bloom if meta_fields and options.flag("hoodie.parquet.bloom.filter.enabled") else None,
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
        return brought(pa.Table.from_arrays(columns, names=self._schema.names), self._schema)


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
    if not _all_named(keys):
        return named
    ends = utf16_range(keys)
    if ends is not None:
        named |= {MINIMUM_KEY: ends[0], MAXIMUM_KEY: ends[1]}
    # A file without rows has a filter that holds no key.
    return named if form.bloom is None else {**named, **_bloom_keys(keys, form.bloom)}


def _all_named(keys: pa.ChunkedArray) -> bool:
    return not keys.null_count and not pc.any(pc.equal(pc.binary_length(keys), 0)).as_py()


def _bloom_keys(keys: pa.ChunkedArray, settings: BloomSettings) -> dict[str, str]:
    if settings.type_code == "SIMPLE":
        bloom = build_simple_filter(keys, settings.entries, settings.error_rate)
    else:
        bloom = build_bloom_filter(keys, settings.entries, settings.error_rate, settings.maximum)
    return {BLOOM_FILTER_KEY: encode_bloom_filter(bloom), BLOOM_TYPE_KEY: settings.type_code}


_ENABLED: Final = "hoodie.table.cdc.enabled"
_MODE: Final = "hoodie.table.cdc.supplemental.logging.mode"
_DEFAULT_MODE: Final = LoggingMode.DATA_BEFORE_AFTER


@dataclass(frozen=True, slots=True)
class ChangeForm:
    """How the change logs of a write look; `avro` is the schema of a change in the mode. Sizes are in bytes.

    Clauses: CD-008, CD-009.
    """

    mode: LoggingMode
    avro: Mapping[str, Any] = field(hash=False)
    block_bytes: int = 256 * 1024 * 1024
    file_bytes: int = 1024 * 1024 * 1024


def change_form(configuration: TableConfiguration, avro: Mapping[str, Any], options: Options) -> ChangeForm | None:
    """The form that a table requests, None where it logs no changes; `avro` is the table's schema.

    Raises:
        HudiError: PROPERTIES_INVALID for an unknown mode.

    Clauses: CD-008, CD-009.

    """
    if not flag(configuration.properties, _ENABLED, default=False):
        return None
    mode = _mode(configuration.properties.get(_MODE, "").strip().upper() or _DEFAULT_MODE)
    return ChangeForm(
        mode,
        _without_namespace_inside(change_schema(mode, without_meta_fields(avro))),
        options.number("hoodie.logfile.data.block.max.size"),
        options.number("hoodie.logfile.max.size"),
    )


def _without_namespace_inside(change: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of a change, in which the image has no namespace of its own, since it is that of the change."""
    fields = []
    for one in change["fields"]:
        branches = [
            {key: value for key, value in branch.items() if key != "namespace"} if isinstance(branch, dict) else branch
            for branch in one["type"]
        ]
        fields.append({**one, "type": branches})
    return {**change, "fields": fields}


def write_changes(  # noqa: PLR0917 - where the log stands, what is in it, who writes it
    place: Place, changes: pa.Table, partition: str, file_id: str, form: ChangeForm, identity: TaskIdentity
) -> dict[str, int]:
    """Changes as a log beside the group's base file, or as several where they are many: the size of each, by path.

    `changes`, one for each key: `op` (`i`, `u` or `d`), `record_key`, and the images `before` and `after`, structs of
    the table's columns that are null where there is no such row. What the mode leaves out need not be there.

    Raises:
        HudiError: WRITE_CONFLICT when a file is there already.

    Clauses: CD-008, CD-009, SL-005, MK-001, TL-020.

    """
    sizes: dict[str, int] = {}
    name = LogFileName(file_id, place.requested, 1, identity.write_token, cdc=True)
    for parts in _files(list(_blocks(changes, form, place.requested)), form.file_bytes):
        data = b"".join(parts)
        # A new file in every version of the table: whoever undoes the write has to delete it, not to append to it.
        place.announce(partition, str(name), "CREATE")
        place.effects.put_log_file(place.requested, partition, str(name), data)
        sizes[joined(partition, str(name))] = len(data)
        name = replace(name, version=name.version + 1)
    return sizes


def _blocks(changes: pa.Table, form: ChangeForm, instant: str) -> Iterator[list[Any]]:
    """Clauses: CD-009, LF-001."""
    framed = encode_framed_rows(_logged(changes, form, instant), form.avro)
    header = {HeaderKey.INSTANT_TIME: instant, HeaderKey.SCHEMA: schema_text(form.avro)}
    for start, count in parts_within(framed, form.block_bytes):
        yield block_parts(BlockType.CDC_DATA, header, avro_content(framed.slice(start, count)))


def _files(blocks: Sequence[list[Any]], most_bytes: int) -> Iterator[list[Any]]:
    """The parts of each file's blocks."""
    held: list[Any] = []
    for block in blocks:
        held += block
        if sum(memoryview(part).nbytes for part in held) > most_bytes:
            yield held
            held = []
    if held:
        yield held


def _logged(changes: pa.Table, form: ChangeForm, instant: str) -> pa.Table:
    """The columns of the mode."""
    schema = arrow_schema(form.avro)
    columns = []
    for name in COLUMNS[form.mode]:
        if name == "ts_ms":
            columns.append(pa.repeat(pa.scalar(instant), changes.num_rows))
        elif name in {"before", "after"}:
            columns.append(_image(one_chunk(changes.column(name)), schema.field(name).type))
        else:
            columns.append(changes.column(name))
    return pa.Table.from_arrays(columns, names=list(COLUMNS[form.mode]))


def _image(rows: pa.StructArray, kind: pa.StructType) -> pa.StructArray:
    """The columns of an image, found by name; null rows stay null."""
    # A null row has null columns, also those that may not be null in a row.
    fields = [one.with_nullable(True) for one in kind]
    columns = pa.table({one.name: pc.struct_field(rows, one.name) for one in fields})
    children = map(one_chunk, brought(columns, pa.schema(fields)).columns)
    return pa.StructArray.from_arrays(list(children), fields=fields, mask=pc.is_null(rows))


def _mode(text: str) -> LoggingMode:
    if text not in set(LoggingMode):
        message = f"{_MODE} {text!r} is none of {', '.join(LoggingMode)}"
        raise HudiError(Reason.PROPERTIES_INVALID, "CD-008", message, PROPERTIES_FILE, hint="restore the table's mode")
    return LoggingMode(text)
