"""The log files of a write: data blocks and delete blocks, appended beside a base file."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from hudi_format.avro.columnar import encode_framed_rows, encode_rows
from hudi_format.avro.schemas import schema_text
from hudi_format.log.blocks import BlockType, HeaderKey, block_parts
from hudi_format.log.columnar import OrderingColumn, avro_content, delete_content, hfile_content, parts_within
from hudi_format.log.headers import PARTIAL, compacted_block_times_text, record_positions_text
from hudi_format.log.parquet_blocks import parquet_content
from hudi_format.names import BaseFileName, LogFileName, parse_data_file_name
from hudi_format.schemas import META_FIELDS, arrow_schema, with_meta_fields
from hudi_format.storage import Storage
from hudi_format.timeline.commit_metadata import RuntimeStats, WriteStat
from pyarrow import types as kinds

from hudi_spark.concurrency import joined
from hudi_spark.errors import HudiError, Reason, UnsupportedFeature
from hudi_spark.files.base import packing
from hudi_spark.files.written import Place
from hudi_spark.merge import MergeRule, column_of, field_values, flagged_deletes, marked_deletes
from hudi_spark.options import Options, is_non_blocking
from hudi_spark.read import TaskIdentity
from hudi_spark.schema import brought, one_chunk
from hudi_spark.table_state import (
    FileSlice,
    GroupId,
    TableConfiguration,
    Timeline,
    file_name_of,
    flag,
    pending_compactions,
)

_BLOCK_TYPES: Final[Mapping[str, BlockType]] = {
    "avro": BlockType.AVRO_DATA,
    "parquet": BlockType.PARQUET_DATA,
    "hfile": BlockType.HFILE_DATA,
}


@dataclass(frozen=True, slots=True)
class LogForm:
    """How the log files of a write look.

    `avro`: the columns that records have, meta fields first. `ordering`: the ordering fields of the table.
    `rule` says which rows delete. `positions`: blocks name the rows of the base file that they change.
    `partial`: records hold these columns only, and leave the others as they are.
    `tells_slice`: stats name the slice that a log belongs to, which readers of changes go back to.
    `opened`: the slices that pending compactions opened, by partition and file id: their instants.
    `shares_groups`: another writer may begin the same file group meanwhile.
    Sizes are in bytes: a block keeps within its size, a file is closed once it exceeds its own.

    Clauses: LF-007, LF-022, LF-023, LF-025, LF-026, LF-027.
    """

    avro: Mapping[str, Any] = field(hash=False)
    table_version: int
    has_completion_times: bool
    meta_fields: bool
    ordering: tuple[str, ...]
    rule: MergeRule
    block_type: BlockType = BlockType.AVRO_DATA
    codec: str = "gzip"
    block_bytes: int = 256 * 1024 * 1024
    file_bytes: int = 1024 * 1024 * 1024
    positions: bool = True
    partial: bool = False
    names_slice: bool = False
    opened: Mapping[GroupId, str] = field(default_factory=dict, hash=False)
    shares_groups: bool = False


def log_form(
    configuration: TableConfiguration,
    avro: Mapping[str, Any],
    options: Options,
    rule: MergeRule,
    *,
    missing: frozenset[str] = frozenset(),
    opened: Mapping[GroupId, str] | None = None,
) -> LogForm:
    """The form that a table and a write's options request; `avro` is the table's schema without meta fields.

    Columns that base files leave to the folders' names stay in logs: readers of version 6 look nowhere else.
    `missing`: columns that partial updates leave out.
    `opened`: what `opened_slices` gives; without it a log may belong to a slice that a compaction is about to replace.

    Clauses: LF-007, LF-022, LF-023, LF-025, DM-022.
    """
    kept = {**avro, "fields": [one for one in avro["fields"] if one["name"] not in missing]}
    return LogForm(
        avro=with_meta_fields(kept),
        table_version=configuration.version,
        has_completion_times=configuration.has_completion_times,
        meta_fields=configuration.populates_meta_fields,
        ordering=configuration.ordering,
        rule=rule,
        block_type=_block_type(configuration, options),
        codec=options.text("hoodie.parquet.compression.codec"),
        block_bytes=options.number("hoodie.logfile.data.block.max.size"),
        file_bytes=options.number("hoodie.logfile.max.size"),
        positions=configuration.has_completion_times and options.flag("hoodie.write.record.positions"),
        partial=bool(missing),
        names_slice=not configuration.has_completion_times
        or flag(configuration.properties, "hoodie.table.cdc.enabled", default=False),
        opened=opened or {},
        shares_groups=is_non_blocking(options),
    )


def opened_slices(storage: Storage, timeline: Timeline) -> dict[GroupId, str]:
    """The newest pending compaction of each file group that has one: what is logged from now on belongs to its slice.

    Raises:
        FormatError: TIMELINE_FILE_CORRUPT when a plan does not parse; PATH_ESCAPES_TABLE.

    Clauses: RD-008, SL-007.

    """
    return {group: max(instants) for group, instants in pending_compactions(storage, timeline).items()}


def _block_type(configuration: TableConfiguration, options: Options) -> BlockType:
    """That which was requested; else HFile beside base files of that format, and Avro."""
    configured = options.text("hoodie.logfile.data.block.format").lower()
    if not configured:
        base = configuration.properties.get("hoodie.table.base.file.format", "").strip().lower()
        configured = "hfile" if base == "hfile" else "avro"
    return _BLOCK_TYPES[configured]


@dataclass(frozen=True, slots=True)
class LogGroup:
    """The file group that a log file is for, and what its newest slice holds: names of files, without folders.

    `compacted`: the instants whose blocks the new ones stand for, in a log compaction.

    Clauses: SL-003, SL-005, RD-004.
    """

    partition: str
    file_id: str
    base_instant: str | None = None
    base_file: str | None = None
    log_files: tuple[str, ...] = ()
    compacted: tuple[str, ...] = ()

    @classmethod
    def of(cls, one: FileSlice) -> "LogGroup":
        """The group of a slice."""
        logs = tuple(file_name_of(path) for path in one.log_files)
        base = None if one.base_file is None else file_name_of(one.base_file)
        return cls(one.partition, one.file_id, one.base_instant, base, logs)

    @property
    def is_new(self) -> bool:
        """Whether no slice of it is there yet; what is compacted is there, though its plan may name no instant."""
        return self.base_instant is None and not self.compacted

    @property
    def file_instant(self) -> str | None:
        """The instant of the base file; that of the slice is another where a compaction is pending."""
        name = None if self.base_file is None else parse_data_file_name(self.base_file)
        return name.instant if isinstance(name, BaseFileName) else None

    def slice_instant(self, form: LogForm) -> str | None:
        """The base instant of the slice that logs belong to now.

        Clauses: RD-006, RD-008.
        """
        return form.opened.get((self.partition, self.file_id), self.base_instant)

    def file_of_slice(self, form: LogForm) -> str | None:
        """The name of the slice's base file; a slice that a pending compaction opened has none."""
        return self.base_file if self.file_instant == self.slice_instant(form) else None

    def logs_of_slice(self, form: LogForm) -> tuple[LogFileName, ...]:
        """The logs of the slice, newest first; in version 6 they bear its instant.

        Clauses: RD-006.
        """
        names = [parse_data_file_name(log) for log in self.log_files]
        logs = [one for one in names if isinstance(one, LogFileName) and not one.cdc]
        if not form.has_completion_times:
            logs = [one for one in logs if one.instant == self.slice_instant(form)]
        return tuple(sorted(logs, key=lambda one: (one.instant, one.version, one.write_token or ""), reverse=True))

    def first_name(self, form: LogForm, instant: str, write_token: str) -> LogFileName:
        """The name of the first log file of a write.

        From table version 8 on it bears the write's instant; before, that of the slice, and the next version there.

        Clauses: SL-005, SL-025, RD-006, RD-008.
        """
        if form.has_completion_times:
            return LogFileName(self.file_id, instant, 1, write_token)
        newest = max((one.version for one in self.logs_of_slice(form)), default=0)
        return LogFileName(self.file_id, self.slice_instant(form) or instant, newest + 1, write_token)


