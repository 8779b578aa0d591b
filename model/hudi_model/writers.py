"""A write in three phases: begin asks for a time, stage makes files, commit checks for conflicts and makes them count."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from hudi_model.actions import Action, State, TimelineEntry
from hudi_model.conflicts import refuse_conflicts
from hudi_model.contents import CommitMetadata, Content, ReplacePlan
from hudi_model.creation import create_table
from hudi_model.effects import (
    BeatHeart,
    CreateInstant,
    DeleteDataFile,
    DeleteInstant,
    DeleteMarkers,
    Effect,
    Effects,
    PutBaseFile,
    PutLogFile,
    PutMarker,
    PutPartitionMetafile,
    perform,
)
from hudi_model.files import BaseFile, GroupId, Marker
from hudi_model.merge_modes import merge_rule
from hudi_model.merging import Version, fold, version_of_record
from hudi_model.names import timeline_file_name
from hudi_model.partitions import partition_path, record_key
from hudi_model.readings import RELEASED
from hudi_model.records import Record, Schema
from hudi_model.schemas import table_schema
from hudi_model.settings import beats_heart, switch
from hudi_model.slicing import group_of, present_groups, snapshot_slices
from hudi_model.staging import Change, Staged, base_file, log_file, with_meta_fields
from hudi_model.tables import Table, open_table
from hudi_model.tagging import Incoming, Tag, index_kind, is_global, moves, new_group, tag
from hudi_model.time import InstantTime
from hudi_model.timeline import Timeline, collapse, completed_data, completion
from hudi_model.views import View

__all__ = ["Operation", "Request", "Write", "abort", "begin", "commit", "create_table", "stage", "write"]


class Operation(StrEnum):
    """What a write does with its rows."""

    INSERT = "insert"
    UPSERT = "upsert"
    BULK_INSERT = "bulk_insert"
    DELETE = "delete"
    INSERT_OVERWRITE = "insert_overwrite"
    INSERT_OVERWRITE_TABLE = "insert_overwrite_table"
    DELETE_PARTITION = "delete_partition"
    PARTIAL_UPDATE = "partial_update"


INSERTS = frozenset({Operation.INSERT, Operation.BULK_INSERT})
REPLACES = frozenset({Operation.INSERT_OVERWRITE, Operation.INSERT_OVERWRITE_TABLE, Operation.DELETE_PARTITION})


@dataclass(frozen=True, slots=True)
class Request:
    """What a writer asks for. Rows hold user columns only; those of a delete need hold no more than key and partition."""

    operation: Operation
    rows: tuple[Record, ...] = ()
    partitions: tuple[str, ...] = ()
    schema: Schema | None = None
    settings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Write:
    """A transaction between its phases. `seen` are the actions that had completed when it began."""

    requested: InstantTime
    action: Action
    snapshot_time: InstantTime | None
    request: Request
    metadata: CommitMetadata | None = None
    seen: frozenset[InstantTime] = frozenset()


def begin(table: Table, request: Request, requested: InstantTime) -> tuple[Write, Effects]:
    """The write as it starts: what had completed by now is what it builds on.

    Clauses: OW-002, MK-005, TL-003.
    """
    opened = open_table(table)
    action = action_of(opened.configuration.merge_on_read, request.operation)
    done = [one for one in opened.timeline.instants if one.state is State.COMPLETED]
    snapshot_time = max((completion(one) for one in done), default=None)
    write = Write(requested, action, snapshot_time, request, seen=frozenset(one.requested for one in done))
    plan = ReplacePlan("") if action is Action.REPLACE_COMMIT else None
    beat = (BeatHeart(requested, requested),) if beats_heart(request.settings) else ()
    return write, (*beat, enter(table, write, State.REQUESTED, plan))


def action_of(merge_on_read: bool, operation: Operation) -> Action:  # noqa: FBT001
    """The action of an operation.

    Clauses: TT-001, TT-002, OW-019.
    """
    if operation in REPLACES:
        return Action.REPLACE_COMMIT
    return Action.DELTA_COMMIT if merge_on_read else Action.COMMIT


def enter(
    table: Table, write: Write, state: State, content: Content = None, completed: InstantTime | None = None
) -> CreateInstant:
    """The timeline file that brings a write to a state."""
    layout = open_table(table).configuration.rules.timeline_layout
    done = completed if layout == 2 else None
    name = timeline_file_name(write.requested, write.action, state, completed, layout)
    return CreateInstant(TimelineEntry(write.requested, write.action, state, done, content, name))


def view_of(table: Table, write: Write) -> View:
    """The table as the write's snapshot has it: what completed since is as if it had not.

    Clauses: OW-002, OW-003.
    """
    opened = open_table(table)
    seen = write.seen
    entries = tuple(one for one in opened.timeline.entries if one.state < State.COMPLETED or one.requested in seen)
    return View(opened, Timeline(collapse(entries), entries, opened.timeline.start), None, None, RELEASED)


def stage(table: Table, write: Write) -> tuple[Write, Effects]:
    """The write's files, each announced by a marker; nothing of it counts yet.

    Raises: KEY_MISSING, CONFIG_INVALID, SCHEMA_INCOMPATIBLE, MERGER_UNKNOWN.

    Clauses: OW-003, MK-001, SL-013.
    """
    view = view_of(table, write)
    schema = write.request.schema or table_schema(view)
    staged = tuple(found for change in changes(view, write) if (found := staged_file(view, write, change, schema)))
    metadata = CommitMetadata(
        write.request.operation.name,
        write_stats=tuple(one.stat for one in staged),
        replaced=replaced(view, write),
        schema=schema,
        extra={},
    )
    placed = tuple(effect for one in staged for effect in placing(table, write, one))
    return replace(write, metadata=metadata), (enter(table, write, State.INFLIGHT), *placed)


def placing(table: Table, write: Write, staged: Staged) -> Iterable[Effect]:
    """A file appears: first its marker, then the partition where it is new, then the file.

    Clauses: MK-001, SL-013.
    """
    file = staged.file
    yield PutMarker(Marker(write.requested, file.partition, file.name, staged.marker))
    if file.partition not in table.partitions:
        yield PutPartitionMetafile(file.partition)
    yield PutBaseFile(file) if isinstance(file, BaseFile) else PutLogFile(file)


def staged_file(view: View, write: Write, change: Change, schema: Schema) -> Staged | None:
    """The file that a change becomes: a log where the group has a slice to log to, else a base file.

    Clauses: TT-001, TT-002, OW-016, OW-018.
    """
    in_bucket = index_kind(write.request.settings) == "BUCKET" and write.request.operation not in REPLACES
    if view.configuration.merge_on_read and (change.found or in_bucket):
        return log_file(view, change, schema, write.requested)
    return base_file(view, change, schema, write.requested)


def changes(view: View, write: Write) -> tuple[Change, ...]:
    """What each file group gets.

    Clauses: OW-003, OW-012, OW-016.
    """
    found = {group_of(one): one for one in snapshot_slices(view)}
    tags = tagged(view, write)
    groups: dict[GroupId, list[Version]] = {}
    for number, one in enumerate(tags):
        groups.setdefault(one.group, []).append(version_of(view, write, one, number))
    appended = write.request.operation in INSERTS | REPLACES
    partial = is_partial(view, write)
    return tuple(
        Change(group, found.get(group), tuple(versions), appended, partial) for group, versions in groups.items()
    )


def is_partial(view: View, write: Write) -> bool:
    """Whether logs hold the changed columns only. [New in v8]"""
    rules = view.configuration.rules
    return write.request.operation is Operation.PARTIAL_UPDATE and not rules.logs_name_their_slice


def version_of(view: View, write: Write, tag: Tag, number: int) -> Version:
    """A row to write as a version of its key; those of a delete are tombstones without ordering value.

    Clauses: MG-005, MG-008, OW-020.
    """
    if write.request.operation is Operation.DELETE:
        return Version(tag.row.key, None, None)
    row = with_meta_fields(tag.row.record, tag.row.key, tag.group[0], write.requested, number)
    return version_of_record(row, tag.row.key, merge_rule(view.configuration))


def tagged(view: View, write: Write) -> tuple[Tag, ...]:
    """The write's rows, combined and tagged.

    Clauses: OW-003, OW-010, OW-012.
    """
    operation, settings = write.request.operation, write.request.settings
    rows = combined(view, write, incoming(view, write))
    if operation in REPLACES or (operation in INSERTS and index_kind(settings) != "BUCKET"):
        return tuple(Tag(row, new_group(write.requested, row.partition), known=False) for row in rows)
    tags = tag(view, rows, write.requested, settings)
    return tuple(one for one in tags if one.known or operation is not Operation.DELETE)


def incoming(view: View, write: Write) -> tuple[Incoming, ...]:
    """The rows of a request with their keys and partitions."""
    made = view.configuration
    return tuple(Incoming(record_key(row, made), partition_path(row, made), row) for row in write.request.rows)


def combined(view: View, write: Write, rows: tuple[Incoming, ...]) -> tuple[Incoming, ...]:
    """One row a key, where the operation combines before it writes.

    Clauses: OW-021.
    """
    operation = write.request.operation
    kind = {Operation.INSERT: "insert", Operation.DELETE: "delete", Operation.UPSERT: "upsert"}.get(operation, "insert")
    if not switch(write.request.settings, f"hoodie.combine.before.{kind}"):
        return rows
    return rows


def replaced(view: View, write: Write) -> frozenset[GroupId]:
    """The file groups that a write takes out of the table.

    Clauses: OW-019.
    """
    groups = frozenset(group_of(one) for one in present_groups(view))
    match write.request.operation:
        case Operation.INSERT_OVERWRITE_TABLE:
            return groups
        case Operation.INSERT_OVERWRITE:
            touched = {row.partition for row in incoming(view, write)}
        case Operation.DELETE_PARTITION:
            touched = set(write.request.partitions)
        case _:
            return frozenset()
    return frozenset(group for group in groups if group[0] in touched)


def commit(table: Table, write: Write, completed: InstantTime) -> Effects:
    """The write counts from its completed file on, unless what completed meanwhile is in its way.

    Raises: WRITE_CONFLICT.

    Clauses: OW-004, OW-005, OW-009, MK-004, TL-003.
    """
    refuse_conflicts(table, write)
    return (
        enter(table, write, State.COMPLETED, write.metadata, completed),
        DeleteMarkers(write.requested),
        *((BeatHeart(write.requested, None),) if beats_heart(write.request.settings) else ()),
    )


def abort(table: Table, write: Write) -> Effects:
    """The write's files go, then its markers, then its instant.

    Clauses: OW-008, MK-003.
    """
    mine = [one for one in table.markers if one.instant == write.requested]
    names = sorted(one.name for one in table.timeline if one.requested == write.requested)
    return (
        *(DeleteDataFile(one.partition, one.name) for one in sorted(mine, key=lambda one: (one.partition, one.name))),
        DeleteMarkers(write.requested),
        *map(DeleteInstant, names),
        BeatHeart(write.requested, None),
    )


def write(table: Table, request: Request, requested: InstantTime, completed: InstantTime) -> Table:
    """A write from beginning to end, alone.

    Raises: as `stage`.

    Clauses: OW-001.
    """
    started, effects = begin(table, request, requested)
    table = perform(table, effects)
    ready, effects = stage(table, started)
    table = perform(table, effects)
    return perform(table, commit(table, ready, completed))
