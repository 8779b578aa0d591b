"""Indexes: how they are defined, and what each holds of a table, by key."""

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, TypeAlias

from hudi_model.actions import IndexDefinition, State
from hudi_model.configuration import is_true
from hudi_model.files import (
    META_FIELDS,
    BaseFile,
    CorruptBlock,
    Damaged,
    DataBlock,
    FileSlice,
    LogFile,
    Record,
    Value,
    valid_records,
)
from hudi_model.filters import Function, applied
from hudi_model.keys import UNIX_EPOCH, key_of, key_text
from hudi_model.merge_modes import merge_rule
from hudi_model.reading import read_slice
from hudi_model.schemas import table_schema
from hudi_model.slicing import file_groups, snapshot_slices
from hudi_model.tables import View
from hudi_model.time import InstantTime
from hudi_model.timeline import is_committed, rolled_back

Contents: TypeAlias = Mapping[str, Any]
"""What an index holds: by key, a value as records have it."""

EVERY_PARTITION, NO_PARTITION, NULL = "__all_partitions__", ".", "\0"
UNINDEXED = frozenset({"_hoodie_commit_seqno", "_hoodie_file_name"})


def contents(index: IndexDefinition, view: View) -> Contents:
    """What an index of a table holds.

    Clauses: MT-010, MT-011, IX-010, IX-020, IX-022, IX-030.
    """
    rows = live_rows(view) if index.kind in ("record_index", "secondary_index") else ()
    match index.kind:
        case "files":
            return file_listing(view)
        case "partition_stats":
            return partition_statistics(index, view)
        case "record_index":
            return {joined(*([group[0]] if index.is_partitioned else []), key): [*group] for group, key, _ in rows}
        case "secondary_index":
            return {secondary_key(row.values.get(index.sources[0]), key): "" for _, key, row in rows}
    kept = statistics_of_file if index.kind == "column_stats" else filter_of_file
    return dict(entry for file in held_files(view) for entry in kept(index, view, file))


def live_rows(view: View) -> Iterator[tuple[tuple[str, str], str, Record]]:
    """The rows of a snapshot as merging leaves them, each with its file group and its key.

    Clauses: IX-021, IX-031.
    """
    schema = table_schema(view)
    for found in snapshot_slices(view):
        for row in read_slice(view, found, schema):
            yield (found.partition, found.file_id), key_of(row, view.configuration, found.file_id), row


def secondary_key(value: Value, key: str) -> str:
    """A value and the key of a row that has it, as one text; a date is its days since 1970."""
    if isinstance(value, dt.date) and not isinstance(value, dt.datetime):
        value = (value - UNIX_EPOCH.date()).days
    texts = [one.replace("\\", "\\\\").replace("$", "\\$") for one in (NULL if value is None else key_text(value), key)]
    return "$".join(texts)


def joined(*parts: str) -> str:
    """The parts of a key, which bytes have as hashes one after another."""
    return "|".join(parts)


def held_files(view: View) -> tuple[BaseFile | LogFile, ...]:
    """The files that count: those of completed actions, in slices and groups no longer read too.

    In version 6 a log that a rollback took back by a command stays in storage, and is listed with the command's.

    Clauses: MT-010.
    """
    bases = (one.base_file for group in file_groups(view) for one in group.slices)
    done = settled(view)
    return (*(one for one in bases if one), *(one for one in view.table.state.log_files if is_held(view, one, done)))


def settled(view: View) -> frozenset[InstantTime]:
    """The instants of actions that completed; of tables that began in version 6 also of those that were rolled back.

    Clauses: MT-010.
    """
    completed = frozenset(one.requested for one in view.timeline.instants if one.state is State.COMPLETED)
    began = view.configuration.properties.get("hoodie.table.initial.version")
    stay = view.configuration.rules.logs_name_their_slice or began == "6"
    return completed | (rolled_back(view.timeline) if stay else frozenset())


def is_held(view: View, log: LogFile, done: frozenset[InstantTime]) -> bool:
    """Whether a log counts: before version 8 a slice may hold logs of writes that have not completed."""
    times = instants_of(log)
    return bool(times & done) or any(is_committed(view.timeline, one) for one in times)


def instants_of(log: LogFile) -> set[InstantTime]:
    """Who wrote to a log file, whose name may tell its slice only."""
    blocks = () if isinstance(log.blocks, Damaged) else log.blocks
    return {one.instant for one in blocks if not isinstance(one, CorruptBlock)} or {log.instant}