_FIRST_VERSION_WITH_DAYS: Final = 8
# What the wrapper of decimals keeps behind the point, and the types that have room for it.
_DECIMAL_SCALE: Final = 15
_WIDE, _WIDEST = pa.decimal128(38, _DECIMAL_SCALE), pa.decimal256(76, _DECIMAL_SCALE)
_WRAPPERS: Final = (
    (kinds.is_boolean, "Boolean", pa.bool_()),
    (kinds.is_int64, "Long", pa.int64()),
    (kinds.is_integer, "Int", pa.int32()),
    (kinds.is_float64, "Double", pa.float64()),
    (kinds.is_floating, "Float", pa.float32()),
    (kinds.is_string, "String", pa.string()),
    (kinds.is_binary, "Bytes", pa.binary()),
    (kinds.is_timestamp, "Long", pa.int64()),
    (kinds.is_time64, "Long", pa.int64()),
    (kinds.is_time32, "Int", pa.int32()),
)


def deletes_content(
    keys: pa.ChunkedArray, natural: pa.ChunkedArray, partition: str, ordering: Sequence[OrderingColumn]
) -> list[Any]:
    """The content of a delete block for keys.

    `natural`: for each key whether it goes without an ordering value, whatever `ordering` has for it.

    Clauses: LF-008, LF-017, MG-005.
    """
    competes = pc.invert(one_chunk(natural))
    for _, column in ordering:
        competes = pc.and_(competes, pc.is_valid(one_chunk(column)))
    values = [(name, pc.if_else(competes, column, pa.scalar(None, column.type))) for name, column in ordering]
    return delete_content(one_chunk(keys), partition, values)


