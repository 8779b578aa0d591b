"""The files of a write: what each file group gets, as a base file or as log blocks, with their meta fields."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import hudi_model.effects as durable
from hudi_model.actions import WriteStat
from hudi_model.configuration import Configuration, is_true
from hudi_model.effects import FIRST_ATTEMPT, SHARED_TAIL, Effects, base_file_name, log_file_name, native_log_name
from hudi_model.files import (
    META_FIELDS,
    BaseFile,
    CdcBlock,
    CdcRecord,
    DataBlock,
    Delete,
    DeleteBlock,
    FileSlice,
    GroupId,
    LogFile,
    Marker,
    Record,
    Schema,
    valid_records,
)
from hudi_model.keys import key_of
from hudi_model.merge_modes import table_rule
from hudi_model.merge_rules import MergeRule, Version, is_integer_zero, version_of_row
from hudi_model.merging import merge_slice
from hudi_model.reading import base_rows
from hudi_model.slicing import group_of, path_of, pending_compactions
from hudi_model.tables import Table, View
from hudi_model.time import InstantTime


@dataclass(frozen=True, slots=True)
class Change:
    """What one file group gets: versions in their order, appended as they are or merged by the table's rule."""

    group: GroupId
    found: FileSlice | None
    versions: tuple[Version, ...]
    appended: bool = False
    partial: bool = False


@dataclass(frozen=True, slots=True)
class Staged:
    """A data file, what the commit will say of it, the kind of its marker, and the change feed's log beside it."""

    file: BaseFile | LogFile
    stat: WriteStat
    marker: str
    feed: LogFile | None = None


def stored_row(view: View, version: Version, partition: str, requested: InstantTime, number: int) -> Version:
    """A version whose row has the table's own columns before its own; the file's name follows.

    Clauses: MF-001, MF-010, MF-011, MF-012, MF-014.
    """
    if version.record is None or not is_true(view.configuration.properties, "hoodie.populate.meta.fields"):
        return version
    meta = {
        "_hoodie_commit_time": requested,
        "_hoodie_commit_seqno": f"{requested}_0_{number}",
        "_hoodie_record_key": version.key,
        "_hoodie_partition_path": partition,
        "_hoodie_file_name": "",
    }
    return replace(version, record=Record({**meta, **version.record.values, **meta}))


def placing(table: Table, requested: InstantTime, staged: Staged) -> Effects:
    """A file appears: first its marker, then the partition where it is new, then the file; its change log likewise.

    Clauses: MK-001, CD-010, NL-013, SL-002.
    """
    effects: Effects = ()
    for file, kind in ((staged.feed, "CREATE"), (staged.file, staged.marker)):
        if file:
            opens = [durable.PutPartitionMetafile(file.partition)] if file.partition not in table.partitions else []
            put = durable.PutBaseFile(file) if isinstance(file, BaseFile) else durable.PutLogFile(file)
            effects += (durable.PutMarker(Marker(requested, file.partition, file.name, kind)), *opens, put)
    return effects


def unplacing(table: Table, requested: InstantTime) -> Effects:
    """The files that the markers of an instant announce go.

    Clauses: MK-003.
    """
    announced = sorted((one.partition, one.name) for one in table.markers if one.instant == requested)
    return tuple(durable.DeleteDataFile(*one) for one in announced)


def in_file(record: Record, name: str) -> Record:
    """A row as it lies in a file; a row that is carried over keeps its commit time.

    Clauses: MF-010, MF-013.
    """
    if "_hoodie_file_name" not in record.values:
        return record
    return Record({**record.values, "_hoodie_file_name": name})