def file_listing(view: View) -> Contents:
    """The files of each partition with their sizes, and the partitions.

    Clauses: MT-010.
    """
    listing: dict[str, dict[str, int]] = {}
    for file in held_files(view):
        partition = file.partition or NO_PARTITION
        listing.setdefault(EVERY_PARTITION, {})[partition] = 0
        listing.setdefault(partition, {})[file.name] = file.size
    return listing


def statistics_of_file(index: IndexDefinition, view: View, file: BaseFile | LogFile) -> Iterator[tuple[str, Any]]:
    """The statistics of each column that is indexed and that every row of a file has.

    Clauses: MT-011, MT-012, IX-040, IX-041.
    """
    rows, function = rows_in(file), Function(index.function, index.arguments)
    every = [set(row.values) for row in rows] or [stored_columns(view)]
    kept = set[str].intersection(*every) - UNINDEXED
    for column in sorted(kept & {*index.sources} if index.sources else kept):
        values = (row.values[column] for row in rows)
        if found := statistics([None if one is None else applied(function, one) for one in values]):
            yield joined(column, file.partition or NO_PARTITION, file.name), found


def stored_columns(view: View) -> set[str]:
    """The columns that a row of a table has, also where a file has none."""
    meta = META_FIELDS if is_true(view.configuration.properties, "hoodie.populate.meta.fields") else ()
    return {*meta, *(one.name for one in table_schema(view).fields)}


def filter_of_file(index: IndexDefinition, view: View, file: BaseFile | LogFile) -> Iterator[tuple[str, Any]]:
    """What a base file holds at all: keys, or an expression's values; log files have no filter.

    Nor have files without stored keys a filter of keys: a table that does not fill its meta fields writes none.

    Clauses: IX-010.
    """
    stored = is_true(view.configuration.properties, "hoodie.populate.meta.fields")
    if isinstance(file, BaseFile) and (stored or index.sources):
        rows, function = rows_in(file), Function(index.function, index.arguments)
        values = (row.values.get(column) for row in rows for column in index.sources)
        results = (applied(function, one) for one in values if one is not None)
        found = {key_text(one) for one in results if one is not None}
        keys = {key_of(row, view.configuration, file.name) for row in rows}
        yield joined(file.partition or NO_PARTITION, file.name), sorted(found if index.sources else keys)


def rows_in(file: BaseFile | LogFile) -> tuple[Record, ...]:
    """The rows that lie in a file, whatever others make of them."""
    if isinstance(file, BaseFile):
        return valid_records(file.records)
    blocks = () if isinstance(file.blocks, Damaged) else file.blocks
    return tuple(row for one in blocks if isinstance(one, DataBlock) for row in valid_records(one.records))


def statistics(values: Sequence[Value]) -> list[Value] | None:
    """Least and greatest value, nulls, values in all; None where values have no order, or not that of their kind.

    Clauses: MT-011, MT-013.
    """
    known: list[Any] = [one for one in values if one is not None]
    if any(isinstance(one, list | dict | bytes) or one != one for one in known):  # noqa: PLR0124 - not-a-number
        return None
    return [min(known, default=None), max(known, default=None), len(values) - len(known), len(values)]


def together(many: Iterable[list[Any] | None]) -> list[Any] | None:
    """The statistics of several files; unknown where those of one are, or where a bound is not a number.

    Clauses: MT-013.
    """
    every = list(many)
    known = [one for one in every if one]
    ends = [end for one in known for end in one[:2] if end is not None]
    if len(known) < len(every) or not known or any(end != end for end in ends):  # noqa: PLR0124 - not-a-number
        return None
    return [min(ends, default=None), max(ends, default=None), *(sum(one[place] for one in known) for place in (2, 3))]


def slice_statistics(view: View, found: FileSlice, kept: Contents, column: str) -> list[Any] | None:
    """What the files of a slice together say of a column; nothing where a merger makes values of its own."""
    if found.log_files and merge_rule(view.configuration).strategy:
        return None
    done = settled(view)
    names = [one.name for one in found.log_files if is_held(view, one, done)]
    names += [found.base_file.name] if found.base_file else []
    return together(kept.get(joined(column, found.partition or NO_PARTITION, name)) for name in names)


def partition_statistics(index: IndexDefinition, view: View) -> Contents:
    """The statistics of each partition's current slices together.

    Clauses: MT-014.
    """
    kept = contents(IndexDefinition("column_stats", "column_stats", sources=index.sources), view)
    slices, found = snapshot_slices(view), dict[str, Any]()
    for column, partition in product({key.split("|")[0] for key in kept}, {one.partition for one in slices}):
        own = (slice_statistics(view, one, kept, column) for one in slices if one.partition == partition)
        if whole := together(own):
            found[joined(column, partition or NO_PARTITION)] = whole
    return found