def ordering_wrappers(rows: pa.Table, names: Sequence[str], table_version: int) -> list[OrderingColumn]:
    """For each ordering field the wrapper in which deletes hold its values, and the values; none where one is missing.

    Moments are numbers of their own unit; days are numbers, too, but before table version 8.

    Raises:
        HudiError: SCHEMA_INCOMPATIBLE for a decimal with more digits than the wrapper keeps.
        UnsupportedFeature: ordering-type, for a field that is no simple value.

    Clauses: LF-008, LF-017, MG-003, MG-007.

    """
    if any(column_of(name, rows.schema) is None for name in names):
        return []
    return [_wrapped(name, one_chunk(field_values(rows, name)), table_version) for name in names]


def _wrapped(name: str, values: pa.Array, table_version: int) -> OrderingColumn:
    kind = values.type
    if kinds.is_date(kind):
        days = values.cast(pa.date32())
        return ("Int", days.cast(pa.int32())) if table_version >= _FIRST_VERSION_WITH_DAYS else ("Date", days)
    if kinds.is_decimal(kind):
        return "Decimal", _fifteen_digits(name, values)
    for fits, wrapper, stored in _WRAPPERS:
        if fits(kind):
            return wrapper, values.cast(stored)
    raise UnsupportedFeature("ordering-type")


def _fifteen_digits(name: str, values: pa.Array) -> pa.Array:
    wide = _WIDE if values.type.precision - values.type.scale <= _WIDE.precision - _DECIMAL_SCALE else _WIDEST
    try:
        return values.cast(wide)
    except pa.ArrowInvalid as error:
        message = f"a value of {name} has more than {_DECIMAL_SCALE} digits behind the point: a delete cannot hold it"
        hint = f"round {name}, or delete the keys without ordering values"
        raise HudiError(Reason.SCHEMA_INCOMPATIBLE, "LF-017", message, hint=hint) from error


RECORD_KEY: Final = "_hoodie_record_key"
_FILE_NAME: Final = "_hoodie_file_name"
# Beside the columns of the rows, while they are ordered and split.
_NATURAL, _UPDATE, _POSITION, _KEY = "_log_natural", "_log_update", "_log_position", "_log_key"


