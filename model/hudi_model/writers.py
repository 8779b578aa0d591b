"""A write in three phases: begin takes a time, stage makes files, commit checks for conflicts and makes them count."""

from dataclasses import replace

import hudi_model.effects as durable
from hudi_model.actions import Action, CommitMetadata, Content, ReplacePlan, State
from hudi_model.conflicts import refuse_conflicts, refuse_mode, refuse_pending_clustering
from hudi_model.effects import Effects, entry, forget, perform
from hudi_model.evolution import continued
from hudi_model.files import FileSlice, GroupId
from hudi_model.keys import key_of
from hudi_model.merge_rules import Version
from hudi_model.metadata import configured_effects, with_metadata
from hudi_model.reading import base_rows
from hudi_model.requests import ADDS, REPLACES, Operation, Request, Write, setting, switch
from hudi_model.schemas import table_schema, versions_by_id
from hudi_model.slicing import group_of, snapshot_slices
from hudi_model.staging import Change, Staged, base_file, log_file, native_logs_of, placing, stored_row, unplacing
from hudi_model.tables import RELEASED, Readings, SchemaFile, Table, View, open_table, view_at
from hudi_model.tagging import BUCKETED, committed_groups, first_rings, incoming, index_kind, tagged
from hudi_model.time import InstantTime
from hudi_model.timeline import with_entries


def write(table: Table, request: Request, requested: InstantTime, completed: InstantTime) -> Table:
    """A write from beginning to end, alone.

    Raises: as `begin`, `stage` and `commit`.

    Clauses: OW-001, OW-018.
    """
    if has_nothing_to_do(table, request):
        return table
    started_write, effects = begin(table, request, requested)
    table = perform(table, effects)
    staged, effects = stage(table, started_write)
    table = perform(table, effects)
    return perform(table, commit(table, staged, completed))


def begin(table: Table, request: Request, requested: InstantTime) -> tuple[Write, Effects]:
    """The write as it starts; what has completed by now is what it builds on.

    Raises: CONFIG_INVALID.

    Clauses: OW-001, OW-002, OW-014, MK-005.
    """
    opened = open_table(table)
    refuse_mode(opened.configuration, request)
    done = frozenset(one.requested for one in opened.timeline.instants if one.state is State.COMPLETED)
    usual = Action.DELTA_COMMIT if opened.configuration.merge_on_read else Action.COMMIT
    action = Action.REPLACE_COMMIT if request.operation in REPLACES else usual
    started_write = Write(requested, action, request, seen=done)
    plan = ReplacePlan("") if action is Action.REPLACE_COMMIT else None
    return started_write, (*heartbeat(started_write, requested), enter(table, started_write, State.REQUESTED, plan))


def heartbeat(write: Write, moment: InstantTime | None) -> Effects:
    """An update of the write's heartbeat where failed writes are reported from active ones by it.

    Clauses: MK-005.
    """
    lazy = setting(write.request.settings, "hoodie.clean.failed.writes.policy").upper() == "LAZY"
    return (durable.WriteHeartbeat(write.requested, moment),) if lazy else ()


def enter(
    table: Table, write: Write, state: State, content: Content = None, completed: InstantTime | None = None
) -> durable.CreateInstant:
    """The timeline file that brings a write to a state. [Modified in v8] A completed one's name says when.

    Clauses: TL-003, TL-007, TL-009.
    """
    return entry(table, write.requested, write.action, state, content, completed)


def stage(table: Table, write: Write) -> tuple[Write, Effects]:
    """The write's files, each announced by a marker; nothing of them counts yet. A partial update is an upsert.

    Raises: KEY_MISSING, CONFIG_INVALID, SCHEMA_INCOMPATIBLE, MERGER_UNKNOWN, WRITE_CONFLICT.

    Clauses: OW-001, OW-003, OW-014, OW-034, MK-001, SL-002.
    """
    view = view_of(table, write)
    staged, schema = staged_files(view, write), write.request.schema or table_schema(view)
    stats, gone = tuple(one.stat for one in staged), replaced(view, write)
    operation = write.request.operation
    name = Operation.UPSERT.name if operation is Operation.PARTIAL_UPDATE else operation.name
    metadata = CommitMetadata(name, False, stats, gone, schema, {}, continued(view, schema, write.requested))
    ready = replace(write, metadata=metadata)
    refuse_pending_clustering(table, ready)
    rings = tuple(map(durable.PutHashRing, first_rings(view, write)))
    placed = tuple(effect for one in staged for effect in placing(table, write.requested, one))
    return ready, (*rings, enter(table, write, State.INFLIGHT), *placed)


def view_of(table: Table, write: Write) -> View:
    """The table as the write's snapshot has it: what completed since is as if it had not.

    Clauses: OW-002, OW-003.
    """
    opened = open_table(table)
    known = (one for one in opened.timeline.entries if one.state < State.COMPLETED or one.requested in write.seen)
    return View(opened, with_entries(opened.timeline, known), None, None, RELEASED)


