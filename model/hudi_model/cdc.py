"""Change data capture: every change that writes of a range of time made, with the row before and after it."""

from collections.abc import Collection, Iterator
from dataclasses import replace

from hudi_model.actions import Instant, State
from hudi_model.blocks import blocks_of
from hudi_model.configuration import is_true
from hudi_model.conflicts import groups_of
from hudi_model.contents import CommitMetadata
from hudi_model.files import CdcBlock, CdcRecord, GroupId
from hudi_model.incremental import (
    TimeRange,
    archived_within,
    commit_of,
    open_range,
    own_values,
    reaches_unknown,
    view_at_end,
    writes_within,
)
from hudi_model.queries import Answer, is_own_column, sound_snapshot
from hudi_model.reading import read_slice
from hudi_model.readings import RELEASED, Readings
from hudi_model.records import Field, Record, Schema, Value, sound_records
from hudi_model.rejection import Reason, Rejection
from hudi_model.retention import inner_path
from hudi_model.schemas import KEEPS_SCHEMA, conform_record, table_schema
from hudi_model.slicing import group_of, path_of
from hudi_model.tables import OpenTable, Table
from hudi_model.timeline import commit_metadata, completion, with_entries
from hudi_model.views import View

INSERT, UPDATE, DELETE = "i", "u", "d"


def read_changes(table: Table, begin: str, end: str | None = None, readings: Readings = RELEASED) -> Answer:
    """The changes of the writes that completed within a range: operation, row before, row after.

    Raises: CONFIG_INVALID, INSTANT_MALFORMED, RANGE_NOT_RETAINED, LOG_FILE_MISSING, and every reason of a snapshot.

    Clauses: CD-001, CD-002, CD-006, IN-002.
    """
    opened, asked = open_range(table, begin, end)
    if not is_true(opened.configuration.properties, "hoodie.table.cdc.enabled"):
        raise Rejection(Reason.CONFIG_INVALID, "CD-001", "hoodie.table.cdc.enabled", "the table keeps no change feed")
    refuse_archived(opened, asked)
    view = view_at_end(opened, asked.end, readings)
    schema = table_schema(view)
    own = Schema(tuple(field for field in schema.fields if not is_own_column(field.name)))
    side = f"struct<{','.join(f'{field.name}:{field.type}' for field in own.fields)}>"
    writes = (one for one in writes_within(view, asked) if brings_changes(one))
    changes = (change for one in writes for change in changes_of(opened, one, schema, readings))
    rows = ({"op": one.operation, "before": image(one.before, own), "after": image(one.after, own)} for one in changes)
    return Answer(Schema((Field("op", "string"), Field("before", side), Field("after", side))), tuple(rows))


def refuse_archived(opened: OpenTable, asked: TimeRange) -> None:
    """Nothing, unless a range holds changes of writes that have left the active timeline, or that none tells of.

    Raises: RANGE_NOT_RETAINED.

    Clauses: CD-006, CD-007.
    """
    for one in archived_within(opened, asked):
        if not isinstance(one.content, CommitMetadata) or brings_changes(one):
            raise Rejection(Reason.RANGE_NOT_RETAINED, "CD-006", one.requested, "a write of the range is archived")
    if reaches_unknown(opened, asked):
        raise Rejection(Reason.RANGE_NOT_RETAINED, "CD-006", "begin", "no timeline tells of what was written then")


def image(record: Record | None, schema: Schema) -> Value:
    """A row as one side of a change, or null.

    Clauses: CD-002.
    """
    values = conform_record(record, schema, "change feed").values if record else {}
    return {field.name: values[field.name] for field in schema.fields} if record else None


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
    logged, touched = logged_changes(opened, write), groups_of(commit_metadata(write))
    after = view_at_end(opened, completion(write), readings)
    rows_after = group_rows(after, {one for one in touched if needs_after(logged.get(one))}, schema)
    before = view_without(after, write)
    rows_before = group_rows(before, {one for one in touched if needs_before(logged.get(one))}, schema)
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


def needs_before(logged: tuple[CdcRecord, ...] | None) -> bool:
    """Whether the changes of a group are told by the rows before them, too: the log lacks them, or there is none.

    Clauses: CD-003, CD-006.
    """
    return logged is None or any(one.before is None and one.operation != INSERT for one in logged)


def needs_after(logged: tuple[CdcRecord, ...] | None) -> bool:
    """The same of the rows after them.

    Clauses: CD-003, CD-006.
    """
    return logged is None or any(one.after is None and one.operation != DELETE for one in logged)


def group_rows(view: View, groups: Collection[GroupId], schema: Schema) -> dict[GroupId, dict[str, Record]]:
    """The rows by key of some file groups.

    Raises: as for a snapshot; RANGE_NOT_RETAINED where a clean deleted them.

    Clauses: CD-005, CD-006.
    """
    rows: dict[GroupId, dict[str, Record]] = {}
    for one in sound_snapshot(view, groups):
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

    Raises: LOG_FILE_MISSING, LOG_CONTENT_CORRUPT, PATH_ESCAPES_TABLE; unsupported content.

    Clauses: CD-003, CD-010, LF-018.
    """
    logs = {path_of(log): log for log in opened.state.log_files if log.cdc}
    logged: dict[GroupId, tuple[CdcRecord, ...]] = {}
    for path in (inner_path(path) for stat in commit_metadata(write).write_stats for path in stat.change_logs):
        if path not in logs:
            raise Rejection(Reason.LOG_FILE_MISSING, "CD-003", path, "the timeline names it, storage lacks it")
        blocks = [sound_records(one.changes) for one in blocks_of(logs[path]) if isinstance(one, CdcBlock)]
        logged[group_of(logs[path])] = sum(blocks, logged.get(group_of(logs[path]), ()))
    return logged
