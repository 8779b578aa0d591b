"""File groups written as base files: new ones, and new versions of those that are there.

Clauses: CD-008, CD-009.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import reduce

import pyarrow as pa
import pyarrow.compute as pc
from hudi_format.names import BaseFileName
from hudi_format.schemas import META_FIELDS
from hudi_format.timeline.commit_metadata import NO_PREVIOUS_COMMIT, RuntimeStats, WriteStat

from hudi_spark.concurrency import joined
from hudi_spark.files import (
    BaseFileBytes,
    WrittenFile,
    base_file,
    base_file_statistics,
    empty_meta_fields,
    rolled_base_file,
    write_changes,
)
from hudi_spark.keys import PARTITION_PATH, RECORD_KEY
from hudi_spark.merge import KeyRule, flagged_deletes, incoming_records, marked_deletes, merge, same_values
from hudi_spark.read import TaskIdentity
from hudi_spark.schema import one_chunk, read_base_rows
from hudi_spark.table_state import COMMIT_TIME, FileSlice
from hudi_spark.write.planning import WriteContext

_COMMIT_TIME, _SEQUENCE_NUMBER, _, _, _FILE_NAME = META_FIELDS
_SCHEMA = ("op", "record_key", "before", "after")


def changes_of(before: pa.Table, after: pa.Table, keys: KeyRule, requested: str) -> pa.Table:
    """One line for each key that a write changed: `op`, `record_key`, and the images `before` and `after`.

    `before`: the stored rows of the incoming keys. `after`: all rows of the new file. Rows that the write left as they
    were are in neither.

    Clauses: CD-001, CD-008, CD-009.
    """
    changed = after.filter(pc.equal(after.column(_COMMIT_TIME), requested))
    return changes_between(before, changed, after, keys)


def changes_between(before: pa.Table, changed: pa.Table, after: pa.Table, keys: KeyRule) -> pa.Table:
    """The same of the rows that are known to have changed; keys of `before` that `after` lacks are gone.

    Clauses: CD-001, CD-008, CD-009.
    """
    known, now = one_chunk(keys.keys(before)), one_chunk(keys.keys(changed))
    updated = pc.is_in(now, value_set=known)
    gone = before.filter(pc.invert(pc.is_in(known, value_set=one_chunk(keys.keys(after)))))
    places = pc.index_in(now, value_set=known)
    written = _lines(pc.if_else(updated, "u", "i"), now, _images(before).take(places), _images(changed))
    deleted = _lines(
        pa.repeat(pa.scalar("d"), gone.num_rows), one_chunk(keys.keys(gone)), _images(gone), _nothing(gone)
    )
    return pa.concat_tables([written, deleted])


def _lines(op: pa.Array, keys: pa.Array, before: pa.Array, after: pa.Array) -> pa.Table:
    return pa.Table.from_arrays([op, keys, before, after], names=list(_SCHEMA))


def _images(rows: pa.Table) -> pa.StructArray:
    """The rows without meta fields, each as one value."""
    names = [name for name in rows.column_names if name not in META_FIELDS]
    fields = [rows.schema.field(name) for name in names]
    return pa.StructArray.from_arrays([one_chunk(rows.column(name)) for name in names], fields=fields)


def _nothing(rows: pa.Table) -> pa.Array:
    return pa.nulls(rows.num_rows, _images(rows.slice(0, 0)).type)


_PARQUET = "parquet"


@dataclass(frozen=True, slots=True)
class Counts:
    """How many rows of a file are of which kind."""

    inserts: int = 0
    updates: int = 0
    deletes: int = 0


@dataclass(frozen=True, slots=True)
class Merged:
    """A new version of a file group's rows: all of them, those before, and what became of the incoming keys."""

    rows: pa.Table
    before: pa.Table
    counts: Counts


def create_files(
    rows: pa.Table, partition: str, file_id: str, context: WriteContext, identity: TaskIdentity
) -> tuple[WrittenFile, ...]:
    """New file groups of rows that no group holds: one, or as many as the size of files requests.

    Rows that delete are not written.

    Clauses: SL-004, SL-023, TT-001, MG-008.
    """
    kept = rows.filter(pc.invert(deletes_of(rows, context)))
    return store_rows(kept, partition, file_id, context, identity)


