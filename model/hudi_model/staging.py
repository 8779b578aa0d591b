"""The files of a write: what each file group gets, as base files or as log blocks, with their meta fields."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from hudi_model.contents import WriteStat
from hudi_model.files import BaseFile, Block, DataBlock, DeleteBlock, FileSlice, GroupId, LogFile
from hudi_model.keys import key_of
from hudi_model.merge_modes import merge_rule
from hudi_model.merging import Version, merge_slice, version_of_row
from hudi_model.names import FIRST_ATTEMPT, base_file_name, log_file_name
from hudi_model.reading import base_rows
from hudi_model.records import Delete, Record, Schema
from hudi_model.slicing import group_of, path_of, pending_compactions
from hudi_model.time import InstantTime
from hudi_model.views import View


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
    """A data file, what the commit will say of it, and the kind of its marker."""

    file: BaseFile | LogFile
    stat: WriteStat
    marker: str


def with_meta_fields(record: Record, key: str, partition: str, requested: InstantTime, number: int) -> Record:
    """A new row with the columns of the table's own before its own; the file's name follows.

    Clauses: MF-001, MF-003.
    """
    meta = {
        "_hoodie_commit_time": requested,
        "_hoodie_commit_seqno": f"{requested}_0_{number}",
        "_hoodie_record_key": key,
        "_hoodie_partition_path": partition,
    }
    return Record({**meta, "_hoodie_file_name": "", **record.values})


def in_file(record: Record, name: str) -> Record:
    """A row as it lies in a file: a row that was carried over keeps its commit time.

    Clauses: MF-003.
    """
    if "_hoodie_file_name" not in record.values:
        return record
    return Record({**record.values, "_hoodie_file_name": name})


def base_file(view: View, change: Change, schema: Schema, requested: InstantTime) -> Staged | None:
    """A new base file of a group: the rows it had and its changes, merged; None where a new group gets no rows.

    Clauses: OW-016, TT-001, BF-001.
    """
    configuration, rule = view.configuration, merge_rule(view.configuration)
    stored = base_rows(change.found, schema) if change.found else ()
    old = tuple(version_of_row(row, key_of(row, configuration, change.group[1]), rule) for row in stored)
    if change.appended:
        rows = (*stored, *(one.record for one in change.versions if one.record))
    else:
        rows = merge_slice(rule, old, change.versions, view.readings)
    if not change.found and not rows:
        return None
    name = base_file_name(change.group[1], FIRST_ATTEMPT, requested)
    file = BaseFile(*change.group, FIRST_ATTEMPT, requested, "parquet", name, tuple(in_file(row, name) for row in rows))
    before = change.found.base_instant if change.found else "null"
    return Staged(file, counted(file, before, old, rows, requested), "MERGE" if change.found else "CREATE")


def counted(
    file: BaseFile, before: str, old: Iterable[Version], rows: tuple[Record, ...], requested: InstantTime
) -> WriteStat:
    """What a commit says of a base file: its rows, and how many were new, changed or left out.

    Clauses: OW-017.
    """
    known = {one.key for one in old}
    fresh = [row for row in rows if row.values.get("_hoodie_commit_time", requested) == requested]
    updates = sum(row.values.get("_hoodie_record_key") in known for row in fresh)
    inserts = len(fresh) - updates
    deletes = len(known) + inserts - len(rows)
    return WriteStat(file.partition, file.file_id, path_of(file), before, len(rows), inserts, updates, deletes)


def log_file(view: View, change: Change, schema: Schema, requested: InstantTime) -> Staged | None:
    """A new log file of a group: a block of rows, then a block of tombstones; None where there is neither.

    Clauses: OW-018, LF-001, TT-002.
    """
    blocks = tuple(blocks_of_change(change, schema, requested))
    if not blocks:
        return None
    by_slice = view.configuration.rules.logs_name_their_slice
    named = slice_instant(view, change, requested) if by_slice else requested
    token = f"0-{int(requested[-9:])}-0" if by_slice else FIRST_ATTEMPT
    version = next_log_version(view, change.group, named)
    name = log_file_name(change.group[1], named, version, token)
    file = LogFile(*change.group, named, version, token, cdc=False, name=name, blocks=blocks)
    updates = sum(one.record is not None for one in change.versions)
    deletes = len(change.versions) - updates
    stat = WriteStat(*change.group, path_of(file), named, updates, 0, updates, deletes)
    return Staged(file, stat, "APPEND" if by_slice else "CREATE")


def blocks_of_change(change: Change, schema: Schema, requested: InstantTime) -> Iterable[Block]:
    """The blocks of a change: rows first, then tombstones; no ordering value is the integer 0.

    Clauses: LF-017, OW-018.
    """
    rows = tuple(in_file(one.record, change.group[1]) for one in change.versions if one.record)
    gone = tuple(
        Delete(one.key, change.group[0], 0 if one.ordering is None else ordering_value(one.ordering))
        for one in change.versions
        if one.is_delete
    )
    if rows:
        names = {name for row in rows for name in row.values}
        own = Schema(tuple(field for field in schema.fields if field.name in names)) if change.partial else schema
        yield DataBlock(requested, rows, partial=change.partial, schema=own)
    if gone and change.found:
        yield DeleteBlock(requested, gone)


def ordering_value(ordering: tuple[object, ...]):  # noqa: ANN201
    return ordering[0] if len(ordering) == 1 else ordering


def slice_instant(view: View, change: Change, requested: InstantTime) -> InstantTime:
    """The base instant that a version 6 log is named after: that of the newest slice, opened or planned.

    Clauses: RD-005, OW-018.
    """
    planned = pending_compactions(view.timeline).get(change.group, frozenset())
    there = {change.found.base_instant} if change.found else set()
    return max(planned | there, default=requested)


def next_log_version(view: View, group: GroupId, named: InstantTime) -> int:
    """The version after those of the logs in storage that bear the same instant.

    Clauses: OW-018.
    """
    there = (log.version for log in view.table.state.log_files if group_of(log) == group and log.instant == named)
    return max(there, default=0) + 1