@dataclass(frozen=True, slots=True)
class LogRows:
    """What a write does to the records of one file group, one row a key.

    `rows`: the table's columns and the meta fields; the name of the file in them does not count.
    `natural`: whether a row removes its key whatever ordering value it has; `updates`: whether the group holds the key.
    `positions`: the row of the base file that holds the key, null where that is not known; or nothing is known.
    `deletes`: rows that remove their key by the ordering value that they have; or only those that say so themselves.

    Clauses: DM-001, MG-005, LF-023.
    """

    rows: pa.Table
    natural: pa.ChunkedArray
    updates: pa.ChunkedArray
    positions: pa.ChunkedArray | None = None
    deletes: pa.ChunkedArray | None = None

    def tagged(self) -> pa.Table:
        """Rows and all that is known of them, in one table."""
        unknown = pa.nulls(self.rows.num_rows, pa.int64())
        more = {
            _NATURAL: self.natural,
            _UPDATE: self.updates,
            _POSITION: unknown if self.positions is None else self.positions,
            _KEY: self.rows.column(RECORD_KEY),
        }
        tagged = self.rows
        for name, column in more.items():
            tagged = tagged.append_column(name, column)
        return tagged


@dataclass(frozen=True, slots=True)
class MadeBlock:
    """A block's bytes in parts that follow one another, its records, and how many of what kind they are.

    `rows` has the columns of the block's schema; it is None for deletes.
    """

    parts: list[Any]
    rows: pa.Table | None
    updates: int = 0
    deletes: int = 0

    @property
    def size(self) -> int:
        """Bytes in the file."""
        return sum(memoryview(part).nbytes for part in self.parts)


def made_blocks(incoming: LogRows, group: LogGroup, form: LogForm, instant: str) -> list[MadeBlock]:
    """Data blocks of the rows that stay, and after them at most one block of those that delete their keys.

    Raises:
        HudiError: SCHEMA_INCOMPATIBLE for a value that does not fit the table's schema.
        UnsupportedFeature: ordering-type.

    Clauses: LC-004, LF-006, LF-007, LF-008, LF-022, LF-023, LF-025, MG-005, MG-008, OW-013.

    """
    tagged = incoming.tagged()
    deleting = pc.or_(pc.or_(flagged_deletes(tagged), marked_deletes(tagged, form.rule)), tagged.column(_NATURAL))
    if incoming.deletes is not None:
        deleting = pc.or_(deleting, incoming.deletes)
    header = {HeaderKey.INSTANT_TIME: instant, HeaderKey.SCHEMA: schema_text(form.avro)}
    if group.compacted:
        header[HeaderKey.COMPACTED_BLOCK_TIMES] = compacted_block_times_text(group.compacted)
    gone = tagged.filter(deleting)
    if group.is_new:
        # It holds no key yet: a tombstone would remove a later row of lesser ordering. Another writer's row competes.
        gone = gone.filter(pc.invert(gone.column(_NATURAL))) if form.shares_groups else gone.slice(0, 0)
    deletes = list(_delete_block(gone, group, form, header))
    return [*_data_blocks(tagged.filter(pc.invert(deleting)), group, form, header), *deletes]


def _delete_block(
    rows: pa.Table, group: LogGroup, form: LogForm, header: Mapping[HeaderKey, str]
) -> Iterator[MadeBlock]:
    if not rows.num_rows:
        return
    ordered, positioned = _in_order_of_positions(rows, group, form)
    ordering = ordering_wrappers(ordered, form.ordering, form.table_version)
    content = deletes_content(ordered.column(_KEY), ordered.column(_NATURAL), group.partition, ordering)
    more = _positions(ordered, group) if positioned else {}
    yield MadeBlock(block_parts(BlockType.DELETE, {**header, **more}, content), None, deletes=rows.num_rows)


def _data_blocks(
    rows: pa.Table, group: LogGroup, form: LogForm, header: Mapping[HeaderKey, str]
) -> Iterator[MadeBlock]:
    if not rows.num_rows:
        return
    ordered, positioned = _in_order_of_positions(rows, group, form)
    with _fitting():
        stored = _stored(ordered, group.file_id, form)
        contents = list(_contents(stored, ordered.column(_KEY), form, header[HeaderKey.SCHEMA]))
    marks = {HeaderKey.IS_PARTIAL: PARTIAL} if form.partial else {}
    for start, count, content in contents:
        part = ordered.slice(start, count)
        more = _positions(part, group) if positioned and form.block_type is not BlockType.HFILE_DATA else {}
        parts = block_parts(form.block_type, {**header, **marks, **more}, content)
        yield MadeBlock(parts, stored.slice(start, count), updates=pc.sum(part.column(_UPDATE)).as_py())