def staged_files(view: View, write: Write) -> tuple[Staged, ...]:
    """What each file group gets: a log or a base file.

    Clauses: OW-003, OW-015, OW-016, OW-025, NL-009.
    """
    groups, operation = dict[GroupId, list[Version]](), write.request.operation
    for number, (group, version) in enumerate(tagged(view, write)):
        groups.setdefault(group, []).append(stored_row(view, version, group[0], write.requested, number))
    schema = write.request.schema or table_schema(view)
    found = {group_of(one): one for one in snapshot_slices(view)}
    partial, staged = operation is Operation.PARTIAL_UPDATE, []
    for group, versions in groups.items():
        place = found.get(group)
        change = Change(group, place, tuple(versions), operation in ADDS and not merges_inserts(write, place), partial)
        staged.append(
            (log_file if is_logged(view, write, change) else base_file)(view, change, schema, write.requested)
        )
    return tuple(file for one in staged if one for file in native_logs_of(view.configuration, one))


def merges_inserts(write: Write, found: FileSlice | None) -> bool:
    """Whether an insert merges with the rows of a file group that it fills up, where it would stand beside them else.

    Clauses: OW-015.
    """
    repeats = switch(write.request.settings, "hoodie.merge.allow.duplicate.on.inserts")
    return found is not None and write.request.operation is Operation.INSERT and not repeats


def is_logged(view: View, write: Write, change: Change) -> bool:
    """Whether a change goes to a log; a bucket begins with one, but for a bulk insert, an overwrite, a delete.

    Clauses: OW-012, OW-016, TT-001, TT-002.
    """
    operation = write.request.operation
    if not view.configuration.merge_on_read:
        return False
    if index_kind(write.request.settings) in BUCKETED and operation not in REPLACES:
        return bool(change.found) or operation not in (Operation.BULK_INSERT, Operation.DELETE)
    return operation not in ADDS and not takes_new_keys(view, change)


def takes_new_keys(view: View, change: Change) -> bool:
    """Whether a group is opened by a write, or, being a small file, filled up with keys that it does not have.

    Clauses: OW-012.
    """
    if not change.found:
        return True
    stored = base_rows(view, change.found, table_schema(view))
    known = {key_of(row, view.configuration, change.group[1]) for row in stored}
    return not change.found.log_files and any(one.key not in known and not one.is_delete for one in change.versions)


def replaced(view: View, write: Write) -> frozenset[GroupId]:
    """The file groups that a write takes out of the table: those it finds, of the partitions it is about.

    Clauses: OW-018.
    """
    rows = (partition for partition, _ in incoming(view, write))
    groups = frozenset(committed_groups(view))
    match write.request.operation:
        case Operation.INSERT_OVERWRITE_TABLE:
            return groups
        case Operation.INSERT_OVERWRITE | Operation.DELETE_PARTITION:
            about = {*write.request.partitions, *rows}
            return frozenset(group for group in groups if group[0] in about)
    return frozenset()


def missing_partitions(table: Table, request: Request) -> tuple[str, ...]:
    """The partitions that a deletion names and that hold no file group.

    Clauses: OW-018.
    """
    held = {partition for partition, _ in committed_groups(view_at(open_table(table), None, RELEASED))}
    return tuple(one for one in request.partitions if one not in held)


def has_nothing_to_do(table: Table, request: Request) -> bool:
    """Whether a deletion of partitions finds none of them, and makes no action.

    Clauses: OW-018.
    """
    missing = missing_partitions(table, request)
    return request.operation is Operation.DELETE_PARTITION and bool(missing) and missing == request.partitions


def commit(table: Table, write: Write, completed: InstantTime, readings: Readings = RELEASED) -> Effects:
    """From its completed file on the write counts, unless what happened meanwhile is in its way.

    The caller holds the table's lock.

    Raises: WRITE_CONFLICT.

    Clauses: OW-004, OW-010, OW-035, MK-004, MT-003, LK-003, TL-026.
    """
    refuse_conflicts(table, write, readings)
    done = enter(table, write, State.COMPLETED, write.metadata, completed)
    configured = configured_effects(table, write.request.settings) + history(table, write)
    ended = (done, durable.DeleteMarkers(write.requested), *heartbeat(write, None))
    return *configured, *with_metadata(perform(table, configured), ended)


def history(table: Table, write: Write) -> Effects:
    """The versions of the columns that are kept where these have ids, before the write counts.

    Clauses: DM-020.
    """
    own = write.metadata and write.metadata.identified
    versions = {one.number: one for one in (*versions_by_id(open_table(table)), own) if own and one}
    return (durable.PutSchemaFile(SchemaFile(write.requested, tuple(versions.values()))),) if versions else ()


def abort(table: Table, write: Write) -> Effects:
    """The files that the write's markers announce go, then its markers, then its instant; not if it has completed.

    Clauses: OW-009, MK-003, SA-005.
    """
    if has_completed(table, write):
        return durable.DeleteMarkers(write.requested), *heartbeat(write, None)
    files, instants = unplacing(table, write.requested), forget(table, write.requested)
    return *files, durable.DeleteMarkers(write.requested), *instants, *heartbeat(write, None)


def has_completed(table: Table, write: Write) -> bool:
    """Whether the write's completed file is there, whatever its writer was given.

    Clauses: SA-005.
    """
    done = (one for one in table.timeline if one.state is State.COMPLETED and one.action is write.action)
    return any(one.requested == write.requested for one in done)