def base_file(view: View, change: Change, schema: Schema, requested: InstantTime) -> Staged | None:
    """A new base file of a group: the rows it had and its changes, merged; None where a new group gets no rows.

    Clauses: OW-015, OW-017, TT-001.
    """
    rule, where = table_rule(view), change.group[1]
    stored = base_rows(view, change.found, schema) if change.found else ()
    old = tuple(version_of_row(row, key_of(row, view.configuration, where), rule) for row in stored)
    rows = (*stored, *(one.record for one in change.versions if one.record and not one.is_delete))
    if not change.appended:
        merged = merge_slice(rule, old, change.versions, view.readings)
        known = {one.key: one.record for one in old if one.record}
        rows = tuple(with_own_time(row, key_of(row, view.configuration, where), known, change) for row in merged)
    if not change.found and not rows:
        return None
    extension = base_extension(view.configuration)
    name = base_file_name(where, FIRST_ATTEMPT, requested, extension)
    file = BaseFile(*change.group, FIRST_ATTEMPT, requested, extension, name, tuple(in_file(row, name) for row in rows))
    before, kept = {one.key: one.record for one in old}, {id(row) for row in stored}
    after = [(key_of(row, view.configuration, where), row) for row in rows]
    written = [(key, row) for key, row in after if id(row) not in kept]
    fresh = [CdcRecord("u" if key in before else "i", key, before.get(key), row) for key, row in written]
    gone = [CdcRecord("d", key, row) for key, row in before.items() if key not in dict(after)]
    feed = change_log(view, change, (*fresh, *gone), requested)
    inserts = sum(one.operation == "i" for one in fresh)
    counts = (len(rows), inserts, len(fresh) - inserts, len(gone))
    stat = WriteStat(*change.group, path_of(file), change.found.base_instant if change.found else "null", *counts)
    stat = replace(stat, change_logs=(path_of(feed),) if feed else ())
    return Staged(file, stat, "MERGE" if change.found else "CREATE", feed)


def with_own_time(row: Record, key: str, before: Mapping[str, Record], change: Change) -> Record:
    """A merged row with the time of the write that changed its values, though an older version won.

    Clauses: MF-010, CD-004.
    """
    old, brought = before.get(key), next((one.record for one in change.versions if one.key == key and one.record), None)
    names = ("_hoodie_commit_time", "_hoodie_commit_seqno")
    if old is None or brought is None or any(row.values.get(name) != old.values.get(name) for name in names):
        return row
    if own_columns(row) == own_columns(old):
        return old
    return Record({**row.values, **{name: brought.values[name] for name in names if name in brought.values}})


def change_log(view: View, change: Change, made: Iterable[CdcRecord], requested: InstantTime) -> LogFile | None:
    """The log of what a rewritten base file changed, with the images that the table wants; None where it wants none.

    Clauses: CD-008, CD-010, CD-011, NL-011.
    """
    properties = view.configuration.properties
    if not change.found or not made or not is_true(properties, "hoodie.table.cdc.enabled"):
        return None
    mode = properties.get("hoodie.table.cdc.supplemental.logging.mode", "").upper() or "DATA_BEFORE_AFTER"
    logged = []
    for one in made:
        before = own_columns(one.before) if mode != "OP_KEY_ONLY" else None
        after = own_columns(one.after) if mode == "DATA_BEFORE_AFTER" else None
        logged.append(CdcRecord(one.operation, one.key, before, after))
    kind = "cdc" if writes_native_logs(view.configuration) else ""
    named = change.group[1], requested, 1, FIRST_ATTEMPT
    name = native_log_name(*named, kind) if kind else log_file_name(*named, cdc=True)
    blocks = (CdcBlock(requested, tuple(logged)),)
    return LogFile(*change.group, requested, 1, FIRST_ATTEMPT, True, name, blocks, native=kind)


def own_columns(row: Record | None) -> Record | None:
    """A row without the table's own columns."""
    return row and Record({name: value for name, value in row.values.items() if name not in META_FIELDS})