def _contents(
    rows: pa.Table, keys: pa.ChunkedArray, form: LogForm, schema: str
) -> Iterator[tuple[int, int, list[Any]]]:
    """First row, number of rows and content of each block."""
    if form.block_type is BlockType.PARQUET_DATA:
        at_once = max(1, form.block_bytes // max(1, rows.nbytes // rows.num_rows))
        for start in range(0, rows.num_rows, at_once):
            part = rows.slice(start, at_once)
            yield start, part.num_rows, [parquet_content(part, schema, *packing(form.codec))]
    elif form.block_type is BlockType.HFILE_DATA:
        encoded = encode_rows(rows, form.avro)
        for start, count in parts_within(encoded, form.block_bytes):
            part = one_chunk(keys.slice(start, count)), one_chunk(encoded.slice(start, count))
            yield start, count, [hfile_content(*part, schema)]
    else:
        framed = encode_framed_rows(rows, form.avro)
        for start, count in parts_within(framed, form.block_bytes):
            yield start, count, avro_content(framed.slice(start, count))


def _in_order_of_positions(rows: pa.Table, group: LogGroup, form: LogForm) -> tuple[pa.Table, bool]:
    """The rows in the order of the base file, and True, where each one has a place of its own there.

    Clauses: LF-023.
    """
    positions = rows.column(_POSITION)
    if not form.positions or group.file_instant is None or positions.null_count:
        return rows, False
    if pc.count_distinct(positions).as_py() < rows.num_rows:
        # Two rows of one key, where incoming rows are not combined: the later one counts, by its place in the log.
        return rows, False
    return rows.take(pc.sort_indices(positions)), True


def _positions(rows: pa.Table, group: LogGroup) -> dict[HeaderKey, str]:
    return {
        HeaderKey.RECORD_POSITIONS: record_positions_text(rows.column(_POSITION).to_numpy()),
        HeaderKey.BASE_FILE_INSTANT_TIME_OF_RECORD_POSITIONS: group.file_instant or "",
    }


def _stored(rows: pa.Table, file_id: str, form: LogForm) -> pa.Table:
    """The records as the log holds them: in it, the name of the file is the id of the group.

    Clauses: MF-011, LF-022.
    """
    schema = arrow_schema(form.avro)
    columns = [_column(rows, name, file_id, form) for name in schema.names]
    return brought(pa.Table.from_arrays(columns, names=schema.names), schema)


@contextmanager
def _fitting() -> Iterator[None]:
    """One error for values that have no place in the columns of the log."""
    try:
        yield
    except ValueError as error:
        message = f"a value does not fit the table's schema: {error}"
        hint = "bring the rows to the table's columns and types"
        raise HudiError(Reason.SCHEMA_INCOMPATIBLE, "LF-007", message, hint=hint) from error


def _column(rows: pa.Table, name: str, file_id: str, form: LogForm) -> Any:
    if name in META_FIELDS and not form.meta_fields:
        return pa.nulls(rows.num_rows, pa.string())
    return pa.repeat(pa.scalar(file_id), rows.num_rows) if name == _FILE_NAME else rows.column(name)


@dataclass(frozen=True, slots=True)
class MadeLog:
    """A log file that is made and not yet stored.

    `rows`: the records of its data blocks, of which statistics tell.
    """

    name: LogFileName
    data: bytes
    stat: WriteStat
    rows: pa.Table


@dataclass(frozen=True, slots=True)
class WrittenLog:
    """A log file in storage: its stat for the commit, and the records of its data blocks.

    `created_partition`: the folder was no partition before.
    """

    stat: WriteStat
    rows: pa.Table
    created_partition: bool


def write_log(
    place: Place, incoming: LogRows, group: LogGroup, form: LogForm, identity: TaskIdentity
) -> tuple[WrittenLog, ...]:
    """The rows as a log file of their group, or as several where they are many; none where there are no rows.

    All bytes are made before the first file is put; each file's marker stands before it.

    Raises:
        HudiError: SCHEMA_INCOMPATIBLE for a value that a log cannot hold; WRITE_CONFLICT when a file is there already.
        UnsupportedFeature: ordering-type.

    Clauses: SL-005, LF-001, MK-001, MK-002, OW-016.

    """
    io_type = "CREATE" if form.has_completion_times else "APPEND"
    written = []
    for made in made_logs(incoming, group, form, place.requested, _first_name(place, group, form, identity)):
        created = place.announce(group.partition, str(made.name), io_type)
        place.effects.put_log_file(place.requested, group.partition, str(made.name), made.data)
        written.append(WrittenLog(made.stat, made.rows, created))
    return tuple(written)


def _first_name(place: Place, group: LogGroup, form: LogForm, identity: TaskIdentity) -> LogFileName:
    """A name that is free: before version 8 a write that nobody has taken back yet may have put the next version.

    A listing by the metadata table has no files of such a write.

    Clauses: SL-005, MT-003.
    """
    name = group.first_name(form, place.requested, identity.write_token)
    while not form.has_completion_times and place.effects.storage.exists(joined(group.partition, str(name))):
        name = replace(name, version=name.version + 1)
    return name


def made_logs(
    incoming: LogRows, group: LogGroup, form: LogForm, instant: str, name: LogFileName
) -> tuple[MadeLog, ...]:
    """The same, not stored: a pure function; `name` is that of the first.

    Clauses: SL-005, SL-025, LF-001, TL-019, TL-020.
    """
    logs: list[MadeLog] = []
    for blocks in _files(made_blocks(incoming, group, form, instant), form.file_bytes):
        data = b"".join(part for block in blocks for part in block.parts)
        earlier = group.logs_of_slice(form) if form.names_slice else ()
        listed = tuple(str(one) for one in (*earlier, *(log.name for log in logs), name))
        stat = _stat(name, len(data), blocks, listed, group, form, instant)
        logs.append(MadeLog(name, data, stat, _rows(blocks, form)))
        name = replace(name, version=name.version + 1)
    return tuple(logs)


def _files(blocks: Sequence[MadeBlock], most_bytes: int) -> list[list[MadeBlock]]:
    """The blocks of each file; deletes stand in the file of the rows before them.

    Clauses: SL-025.
    """
    files: list[list[MadeBlock]] = []
    size = 0
    for block in blocks:
        if not files or (size > most_bytes and block.rows is not None):
            files.append([])
            size = 0
        files[-1].append(block)
        size += block.size
    return files


def _rows(blocks: Sequence[MadeBlock], form: LogForm) -> pa.Table:
    parts = [block.rows for block in blocks if block.rows is not None]
    return pa.concat_tables(parts) if parts else arrow_schema(form.avro).empty_table()


def _stat(  # noqa: PLR0917 - a stat records all of them
    name: LogFileName,
    size: int,
    blocks: Sequence[MadeBlock],
    listed: tuple[str, ...],
    group: LogGroup,
    form: LogForm,
    instant: str,
) -> WriteStat:
    """Where a stat does not tell the slice, it says the same of the write itself.

    Clauses: TL-019, TL-020, SL-008.
    """
    rows = sum(block.rows.num_rows for block in blocks if block.rows is not None)
    updates = sum(block.updates for block in blocks)
    stat = WriteStat(
        file_id=group.file_id,
        path=joined(group.partition, str(name)),
        prev_commit=(group.slice_instant(form) or instant) if form.names_slice else instant,
        num_writes=rows,
        num_deletes=sum(block.deletes for block in blocks),
        num_update_writes=updates,
        total_write_bytes=size,
        total_write_errors=0,
        partition_path=group.partition,
        total_log_records=0,
        total_updated_records_compacted=0,
        num_inserts=rows - updates,
        total_log_blocks=0,
        total_corrupt_log_block=0,
        total_rollback_blocks=0,
        file_size_in_bytes=size,
        log_version=name.version,
        log_offset=0,
        base_file=(group.file_of_slice(form) or "") if form.names_slice else "",
        log_files=listed,
        runtime_stats=RuntimeStats(0, 0, 0),
        total_log_files_compacted=0,
        total_log_size_compacted=0,
    )
    if not form.has_completion_times:
        return stat
    return replace(stat, total_log_read_time_ms=0, num_updates=0)


__all__ = [
    "LogForm",
    "LogGroup",
    "LogRows",
    "MadeLog",
    "WrittenLog",
    "log_form",
    "made_logs",
    "opened_slices",
    "write_log",
]
