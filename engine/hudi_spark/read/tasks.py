"""One task reads one file slice: a pure function from a picklable description to Arrow rows."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
from hudi_format.base.files import base_file_footer
from hudi_format.schemas import META_FIELDS
from hudi_format.storage import LocalStorage, Storage

from hudi_spark.errors import HudiError, Reason, SkippedBytes, typed_errors
from hudi_spark.filters import And, Filter, columns_of, expression, filter_of, mask, matching, pushable
from hudi_spark.merge import (
    RECORD_KEY,
    KeyRule,
    LogRecords,
    MergeRule,
    beats_what_precedes,
    decode_log_records,
    decode_rows,
    differs,
    is_partial,
    keys,
    merge,
)
from hudi_spark.schema import (
    BY_NAME,
    External,
    SliceColumns,
    concatenate,
    instant_of,
    one_chunk,
    read_base_rows,
)
from hudi_spark.table_state import (
    COMMIT_TIME,
    LocatedBlock,
    StatedFile,
    Visibility,
    cleaned_files_refused,
    scan_logs,
)


@dataclass(frozen=True, slots=True)
class ReadContext:
    """What all tasks of one query share.

    `storage` opens itself again where it is unpickled. `schema`: every column of the table, meta columns first.
    `output`: the columns to answer, in order, or fields inside them. `by_positions`: base rows are found by the
    positions in log blocks, where every block of a slice has them. `unmerged`: every version of a row is wanted.

    Clauses: LF-023, RD-012, RD-019.
    """

    storage: Storage
    schema: pa.Schema
    output: tuple[str, ...]
    row_filter: Filter | None
    rule: MergeRule
    keys: KeyRule
    visibility: Visibility
    by_positions: bool = False
    unmerged: bool = False

    @property
    def output_schema(self) -> pa.Schema:
        """Schema of the answer."""
        return pa.schema([pa.field(name, keys.field_type(name, self.schema)) for name in self.output])

    def columns(self, merging: Iterable[str] = ()) -> pa.Schema:
        """The columns to read: those of the answer, of the filter, and those that merging looks at."""
        filtering = columns_of(self.row_filter) if self.row_filter is not None else frozenset()
        wanted = {*keys.columns_of(self.output, self.schema), *filtering, *merging}
        return pa.schema([field for field in self.schema if field.name in wanted])


@dataclass(frozen=True, slots=True)
class SliceTask:
    """Read one file slice.

    `columns` says how its files come to the table's columns; `external` is the data file of a bootstrapped slice.
    `changes`: only rows that a range of time changed are wanted. `stated`: what a commit counts of the base file, where
    its rows are to be compared with that.
    """

    context: ReadContext
    partition: str
    file_id: str
    base_file: str | None
    log_files: tuple[str, ...]
    columns: SliceColumns = BY_NAME
    external: External | None = None
    changes: "Changes | None" = None
    stated: StatedFile | None = None

    @property
    def files(self) -> tuple[str | None, ...]:
        """The base file, or None, and the log files."""
        return self.base_file, *self.log_files


@dataclass(frozen=True, slots=True)
class Changes:
    """Which rows of a slice a range of time changed.

    `rows`: the filter by commit time, for rows that writes of the range brought.
    `earlier`: the slices, as of the begin, that the rows come from, with record key, commit time and own columns;
    None where the state at the begin is not known, and commit times alone count.
    `blocks`: whose blocks of logs compete with each other alone, so that rows show that lost against older ones; None
    where they do not show.
    `versions_are_rows`: by the table's rule each version is a whole row, and a later write replaces what is there.

    Clauses: IN-001, IN-004.
    """

    rows: Filter
    earlier: tuple[SliceTask, ...] | None
    blocks: Visibility | None
    versions_are_rows: bool


@dataclass(frozen=True, slots=True)
class SliceRows:
    """The rows of a slice, and what was skipped to get them."""

    rows: pa.Table
    skipped: tuple[SkippedBytes, ...]


def run_task(task: SliceTask) -> SliceRows:
    """The rows of a slice that match, in the columns requested.

    Raises:
        HudiError: BASE_FILE_MISSING, LOG_FILE_MISSING, BASE_FILE_CORRUPT, LOG_CONTENT_CORRUPT, SCHEMA_INCOMPATIBLE,
            KEY_MISSING; RANGE_NOT_RETAINED where a clean was faster.
        UnsupportedFeature: content that is not built.

    Clauses: MF-002, RD-012, RD-013, RD-014, RD-017.

    """
    with cleaned_files_refused(task.context.storage), typed_errors():
        found = _rows(task)
        lost = _lost_rows(task) if has_other_size(task) else ()
        return replace(found, skipped=(*lost, *found.skipped)) if lost else found


def has_other_size(task: SliceTask) -> bool:
    """Whether a base file has another size than its commit counts.

    Clauses: SA-001.
    """
    return task.stated is not None and _size(task.context.storage, task.base_file or "") != task.stated.size


def _lost_rows(task: SliceTask) -> tuple[SkippedBytes, ...]:
    """That a base file has fewer rows than its commit counts.

    Clauses: OW-017, RD-013.
    """
    file, counted = task.base_file or "", task.stated.rows if task.stated else 0
    rows = base_file_footer(task.context.storage, file).rows
    if rows >= counted:
        return ()
    return (SkippedBytes(file, 0, "OW-017", f"the file has {rows} rows, the write put {counted}"),)


def refuse_lost_rows(storage: Storage, file: str | None, stated: StatedFile | None, external: External | None) -> None:
    """Nothing where the base file of a slice has the rows that it was written with, and their commit times.

    A file that takes its place would lack them for good. Of bootstrapped slices whoever stitches them compares rows.

    Raises:
        HudiError: BASE_FILE_CORRUPT.

    Clauses: BF-001, OW-017, SA-001.

    """
    if file is None or external is not None:
        return
    footer = base_file_footer(storage, file)
    if COMMIT_TIME not in footer.schema.names:
        raise _without_commit_times(file, "restore the file from a copy, or overwrite its partition")
    if stated is not None and footer.rows < stated.rows and storage.size(file) != stated.size:
        message = f"the file has {footer.rows} rows, the write put {stated.rows}: what takes its place would lack them"
        hint = "restore the file from a copy, or overwrite its partition with the rows that are left"
        raise HudiError(Reason.BASE_FILE_CORRUPT, "OW-017", message, file, hint=hint)


def _without_commit_times(file: str, hint: str) -> HudiError:
    message = "the file has no commit times, by which a range of time finds its rows"
    return HudiError(Reason.BASE_FILE_CORRUPT, "BF-001", message, file, hint=hint)


def _rows(task: SliceTask) -> SliceRows:
    context = task.context
    if task.changes is None and not task.log_files:
        return SliceRows(_output(_plain_rows(task), context), ())
    scan = scan_logs(context.storage, task.log_files, context.visibility)
    if context.unmerged:
        return SliceRows(_output(_unmerged_rows(task, scan.blocks), context), scan.skipped)
    if task.changes is not None:
        return SliceRows(_output(_changed_rows(task, task.changes, scan.blocks), context), scan.skipped)
    return SliceRows(_output(_merged_rows(task, scan.blocks).rows, context), scan.skipped)


def _changed_rows(task: SliceTask, changes: Changes, blocks: tuple[LocatedBlock, ...]) -> pa.Table:
    """The rows that are not those which their keys had before, and late rows that lost where these are wanted.

    Clauses: IN-001, IN-004.
    """
    context = task.context
    same_base = changes.earlier is not None and [one.base_file for one in changes.earlier] == [task.base_file]
    by_values = not same_base or context.rule.completes or any(map(is_partial, blocks))
    own_columns = [name for name in context.schema.names if name not in META_FIELDS] if by_values else []
    output = tuple(dict.fromkeys((*context.output, RECORD_KEY, COMMIT_TIME, *own_columns)))
    ranged = And(tuple(one for one in (changes.rows, context.row_filter) if one is not None))
    brought = tuple(one for one in blocks if changes.blocks is not None and changes.blocks.sees(one.instant))
    # A base file that was there before holds no row of the range.
    alone = replace(task, context=replace(context, output=output, row_filter=ranged))
    alone = replace(alone, base_file=None) if same_base else alone
    if (
        changes.blocks
        and changes.earlier
        and not by_values
        and _brought_are_last(context, changes.earlier, blocks, brought)
    ):
        found = _merged_rows(alone, brought)
        if not (found.records and context.rule.compares_event_time and _follow_natural(found.records, context.rule)):
            return matching(changes.rows, found.rows)
    # What no log touches is in the same base file as it was before: only the rows of the range are read of it.
    pushed = ranged if same_base else context.row_filter
    merged = _merged_rows(replace(task, context=replace(context, output=output, row_filter=pushed)), blocks)
    own = pc.fill_null(mask(changes.rows, merged.rows), fill_value=False)
    parts, others = [merged.rows.filter(own)], merged.rows.filter(pc.invert(own))
    if changes.earlier is not None and others.num_rows and _commit_times_hide(context, changes, merged, same_base):
        keys = others.column(RECORD_KEY) if same_base else None
        parts.append(others.filter(differs(others, _earlier_rows(changes.earlier, keys), own_columns)))
    changed = pa.concat_tables(parts)
    if changes.blocks is None or context.rule.completes or any(map(is_partial, brought)):
        return changed
    late = _merged_rows(alone, brought, changes.rows).rows
    if changes.rows is not None:
        late = matching(changes.rows, late)
    known = pc.is_in(late.column(RECORD_KEY), value_set=one_chunk(changed.column(RECORD_KEY)))
    return pa.concat_tables([changed, late.filter(pc.invert(known)).select(changed.column_names)])


def _brought_are_last(
    context: ReadContext,
    earlier: tuple[SliceTask, ...],
    blocks: Sequence[LocatedBlock],
    brought: Sequence[LocatedBlock],
) -> bool:
    """Whether the blocks of a range follow all that was there before it, so that no other row can have changed.

    One may where an earlier version without ordering value hid the base row for a while.

    Clauses: IN-001, IN-004.
    """
    before = [one for one in blocks if all(task.context.visibility.sees(one.instant) for task in earlier)]
    if [*before, *brought] != list(blocks):
        return False
    if not context.rule.compares_event_time:
        return True
    schema = _merging_columns(replace(context, output=(), row_filter=None))
    found = decode_log_records(before, schema, context.keys, context.rule, earlier[0].columns)
    return not pc.any(beats_what_precedes(found.versions, context.rule)).as_py()


def _follow_natural(records: LogRecords, rule: MergeRule) -> bool:
    """Whether a version follows one of its key without ordering value, which hides it from what was there before.

    Clauses: MG-013, IN-001.
    """
    versions = pa.table({"key": records.versions.column("key"), "natural": beats_what_precedes(records.versions, rule)})
    counted = versions.group_by("key").aggregate([("natural", "any"), ("key", "count")])
    return bool(pc.any(pc.and_(counted["natural_any"], pc.greater(counted["key_count"], 1))).as_py())


def _commit_times_hide(context: ReadContext, changes: Changes, merged: "_Merged", same_base: bool) -> bool:
    """Whether a row may have changed and carry the commit time of a write from before the range.

    It may where versions complete each other, and where one without ordering value hid the base row for a while.

    Clauses: IN-001.
    """
    if same_base:
        records, rule = merged.records, context.rule
        if records is None:
            return bool(rule.completes)
        if rule.completes or records.partial:
            return True
        return rule.compares_event_time and bool(pc.any(beats_what_precedes(records.versions, rule)).as_py())
    if not changes.versions_are_rows:
        return True
    scans = (scan_logs(context.storage, one.log_files, one.context.visibility) for one in changes.earlier or ())
    return any(is_partial(block) for scan in scans for block in scan.blocks)


def _earlier_rows(tasks: tuple[SliceTask, ...], keys: pa.ChunkedArray | None) -> pa.Table:
    """The rows of slices, of all keys or of some."""
    if keys is not None:
        schema = tasks[0].context.schema
        of_keys = filter_of([RECORD_KEY, "in", pc.unique(keys).to_pylist()], schema)
        tasks = tuple(replace(one, context=replace(one.context, row_filter=of_keys)) for one in tasks)
    return pa.concat_tables([run_task(one).rows for one in tasks]) if tasks else pa.table({})


def _output(rows: pa.Table, context: ReadContext) -> pa.Table:
    matched = rows if context.row_filter is None else matching(context.row_filter, rows)
    names = list(context.output)
    if set(names).issubset(matched.column_names):
        return matched.select(names)
    return pa.Table.from_arrays([keys.field_values(matched, name) for name in names], schema=context.output_schema)


def _plain_rows(task: SliceTask) -> pa.Table:
    schema = task.context.columns()
    return schema.empty_table() if task.base_file is None else _base_rows(task, schema, None)


def _unmerged_rows(task: SliceTask, blocks: tuple[LocatedBlock, ...]) -> pa.Table:
    """Base rows and the records of data blocks, as they were written.

    Clauses: RD-019.
    """
    # A table without columns has no number of rows.
    schema = task.context.columns((RECORD_KEY,))
    base = schema.empty_table() if task.base_file is None else _base_rows(task, schema, None)
    return concatenate([base, *decode_rows(blocks, schema, task.columns)], schema)


@dataclass(frozen=True, slots=True)
class _Merged:
    """The rows that a slice merges to, and the records of its logs."""

    rows: pa.Table
    records: LogRecords | None


def _merged_rows(task: SliceTask, blocks: tuple[LocatedBlock, ...], only: Filter | None = None) -> _Merged:
    """Base rows, all or those that `only` lets through, merged with blocks.

    Clauses: LF-023, RD-012, RD-017.
    """
    context = task.context
    schema = _merging_columns(context)
    positions_in = instant_of(task.base_file or "") if _numbers_rows(task) else None
    records = decode_log_records(blocks, schema, context.keys, context.rule, task.columns, positions_in=positions_in)
    if task.base_file is None:
        return _Merged(merge(schema.empty_table(), records, context.keys, context.rule), records)
    base = _base_rows(task, schema, records)
    if only is not None:
        base = matching(only, base)
    if records.positions is not None and pc.max(records.positions).as_py() >= base.num_rows:
        # No positions in this file, whatever the block says.
        records = replace(records, positions=None)
        base = _base_rows(task, schema, records)
    return _Merged(merge(base, records, context.keys, context.rule, task.base_file), records)


def _numbers_rows(task: SliceTask) -> bool:
    """Whether the rows of the base file are read as they stand in it, so that positions find them."""
    return task.context.by_positions and task.changes is None and task.external is None


def _merging_columns(context: ReadContext) -> pa.Schema:
    """Clauses: MG-018, RD-012."""
    if context.rule.merger is not None:
        # What a merger looks at is its implementation-defined.
        return context.schema
    ordering = context.rule.ordering if context.rule.reads_ordering else ()
    return context.columns(keys.columns_of((*context.keys.columns, *ordering), context.schema))


def _base_rows(task: SliceTask, schema: pa.Schema, records: LogRecords | None) -> pa.Table:
    """Rows of the base file; the filter reaches Parquet as far as it cannot change which version wins.

    Clauses: BF-004, DM-004, RD-012.
    """
    if records is not None and records.positions is not None:
        return _all_base_rows(task, schema)
    file = task.base_file or ""

    def condition(stored: pa.Schema) -> pc.Expression | None:
        if needs_commit_times(task) and COMMIT_TIME not in stored.names:
            raise _without_commit_times(file, "restore the file from a copy, or read a snapshot")
        return _base_condition(task.context, stored, records)

    return read_base_rows(task.context.storage, file, schema, task.columns, condition, external=task.external)


def needs_commit_times(task: SliceTask) -> bool:
    """Whether rows are found by their commit times: those of a range of time, or of a filter that names them.

    Clauses: IN-001.
    """
    wanted = task.context.row_filter
    return task.changes is not None or (wanted is not None and COMMIT_TIME in columns_of(wanted))


def _all_base_rows(task: SliceTask, schema: pa.Schema) -> pa.Table:
    """All rows of the base file; columns that only the key is made of are not read, and null.

    Clauses: LF-023.
    """
    context = task.context
    ordering = context.rule.ordering if context.rule.reads_ordering else ()
    needed = context.columns(keys.columns_of(ordering, schema)) if context.rule.merger is None else schema
    rows = read_base_rows(context.storage, task.base_file or "", needed, task.columns, lambda _: None)
    found = {name: rows.column(name) for name in needed.names}
    columns = [found.get(field.name, pa.nulls(rows.num_rows, field.type)) for field in schema]
    return pa.Table.from_arrays(columns, schema=schema)


def _base_condition(context: ReadContext, file_schema: pa.Schema, records: LogRecords | None) -> pc.Expression | None:
    """What a base row has to meet to be read, or None.

    A base row may only be skipped if it could not win against a version of its key in the logs, nor complete one.
    Of whole records by commit time that is so; else every key in the logs is read.

    Clauses: RD-012.
    """
    pushed = context.row_filter and pushable(context.row_filter, file_schema, context.schema)
    if pushed is None:
        return None
    condition = expression(pushed, context.schema)
    if records is None or not records.versions.num_rows:
        return condition
    if not (context.rule.compares_event_time or context.rule.completes or records.partial):
        return condition
    if context.keys.fields:
        return None
    return condition | _touched(records)


def _touched(records: LogRecords) -> pc.Expression:
    """Base rows whose key is in the logs; the range lets the reader skip row groups by their statistics."""
    keys = records.versions.column("key").combine_chunks()
    bounds = pc.min_max(keys)
    field = pc.field("_hoodie_record_key")
    return (field >= bounds["min"]) & (field <= bounds["max"]) & field.isin(keys.unique())


# What opening a file costs, a millisecond, as bytes that could be read and merged meanwhile.
OPENING_BYTES: Final = 1 << 18
# What is assumed of work whose size nobody knows.
UNKNOWN_BYTES: Final = 1 << 24


def bytes_to_read(storage: Storage, paths: Iterable[str | None]) -> int:
    """Bytes of files, with what opening each costs; None among them is no file.

    The size of a file that is not on a local disk is a guess, since each answer is a request.
    """
    return sum(OPENING_BYTES + _size(storage, path) for path in paths if path is not None)


def _size(storage: Storage, path: str) -> int:
    if not isinstance(storage, LocalStorage):
        return UNKNOWN_BYTES
    try:
        return storage.size(path)
    except OSError:  # the task that reads it says why it is gone
        return 0