def store_rows(
    rows: pa.Table, partition: str, file_id: str, context: WriteContext, identity: TaskIdentity
) -> tuple[WrittenFile, ...]:
    """New file groups of rows just as they are: one, or as many as the size of files requests.

    Clauses: SL-004, SL-023, TT-001.
    """
    left = rows
    written: list[WrittenFile] = []
    while left.num_rows:
        name = BaseFileName(_numbered(file_id, len(written)), identity.write_token, context.requested, _PARQUET)
        made, left = rolled_base_file(_as_stored(left, context), str(name), context.form)
        written.append(_put(made, partition, name, Counts(inserts=made.rows), context))
    return tuple(written)


def merge_into_file(
    rows: pa.Table, deletes: pa.ChunkedArray, one: FileSlice, context: WriteContext, identity: TaskIdentity
) -> WrittenFile:
    """A new base file for a group: its rows and the incoming ones, merged.

    `deletes`: incoming rows that remove their key whatever ordering value they have.

    Clauses: TT-001, MG-002, MG-003, MG-004, RD-017.
    """
    merged = merged_rows(rows, deletes, one, context)
    logged = _logged(merged, one, context, identity)
    name = BaseFileName(one.file_id, identity.write_token, context.requested, _PARQUET)
    made = base_file(_as_stored(merged.rows, context), str(name), context.form)
    written = _put(made, one.partition, name, merged.counts, context, one)
    return written if logged is None else replace(written, stat=replace(written.stat, cdc_stats=logged))


def _logged(merged: Merged, one: FileSlice, context: WriteContext, identity: TaskIdentity) -> Mapping[str, int] | None:
    """The change log of a rewritten file, where the table keeps such: the sizes of its files by path.

    Clauses: CD-008, CD-009.
    """
    if context.changes is None:
        return None
    changes = changes_of(merged.before, merged.rows, context.stored_keys, context.requested)
    if not changes.num_rows:
        return None
    return write_changes(context.place, changes, one.partition, one.file_id, context.changes, identity)


def merged_rows(rows: pa.Table, deletes: pa.ChunkedArray, one: FileSlice, context: WriteContext) -> Merged:
    """The rows of a group without logs and incoming ones, merged.

    Clauses: MG-002, MG-003, MG-004, OW-012, RD-017.
    """
    base = stored_rows(one, context)
    may_repeat = context.options.flag("hoodie.merge.allow.duplicate.on.inserts")
    if context.operation.bulk or (context.operation.name == "insert" and may_repeat):
        added = rows.filter(pc.invert(deletes_of(rows, context)))
        return Merged(pa.concat_tables([base, added]), base.slice(0, 0), Counts(inserts=added.num_rows))
    records = incoming_records(rows, context.rule, deletes=deletes, missing=context.missing)
    found = merge(base, records, context.stored_keys, context.rule, one.base_file or "")
    return _counted(base, _with_own_time(base, found, rows, context), rows, context)


def _with_own_time(base: pa.Table, merged: pa.Table, rows: pa.Table, context: WriteContext) -> pa.Table:
    """The merged rows, with the time of this write where it changed values of a row that won.

    Clauses: MF-010.
    """
    if not context.rule.completes or not context.configuration.populates_meta_fields:
        return merged
    keys = context.stored_keys.keys(merged)
    known = one_chunk(pc.index_in(keys, value_set=one_chunk(context.stored_keys.keys(base))))
    incoming = one_chunk(pc.index_in(keys, value_set=one_chunk(rows.column(RECORD_KEY))))
    was, brought = base.take(known), rows.take(incoming)
    filled = one_chunk(pc.and_(pc.is_valid(known), pc.is_valid(incoming)))
    filled = pc.and_(filled, same_values(merged.column(COMMIT_TIME), was.column(COMMIT_TIME)))
    own = [name for name in merged.column_names if name not in META_FIELDS]
    same = [same_values(merged.column(name), was.column(name)) for name in own]
    filled = pc.and_(filled, pc.invert(reduce(pc.and_, same)))
    for name in META_FIELDS[:2]:
        place = merged.column_names.index(name)
        times = pc.if_else(filled, one_chunk(brought.column(name)), one_chunk(merged.column(name)))
        merged = merged.set_column(place, merged.schema.field(name), times)
    return merged


def stored_rows(one: FileSlice, context: WriteContext) -> pa.Table:
    """The rows of a group's base file, in the columns of the table; none where it has no base file.

    Clauses: BF-004, DM-004.
    """
    if one.base_file is None:
        return context.schema.empty_table()
    columns, external = context.origins.columns(one.partition, context.schema), context.origins.external(one)
    storage = context.place.effects.storage
    return read_base_rows(storage, one.base_file, context.schema, columns, lambda _: None, external=external)