def log_file(view: View, change: Change, schema: Schema, requested: InstantTime) -> Staged | None:
    """A new log file of a group; None where there is nothing to log. [Modified in v8] Named after its own instant.

    A version 6 log is named after the newest slice, opened or planned, and takes the next version there.

    Clauses: OW-016, OW-017, MK-002, RD-005, SW-007, TT-002.
    """
    blocks = tuple(blocks_of_change(change, table_rule(view), schema, requested))
    if not blocks:
        return None
    named, version, token = requested, 1, FIRST_ATTEMPT
    by_slice = view.configuration.rules.logs_name_their_slice
    if by_slice:
        planned = pending_compactions(view.timeline).get(change.group, frozenset())
        named = max(planned | ({change.found.base_instant} if change.found else set()), default=requested)
        there = (one for one in view.table.state.log_files if (group_of(one), one.instant) == (change.group, named))
        version, token = max((one.version for one in there), default=0) + 1, f"0-{int(requested[-9:])}-0"
    name = log_file_name(change.group[1], named, version, token)
    file = LogFile(*change.group, named, version, token, cdc=False, name=name, blocks=blocks)
    rows = sum(not one.is_delete for one in change.versions)
    counts = (rows, 0 if change.found else rows, rows if change.found else 0, len(change.versions) - rows)
    return Staged(file, WriteStat(*change.group, path_of(file), named, *counts), "APPEND" if by_slice else "CREATE")


def writes_native_logs(configuration: Configuration) -> bool:
    """[Draft, v10] Whether new logs are files of the format of base files; where that is not Parquet, blocks as before.

    Clauses: NL-009.
    """
    return configuration.rules.native_logs and base_extension(configuration) == "parquet"


def native_logs_of(configuration: Configuration, staged: Staged) -> tuple[Staged, ...]:
    """[Draft, v10] A native log for each block of a log file, and what the commit says of each.

    Rows count versions from that of the log on; deletes share the version of the last rows.

    Clauses: NL-005, NL-009.
    """
    log = staged.file
    if isinstance(log, BaseFile) or log.native or not writes_native_logs(configuration):
        return (staged,)
    made, version = list[Staged](), log.version
    for block in valid_records(log.blocks):
        is_delete = isinstance(block, DeleteBlock)
        version += bool(made) and not is_delete
        kind = "deletes" if is_delete else "log"
        name = native_log_name(log.file_id, log.instant, version, log.write_token, kind)
        file = replace(log, version=version, name=name, blocks=(block,), native=kind)
        own = replace(staged.stat, path=path_of(file), deletes=staged.stat.deletes if is_delete else 0)
        if made or is_delete:
            own = replace(own, writes=0, inserts=0, updates=0)
        made.append(replace(staged, file=file, stat=own))
    return tuple(made)


def blocks_of_change(
    change: Change, rule: MergeRule, schema: Schema, requested: InstantTime
) -> Iterable[DataBlock | DeleteBlock]:
    """The blocks of a change: rows, then tombstones; in a new group these only where other writers may begin it, too.

    Clauses: OW-013, OW-016, OW-025.
    """
    rows = tuple(in_file(one.record, change.group[1]) for one in change.versions if one.record and not one.is_delete)
    if rows:
        named = {name for row in rows for name in row.values}
        own = Schema(tuple(one for one in schema.fields if one.name in named)) if change.partial else schema
        yield DataBlock(requested, rows, partial=change.partial, schema=own)
    gone = tuple(tombstone(one, change.group[0], rule, schema) for one in change.versions if one.is_delete)
    if gone and (change.found or SHARED_TAIL in change.group[1]):
        yield DeleteBlock(requested, gone)


def tombstone(version: Version, partition: str, rule: MergeRule, schema: Schema) -> Delete:
    """A delete as a log holds it: without ordering values it carries the integer 0, which no other zero is taken for.

    Clauses: LF-017, OW-013.
    """
    values = version.ordering
    if values is None or None in values:
        return Delete(version.key, partition, 0)
    value = values if len(values) > 1 else values[0]
    of_ints = any(one.name in rule.ordering and one.type == "int32" for one in schema.fields)
    return Delete(version.key, partition, value, zero_is_value=is_integer_zero(value) and not of_ints)


def base_extension(configuration: Configuration) -> str:
    """The extension of new base files, by the format that the properties name.

    Clauses: BF-010.
    """
    return configuration.properties.get("hoodie.table.base.file.format", "").strip().lower() or "parquet"
