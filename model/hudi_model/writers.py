"""A write in three phases: begin takes a time, stage makes files, commit checks for conflicts and makes them count.

What a write may do to the table's columns stands here, too.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import count

import hudi_model.effects as durable
from hudi_model.actions import Action, CommitMetadata, Content, ReplacePlan, State
from hudi_model.configuration import Configuration
from hudi_model.conflicts import refuse_conflicts, refuse_mode, refuse_pending_clustering
from hudi_model.creation import create_table
from hudi_model.effects import Effects, entry, forget, perform
from hudi_model.files import HIDDEN, META_FIELDS, Field, FileSlice, GroupId, Schema, SchemaVersion
from hudi_model.keys import key_of
from hudi_model.merge_rules import Version
from hudi_model.metadata import configured_effects, with_metadata
from hudi_model.partitions import own_path
from hudi_model.reading import base_rows
from hudi_model.rejection import Reason, Rejection, Unsupported
from hudi_model.requests import ADDS, REPLACES, Operation, Request, Write, setting, switch
from hudi_model.schemas import table_schema, versions_by_id, with_ids
from hudi_model.slicing import group_of, snapshot_slices
from hudi_model.staging import Change, Staged, base_file, log_file, native_logs_of, placing, stored_row, unplacing
from hudi_model.tables import RELEASED, Readings, SchemaFile, Table, View, open_table, view_at
from hudi_model.tagging import BUCKETED, committed_groups, first_rings, index_kind, tagged
from hudi_model.time import InstantTime
from hudi_model.timeline import with_entries

WIDENS = {"int32": ("int64", "float64", "string"), "int64": ("string",), "float32": ("float64", "string")} | {
    "float64": ("string",)
}
"""What a column may become without a change of its values."""

WIDTHS = ("int32", "int64", "float32", "float64")

NUMBERS = ("int32", "int64", "float32", "float64", "string", "decimal")
BECOMES = {one: NUMBERS[place + 1 :] for place, one in enumerate(NUMBERS[:4])} | {
    **dict.fromkeys(("decimal", "date", "binary"), ("string",)),
    "string": ("date", "decimal", "binary"),
}
"""What types a column may be given by an alteration; a decimal also one of more digits on both sides of the point."""

__all__ = [
    "Operation", "Request", "Write", "abort", "begin", "commit", "create_table", "has_nothing_to_do",
    "missing_partitions", "stage", "write",
]  # fmt: skip


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
    """Whether a change goes to a log; a bucket begins with one, but for a bulk insert or an overwrite.

    Clauses: OW-012, OW-016, TT-001, TT-002.
    """
    operation = write.request.operation
    if not view.configuration.merge_on_read:
        return False
    if index_kind(write.request.settings) in BUCKETED and operation not in REPLACES:
        return bool(change.found) or operation is not Operation.BULK_INSERT
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
    rows = (own_path(row, view.configuration) for row in write.request.rows)
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


def alter(table: Table, changes: "Iterable[ColumnChange]", requested: InstantTime, completed: InstantTime) -> Effects:
    """A commit of other columns and of no row: files keep what they hold, and are read by the columns' ids.

    Raises: SCHEMA_INCOMPATIBLE.

    Clauses: DM-020, DM-021.
    """
    view = view_at(open_table(table), None, RELEASED)
    versions = altered(view, changes, requested)
    action = Action.DELTA_COMMIT if view.configuration.merge_on_read else Action.COMMIT
    metadata = CommitMetadata("ALTER_SCHEMA", False, (), frozenset(), versions[-1].schema, {}, versions[-1])
    states = (entry(table, requested, action, one) for one in (State.REQUESTED, State.INFLIGHT))
    done = entry(table, requested, action, State.COMPLETED, metadata, completed)
    return (*states, durable.PutSchemaFile(SchemaFile(requested, versions)), *with_metadata(table, (done,)))


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


def written_schema(configuration: Configuration, own: Schema, given: Schema, *, evolves: bool, fills: bool) -> Schema:
    """The table's columns after a write of rows with the given ones: in their order, then the new ones.

    Raises: SCHEMA_INCOMPATIBLE for a column of another type, unless evolution is requested and no value changes, and
    for one that is not given, unless nulls are to fill it; as `taken`.

    Clauses: DM-003, DM-005.
    """
    brought = {one.name: one for one in given.fields if one.name not in HIDDEN}
    known = {one.name for one in own.fields}
    columns = (written_field(configuration, one, brought.get(one.name), evolves, fills) for one in own.fields)
    return Schema((*columns, *(one for one in brought.values() if one.name not in known)))


def written_field(configuration: Configuration, own: Field, given: Field | None, evolves: bool, fills: bool) -> Field:
    """A column of the table after a write.

    Raises: SCHEMA_INCOMPATIBLE; KEY_MISSING for one that keys are made of; unsupported `schema-evolution`.

    Clauses: DM-002, DM-005.
    """
    keyed = {one.partition(".")[0] for one in (*configuration.record_key, *configuration.partition_by)}
    if given is None and own.name in keyed:
        raise Rejection(Reason.KEY_MISSING, "DM-002", own.name, "the rows have no such column")
    if fills if given is None else taken(configuration, own, given):
        return own
    if given and evolves and not is_fixed(configuration, own) and given.type in WIDENS.get(own.type, ()):
        return given
    raise Rejection(Reason.SCHEMA_INCOMPATIBLE, "DM-005", own.name, f"is {own.type}, not {given and given.type}")


def taken(configuration: Configuration, own: Field, given: Field) -> bool:
    """Whether the column's type holds the values as they are: of the same family, or of narrower numbers; so its parts.

    Raises: unsupported `schema-evolution` for numbers that become text, and for decimals of other digits.

    Clauses: DM-005.
    """
    if own.parts and given.parts and own.type.partition("<")[0] == given.type.partition("<")[0]:
        known = {one.name: one for one in own.parts}
        return all(one.name in known and taken(configuration, known[one.name], one) for one in given.parts)
    if own.type in WIDTHS and given.type in WIDTHS:
        return WIDTHS.index(given.type) <= WIDTHS.index(own.type)
    if own.type == "string" and given.type in WIDTHS and own.name not in configuration.ordering:
        raise Unsupported("schema-evolution")
    if own.type != given.type and family_of(own) == family_of(given) == "decimal":
        raise Unsupported("schema-evolution")
    return family_of(own) == family_of(given)


def is_fixed(configuration: Configuration, column: Field) -> bool:
    """Whether keys, partition paths or the order of versions depend on a column.

    Clauses: DM-005.
    """
    return column.name in (*configuration.record_key, *configuration.partition_by, *configuration.ordering)


def family_of(column: Field) -> str:
    """A type without its digits and without its unit.

    Clauses: DM-005.
    """
    return column.type.partition("(")[0].removesuffix("-millis").removesuffix("-micros")


@dataclass(frozen=True, slots=True)
class ColumnChange:
    """What becomes of the column of a path: add, drop, rename, type, move; `place`: first, after or before one."""

    kind: str
    path: tuple[str, ...]
    column: Field | None = None
    to: str = ""
    place: tuple[str, str] = ("", "")


def altered(view: View, changes: Iterable[ColumnChange], requested: InstantTime) -> tuple[SchemaVersion, ...]:
    """All versions of a table's columns after changes, the new one last; the first has ids after the meta fields'.

    Raises: SCHEMA_INCOMPATIBLE.

    Clauses: DM-020, DM-021.
    """
    own, known = table_schema(view), versions_by_id(view.table)
    if not known:
        ids = count(len(META_FIELDS))
        own = with_new_ids(own, ids)
        known = (SchemaVersion(0, own, next(ids)),)
    ids = count(known[-1].highest + 1)
    for one in changes:
        refuse_needed(view.configuration, one)
        own = Schema(edited(own.fields, one.path, one, ids))
    if [(one, one.id) for one in own.fields] == [(one, one.id) for one in known[-1].schema.fields]:
        raise Rejection(Reason.SCHEMA_INCOMPATIBLE, "DM-021", "changes", "they change nothing")
    return (*known, SchemaVersion(int(requested), own, next(ids)))


def continued(view: View, schema: Schema, requested: InstantTime) -> SchemaVersion | None:
    """The columns after a write where these have ids: a new version only with a new column or type.

    Clauses: DM-020, DM-021.
    """
    known, own = versions_by_id(view.table), table_schema(view)
    if not known or schema == own:
        return known[-1] if known else None
    ids = count(known[-1].highest + 1)
    return SchemaVersion(int(requested), with_new_ids(with_ids(schema, own), ids), next(ids))


def with_new_ids(schema: Schema, ids: Iterator[int]) -> Schema:
    """Columns of which those without an id get the next; keys of a map have one, too.

    Clauses: DM-021.
    """
    fields = []
    for field in schema.fields:
        own = next(ids) if field.id is None else field.id
        if field.id is None and field.type.startswith("map<"):
            next(ids)
        fields.append(replace(field, id=own, parts=with_new_ids(Schema(field.parts), ids).fields))
    return Schema(tuple(fields))


def refuse_needed(configuration: Configuration, change: ColumnChange) -> None:
    """Nothing, unless what keys, partition paths or the order of versions are made of would go or become text.

    Raises: SCHEMA_INCOMPATIBLE.

    Clauses: DM-021.
    """
    name, kind = ".".join(change.path), change.column and change.column.type
    needed = (*configuration.record_key, *configuration.partition_by, *configuration.ordering)
    changes = change.kind in {"drop", "rename"} or (change.kind == "type" and kind not in {"int64", "float64"})
    if changes and any(f"{one}.".startswith(f"{name}.") for one in needed):
        raise unfit(change, "the table needs it as it is")


def unfit(change: ColumnChange, why: str) -> Rejection:
    """What a change is refused with that cannot be made."""
    return Rejection(Reason.SCHEMA_INCOMPATIBLE, "DM-021", ".".join(change.path), f"{change.kind}: {why}")


def edited(
    fields: tuple[Field, ...], path: tuple[str, ...], change: ColumnChange, ids: Iterator[int]
) -> tuple[Field, ...]:
    """Columns, or parts of one, after a change of one of them: it keeps its id, and a new one has an id of its own.

    Raises: SCHEMA_INCOMPATIBLE for a column that is not there, or is there already, and for values that do not fit.

    Clauses: DM-021.
    """
    names, taken = [one.name for one in fields], {one.name.casefold() for one in fields}
    place = names.index(path[0]) if path[0] in names else -1
    if place < 0 and (len(path) > 1 or change.kind != "add"):
        raise unfit(change, f"there is no {path[0]!r}")
    if len(path) > 1:
        parts = edited(fields[place].parts, path[1:], change, ids)
        return (*fields[:place], with_parts(fields[place], parts, change), *fields[place + 1 :])
    others = fields[:place] + fields[place + 1 :] if place >= 0 else fields
    match change:
        case ColumnChange("drop") if others:
            return others
        case ColumnChange("add", column=Field() as column) if path[0].casefold() not in taken:
            return placed(others, with_new_ids(Schema((column,)), ids).fields[0], change)
        case ColumnChange("move"):
            return placed(others, fields[place], change)
        case ColumnChange("rename", to=name) if name.casefold() not in taken:
            return (*fields[:place], replace(fields[place], name=name), *fields[place + 1 :])
        case ColumnChange("type", column=Field() as column) if may_become(fields[place], column):
            return (*fields[:place], replace(fields[place], type=column.type), *fields[place + 1 :])
    raise unfit(change, f"of {names}")


def placed(others: tuple[Field, ...], column: Field, change: ColumnChange) -> tuple[Field, ...]:
    """A column among its siblings: first, or beside one of them; last where nothing says where.

    Raises: SCHEMA_INCOMPATIBLE.

    Clauses: DM-021.
    """
    beside = {("before", one.name): at for at, one in enumerate(others)}
    beside |= {("after", one.name): at + 1 for at, one in enumerate(others)}
    at = beside.get(change.place, {"first": 0, "": len(others)}.get(change.place[0]))
    if at is None:
        raise unfit(change, f"there is no {change.place[1]!r}")
    return (*others[:at], column, *others[at:])


def with_parts(column: Field, parts: tuple[Field, ...], change: ColumnChange) -> Field:
    """A struct with other fields, a list or a map with another kind of value.

    Raises: SCHEMA_INCOMPATIBLE where the one part of a list or a map would go or be joined.

    Clauses: DM-021.
    """
    kind = column.type.partition("<")[0]
    if kind != "struct" and [one.name for one in parts] != [one.name for one in column.parts]:
        raise unfit(change, f"{column.name!r} is a {kind}")
    inner = ",".join(f"{one.name}:{one.type}" if kind == "struct" else one.type for one in parts)
    return replace(column, type=f"{kind}<{'string,' * (kind == 'map')}{inner}>", parts=parts)


def may_become(own: Field, wanted: Field) -> bool:
    """Whether a column may be given a type.

    Clauses: DM-021.
    """
    old, new = (one.type.partition("(")[0] for one in (own, wanted))
    if old == new == "decimal":
        digits = [[int(one) for one in kind.type[8:-1].split(",")] for kind in (own, wanted)]
        return digits[0][1] <= digits[1][1] and digits[0][0] - digits[0][1] <= digits[1][0] - digits[1][1]
    return own.type == wanted.type or new in BECOMES.get(old, ())