def deletes_of(rows: pa.Table, context: WriteContext) -> pa.ChunkedArray:
    """For each incoming row whether it says of itself that its key is deleted.

    Clauses: MG-008, MG-014.
    """
    return pc.or_(flagged_deletes(rows), marked_deletes(rows, context.rule))


def _counted(base: pa.Table, merged: pa.Table, rows: pa.Table, context: WriteContext) -> Merged:
    incoming = rows.column(RECORD_KEY).combine_chunks()
    base_keys, merged_keys = context.stored_keys.keys(base), context.stored_keys.keys(merged)
    before = base.filter(pc.is_in(base_keys, value_set=incoming))
    known = context.stored_keys.keys(before).combine_chunks()
    touched = pc.is_in(merged_keys, value_set=incoming)
    updated = pc.is_in(merged_keys, value_set=known)
    updates = pc.sum(pc.cast(updated, "int64")).as_py() or 0
    inserts = pc.sum(pc.cast(pc.and_not(touched, updated), "int64")).as_py() or 0
    return Merged(merged, before, Counts(inserts, updates, before.num_rows - updates))


def _as_stored(rows: pa.Table, context: WriteContext) -> pa.Table:
    return rows if context.configuration.populates_meta_fields else empty_meta_fields(rows)


def _put(  # noqa: PLR0917 - a stat records all of them
    made: BaseFileBytes,
    partition: str,
    name: BaseFileName,
    counts: Counts,
    context: WriteContext,
    previous: FileSlice | None = None,
) -> WrittenFile:
    created = context.place.put_base_file(partition, name, made.data, "CREATE" if previous is None else "MERGE")
    statistics = base_file_statistics(
        str(name), made.metadata, context.statistics.columns, context.statistics.version, made.column
    )
    return WrittenFile(_stat(made, partition, name, counts, previous, context), statistics, created)


def _stat(  # noqa: PLR0917 - as above
    made: BaseFileBytes,
    partition: str,
    name: BaseFileName,
    counts: Counts,
    previous: FileSlice | None,
    context: WriteContext,
) -> WriteStat:
    """Clauses: TL-019, TL-020, SL-008."""
    before = None if previous is None or previous.base_file is None else previous.base_file.rpartition("/")[2]
    stat = WriteStat(
        file_id=name.file_id,
        path=joined(partition, str(name)),
        prev_commit=NO_PREVIOUS_COMMIT if previous is None else previous.base_instant,
        num_writes=made.rows,
        num_deletes=counts.deletes,
        num_update_writes=counts.updates,
        num_inserts=counts.inserts,
        total_write_bytes=len(made.data),
        total_write_errors=0,
        partition_path=partition,
        total_log_records=0,
        total_updated_records_compacted=0,
        total_log_blocks=0,
        total_corrupt_log_block=0,
        total_rollback_blocks=0,
        file_size_in_bytes=len(made.data),
        runtime_stats=RuntimeStats(0, 0, 0),
        total_log_files_compacted=0,
        total_log_size_compacted=0,
    )
    if not context.configuration.has_completion_times:
        return stat
    return replace(stat, total_log_files=0, total_log_read_time_ms=0, num_updates=0, prev_base_file=before)


def _numbered(file_id: str, number: int) -> str:
    """The id of a further group that the same task opens: its last part counts.

    Clauses: SL-023.
    """
    return file_id if not number else f"{file_id.rpartition('-')[0]}-{number}"


def stamped(rows: pa.Table, schema: pa.Schema, requested: str, writer: int) -> pa.Table:
    """The rows in the columns of a table, as records of a write, numbered in their order.

    `writer`: a number that no other call for the same write has. The name of the file is null: whoever makes the file
    knows it.

    Clauses: BF-001, MF-011.
    """
    count = rows.num_rows
    numbers = pa.arange(0, count).cast(pa.string())
    values = {
        _COMMIT_TIME: pa.repeat(pa.scalar(requested), count),
        _SEQUENCE_NUMBER: pc.binary_join_element_wise(f"{requested}_{writer}", numbers, "_"),
        _FILE_NAME: pa.nulls(count, pa.string()),
        RECORD_KEY: rows.column(RECORD_KEY),
        PARTITION_PATH: rows.column(PARTITION_PATH),
    }
    columns = [values[name] if name in values else rows.column(name) for name in schema.names]
    return pa.Table.from_arrays(columns, schema=schema)
