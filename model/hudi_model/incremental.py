"""Queries over a range of time: the merged rows that its writes brought, and every change that they made."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from operator import attrgetter

from hudi_model.actions import CommitMetadata, Instant, State
from hudi_model.blocks import Change, blocks_of
from hudi_model.columns import conform
from hudi_model.configuration import is_true
from hudi_model.files import (
    META_FIELDS,
    CdcBlock,
    CdcRecord,
    DataBlock,
    Field,
    FileSlice,
    GroupId,
    Record,
    Schema,
    Value,
    valid_records,
)
from hudi_model.history import full_timeline, unarchived
from hudi_model.merge_modes import table_rule
from hudi_model.merge_rules import PartialUpdate
from hudi_model.queries import Answer, Selection, is_own_column, query_instant, select, validated_snapshot, warnings_of
from hudi_model.reading import read_slice
from hudi_model.rejection import Reason, Rejection
from hudi_model.retention import groups_of, inner_path, removed_files
from hudi_model.schemas import KEEPS_SCHEMA, schema_of, stored_columns, table_schema
from hudi_model.slicing import data_files, group_of, path_of, snapshot_slices
from hudi_model.tables import RELEASED, OpenTable, Reading, Readings, Table, View, open_table, view_at
from hudi_model.time import InstantTime
from hudi_model.timeline import (
    DATA_ACTIONS,
    WRITE_ACTIONS,
    commit_metadata,
    completed_data,
    completion,
    is_committed,
    start_of,
    with_entries,
)


@dataclass(frozen=True, slots=True)
class TimeRange:
    """The times after `begin` and up to `end`; None leaves that side open."""

    begin: InstantTime | None
    end: InstantTime | None


def read_incremental(
    table: Table,
    begin: str,
    end: str | None = None,
    readings: Readings = RELEASED,
    selection: Selection | None = None,
    *,
    columns_of_end: bool = False,
) -> Answer:
    """The merged rows that writes completed within a range brought, as of its end, in the columns of the newest commit.

    A row belongs to the write that it names as its own; services keep that name when they rewrite a row.

    Raises: INSTANT_MALFORMED, RANGE_NOT_RETAINED, CONFIG_INVALID, and every reason of a snapshot.

    `columns_of_end`: in those as of the end of the range.

    Clauses: IN-001, IN-003, IN-004, IN-005, IN-009, HS-008.
    """
    opened, time_range = open_range(table, begin, end)
    view = view_at_end(opened, time_range.end, readings)
    schema = table_schema(view if columns_of_end else view_at(opened, None, readings))
    times = {one.requested: completion(one) for one in full_timeline(table) if one.action in WRITE_ACTIONS}

    def counts(instant: Value) -> bool:
        named = InstantTime(str(instant))
        return is_within_range(time_range, times.get(named, named))

    slices = slices_of_range(view, time_range)
    rows = (row for one in slices for row in rows_of_range(view, one, time_range, counts, schema))
    warnings = tuple(warning for one in slices for warning in warnings_of(one))
    return select(schema, rows, selection or Selection(), warnings)


def open_range(table: Table, begin: str, end: str | None) -> tuple[OpenTable, TimeRange]:
    """The table, whose rows must tell which write brought them, and the range, whose begin may be open.

    Raises: INSTANT_MALFORMED; CONFIG_INVALID; every reason of a table that cannot be opened.

    Clauses: IN-002, IN-003, IN-006, TM-002.
    """
    opened = unarchived(open_table(table))
    if not is_true(opened.configuration.properties, "hoodie.populate.meta.fields"):
        raise Rejection(Reason.CONFIG_INVALID, "IN-006", "hoodie.populate.meta.fields", "no row states its commit")
    first = None if is_open(begin) else query_instant(begin)
    return opened, TimeRange(first, None if end is None else query_instant(end))


def is_open(begin: str) -> bool:
    """Whether a bound is the word for the beginning, or the zeros that stand before every instant.

    Clauses: IN-002.
    """
    return begin == "earliest" or (begin != "" and not begin.strip("0"))


def view_at_end(opened: OpenTable, end: InstantTime | None, readings: Readings) -> View:
    """The table as it stood at a moment, by completion times whatever the reading of time travel.

    Clauses: IN-001, IN-003.
    """
    return view_at(opened, end, replace(readings, time_travel=Reading.TEXT))


def is_within_range(time_range: TimeRange, time: InstantTime) -> bool:
    """Whether a time lies in a range, whose begin is out and whose end is in.

    Clauses: IN-002.
    """
    return (time_range.begin is None or time > time_range.begin) and (time_range.end is None or time <= time_range.end)


def writes_within(view: View, time_range: TimeRange) -> tuple[Instant, ...]:
    """The data actions that completed within a range, in the order in which they did.

    Clauses: IN-002, IN-003.
    """
    return tuple(one for one in completed_data(view.timeline) if is_within_range(time_range, completion(one)))


def slices_of_range(view: View, time_range: TimeRange) -> tuple[FileSlice, ...]:
    """The slices as of the end of the range; none where no write completed in it, services apart.

    Raises: as for a snapshot; RANGE_NOT_RETAINED where a clean deleted what the end of the range needs.

    Clauses: IN-005, IN-007.
    """
    writes, state = writes_within(view, time_range), view.table.state
    unknown = reaches_unknown(view.table, time_range)
    if not unknown and all(commit_metadata(one).operation in KEEPS_SCHEMA for one in writes):
        return ()
    named = {inner_path(stat.path) for one in writes for stat in commit_metadata(one).write_stats if stat.path}
    lost = named - set(map(path_of, data_files(state)))
    as_text = view.readings.incremental_merge is Reading.TEXT
    needs_state = as_text or lost or unknown
    return validated_snapshot(view) if needs_state else snapshot_slices(view)


def rows_of_range(
    view: View, found: FileSlice, time_range: TimeRange, counts: Callable[[Value], bool], schema: Schema
) -> tuple[Record, ...]:
    """The rows of a slice that changed within a range; as released late rows that lost, too, where the key's did not.

    Raises: as for a snapshot; RANGE_NOT_RETAINED.

    Clauses: IN-001, IN-004.
    """
    earlier = earlier_rows(view, found, time_range, schema)
    rows = read_slice(view, found, schema)
    changed = tuple(
        one for one in rows if counts(commit_of(one)) or (earlier is not None and state_of(one) not in earlier)
    )
    by_text = view.readings.incremental_merge is Reading.TEXT
    partial = (one for log in found.log_files for one in blocks_of(log) if isinstance(one, DataBlock) and one.partial)
    if by_text or (found.log_files and (completes(view) or any(counts(one.instant) for one in partial))):
        return changed
    keys = set(map(record_key, changed))
    brought = (row for row in read_slice(view, slice_within(found, counts), schema) if counts(commit_of(row)))
    return (*changed, *(row for row in brought if record_key(row) not in keys))


def commit_of(row: Record) -> Value:
    """The instant that a row names as that of its own write."""
    return row.values.get("_hoodie_commit_time")


def record_key(row: Record) -> str:
    """The record key that a row names."""
    return str(row.values.get("_hoodie_record_key"))


def state_of(row: Record) -> tuple[str, Value, str]:
    """The key of a row, its commit time and its own values."""
    return record_key(row), commit_of(row), own_values(row)


def own_values(row: Record) -> str:
    """The values of a row's own columns, in a form in which not-a-number is equal to itself.

    Clauses: IN-001, CD-004.
    """
    return repr(sorted((name, value) for name, value in row.values.items() if name not in META_FIELDS))


def earlier_rows(view: View, found: FileSlice, time_range: TimeRange, schema: Schema) -> frozenset[object] | None:
    """The rows, as of the begin, of the file groups that a slice's rows come from; None where they are gone.

    Rows change under their commit time where logs are merged, or versions complete each other, and nowhere else; there
    is no state to compare with where the begin is open, or nothing of the range was written to the group.

    Raises: RANGE_NOT_RETAINED where versions complete each other and the state at the begin is gone.

    Clauses: IN-001, IN-007.
    """
    groups = origins_within(view, group_of(found), time_range)
    in_place = view.configuration.table_type == "MERGE_ON_READ" or completes(view)
    if time_range.begin is None or not groups or not in_place:
        return None
    before = view_at_end(view.table, time_range.begin, view.readings)
    try:
        slices = validated_snapshot(before, groups)
    except Rejection:
        if completes(view):
            raise
        return None
    return frozenset(state_of(row) for one in slices for row in read_slice(before, one, schema))


def origins_within(view: View, group: GroupId, time_range: TimeRange) -> frozenset[GroupId]:
    """The file groups whose rows a group may have at the end of a range: itself, and those that were clustered into it.

    Nothing where no write or service of the range touched it. A clustering moves no row into another partition.

    Clauses: IN-001, IN-005.
    """
    if reaches_unknown(view.table, time_range):
        return frozenset({group})
    origins: frozenset[GroupId] = frozenset()
    for one in reversed(writes_within(view, time_range)):
        content = commit_metadata(one)
        if (origins | {group}) & groups_of(content):
            origins |= {group} | (content.replaced if content.operation in KEEPS_SCHEMA else frozenset())
    return frozenset(one for one in origins if one[0] == group[0])


def completes(view: View) -> bool:
    """Whether by the table's rule a row may hold values of several versions.

    Clauses: IN-004, IN-007.
    """
    rule = table_rule(view)
    return rule.partial_update is not PartialUpdate.NONE or rule.strategy != ""


def slice_within(found: FileSlice, counts: Callable[[Value], bool]) -> FileSlice:
    """A slice without the rows and blocks of writes that do not count; what is no row or delete stays.

    Clauses: IN-004.
    """
    base, logs = found.base_file, []
    if base and isinstance(base.records, tuple):
        base = replace(base, records=tuple(row for row in base.records if counts(row.values["_hoodie_commit_time"])))
    for log in found.log_files:
        kept = (one for one in blocks_of(log) if not isinstance(one, Change) or counts(one.instant))
        logs.append(replace(log, blocks=tuple(kept)))
    return replace(found, base_file=base, log_files=tuple(logs))


def archived_within(opened: OpenTable, time_range: TimeRange) -> tuple[Instant, ...]:
    """The data actions of a range that have left the active timeline.

    Clauses: CD-006, HS-008.
    """
    active = {one.requested for one in open_table(opened.state).timeline.instants}
    gone = (one for one in full_timeline(opened.state) if one.action in DATA_ACTIONS and one.requested not in active)
    return tuple(one for one in gone if is_within_range(time_range, completion(one)))


def reaches_unknown(opened: OpenTable, time_range: TimeRange) -> bool:
    """Whether a range holds writes that no timeline records: there are files from before all that one records.

    Clauses: IN-007, CD-006, TL-018.
    """
    whole = full_timeline(opened.state)
    start, known = start_of(whole), {str(one.requested) for one in whole}
    found = {InstantTime(one.instant) for one in data_files(opened.state) if one.instant not in known}
    older = (one for one in found if start is not None and one < start and is_committed(opened.timeline, one))
    return any(is_within_range(time_range, one) for one in older)


INSERT, UPDATE, DELETE = "i", "u", "d"


def read_changes(table: Table, begin: str, end: str | None = None, readings: Readings = RELEASED) -> Answer:
    """The changes of the writes that completed within a range: operation, row before, row after.

    Raises: CONFIG_INVALID, INSTANT_MALFORMED, RANGE_NOT_RETAINED, LOG_FILE_MISSING, and every reason of a snapshot.

    Clauses: CD-001, CD-002, CD-006, IN-002.
    """
    opened, time_range = open_range(table, begin, end)
    if not is_true(opened.configuration.properties, "hoodie.table.cdc.enabled"):
        raise Rejection(Reason.CONFIG_INVALID, "CD-001", "hoodie.table.cdc.enabled", "the table keeps no change feed")
    refuse_archived(opened, time_range)
    view = view_at_end(opened, time_range.end, readings)
    schema = table_schema(view)
    own = Schema(tuple(field for field in schema.fields if not is_own_column(field.name)))
    side = f"struct<{','.join(f'{field.name}:{field.type}' for field in own.fields)}>"
    writes = (one for one in writes_within(view, time_range) if brings_changes(one))
    changes = (change for one in writes for change in changes_of(opened, one, schema, readings))
    rows = ({"op": one.operation, "before": image(one.before, own), "after": image(one.after, own)} for one in changes)
    return Answer(Schema((Field("op", "string"), Field("before", side), Field("after", side))), tuple(rows))


def refuse_archived(opened: OpenTable, time_range: TimeRange) -> None:
    """Nothing, unless a range holds changes of writes that have left the active timeline, or that none records.

    Raises: RANGE_NOT_RETAINED.

    Clauses: CD-006, CD-007.
    """
    for one in archived_within(opened, time_range):
        if not isinstance(one.content, CommitMetadata) or brings_changes(one):
            raise Rejection(Reason.RANGE_NOT_RETAINED, "CD-006", one.requested, "a write of the range is archived")
    if reaches_unknown(opened, time_range):
        raise Rejection(Reason.RANGE_NOT_RETAINED, "CD-006", "begin", "no timeline lists what was written then")


def image(record: Record | None, schema: Schema) -> Value:
    """A row as one side of a change, or null.

    Clauses: CD-002.
    """
    if record is None:
        return None
    values = conform((record,), schema, "change feed")[0].values
    return {field.name: values[field.name] for field in schema.fields}


def brings_changes(write: Instant) -> bool:
    """Whether an action changes rows: table services do not, though a compaction may leave logs of changes.

    Clauses: CD-007.
    """
    metadata = commit_metadata(write)
    return not metadata.compacted and metadata.operation not in KEEPS_SCHEMA


def changes_of(opened: OpenTable, write: Instant, schema: Schema, readings: Readings) -> Iterator[CdcRecord]:
    """The changes of one write: as logged where it logged them, else by comparing the rows before and after it.

    Rows that a log holds in whole are not looked for, so they may be gone.

    Clauses: CD-003, CD-005, CD-006.
    """
    logged = {
        group: tuple(in_columns(opened, one, write, schema) for one in found)
        for group, found in logged_changes(opened, write).items()
    }
    touched = groups_of(commit_metadata(write))
    after = view_at_end(opened, completion(write), readings)
    rows_after = group_rows(after, lacking(touched, logged, DELETE), schema)
    before = view_without(after, write)
    rows_before = group_rows(before, lacking(touched, logged, INSERT), schema)
    for group in sorted(rows_before.keys() | rows_after.keys() | logged.keys()):
        older, newer = rows_before.get(group, {}), rows_after.get(group, {})
        found = logged[group] if group in logged else derived_changes(write, older, newer)
        yield from (with_images(change, older, newer) for change in found)


def view_without(view: View, write: Instant) -> View:
    """The table as it would stand at the same moment with a write still under way.

    Clauses: CD-005.
    """
    done = (State.COMPLETED, write.requested)
    others = (one for one in view.timeline.entries if (one.state, one.requested) != done)
    return replace(view, timeline=with_entries(view.timeline, others))


def lacking(groups: Collection[GroupId], logged: dict[GroupId, tuple[CdcRecord, ...]], but: str) -> set[GroupId]:
    """The groups whose log lacks rows before the changes, but of inserts, or after them, but of deletes; or the log.

    Clauses: CD-003, CD-006.
    """
    image = attrgetter("before" if but == INSERT else "after")
    lacks = {one for one, log in logged.items() if any(image(it) is None and it.operation != but for it in log)}
    return {one for one in groups if one not in logged or one in lacks}


def group_rows(view: View, groups: Collection[GroupId], schema: Schema) -> dict[GroupId, dict[str, Record]]:
    """The rows by key of some file groups.

    Raises: as for a snapshot; RANGE_NOT_RETAINED where a clean deleted them.

    Clauses: CD-005, CD-006.
    """
    rows: dict[GroupId, dict[str, Record]] = {}
    for one in validated_snapshot(view, groups):
        rows[group_of(one)] = {str(row.values["_hoodie_record_key"]): row for row in read_slice(view, one, schema)}
    return rows


def derived_changes(write: Instant, before: dict[str, Record], after: dict[str, Record]) -> Iterator[CdcRecord]:
    """What a write changed in a file group of which it logged nothing: rows that it wrote, and rows that are gone.

    A row that the write only copied, or that lost against what was there, is no change. One whose values it changed
    is, whatever commit time the row has.

    Clauses: CD-004, CD-005.
    """
    for key, row in after.items():
        if key not in before:
            yield CdcRecord(INSERT, key)
        elif commit_of(row) == write.requested or own_values(row) != own_values(before[key]):
            yield CdcRecord(UPDATE, key)
    yield from (CdcRecord(DELETE, key) for key in before if key not in after)


def with_images(change: CdcRecord, before: dict[str, Record], after: dict[str, Record]) -> CdcRecord:
    """A change with both images: what its log leaves out is taken from the rows before and after the write.

    Clauses: CD-003.
    """
    older = change.before or before.get(change.key) if change.operation != INSERT else None
    newer = change.after or after.get(change.key) if change.operation != DELETE else None
    return replace(change, before=older, after=newer)


def logged_changes(opened: OpenTable, write: Instant) -> dict[GroupId, tuple[CdcRecord, ...]]:
    """The changes that a write logged, for each file group that has such a log.

    Raises: LOG_FILE_MISSING, LOG_CONTENT_CORRUPT, PATH_ESCAPES_TABLE; RANGE_NOT_RETAINED; unsupported content.

    Clauses: CD-003, CD-006, CD-010, LF-018.
    """
    logs = {path_of(log): log for log in opened.state.log_files if log.cdc}
    logged: dict[GroupId, tuple[CdcRecord, ...]] = {}
    for path in (inner_path(path) for stat in commit_metadata(write).write_stats for path in stat.change_logs):
        if path not in logs and path in removed_files(opened.timeline):
            raise Rejection(Reason.RANGE_NOT_RETAINED, "CD-006", path, "a clean deleted the file")
        if path not in logs:
            raise Rejection(Reason.LOG_FILE_MISSING, "CD-003", path, "the timeline names it, storage lacks it")
        blocks = [valid_records(one.changes) for one in blocks_of(logs[path]) if isinstance(one, CdcBlock)]
        logged[group_of(logs[path])] = sum(blocks, logged.get(group_of(logs[path]), ()))
    return logged


def in_columns(opened: OpenTable, change: CdcRecord, write: Instant, schema: Schema) -> CdcRecord:
    """A logged change whose images have the table's columns; they were logged in those of the write, with their ids.

    Raises: SCHEMA_INCOMPATIBLE.

    Clauses: CD-003, DM-004, DM-021.
    """
    own = schema_of(write) if commit_metadata(write).schema else None
    stored = stored_columns(opened, own, write.requested)
    before, after = (
        conform((image,), schema, "change feed", stored)[0] if image else None
        for image in (change.before, change.after)
    )
    return CdcRecord(change.operation, change.key, before, after)
