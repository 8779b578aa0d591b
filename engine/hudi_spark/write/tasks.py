"""The tasks of a write: pure functions over parts of the incoming rows, each with the identity of its task."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hudi_spark.errors import HudiError, Reason
from hudi_spark.files import (
    WRITTEN_SCHEMA,
    LogGroup,
    LogRows,
    WrittenFile,
    WrittenLog,
    no_rows_statistics,
    rows_statistics,
    to_rows,
    write_log,
)
from hudi_spark.keys import (
    BASE_INSTANT,
    DELETED,
    FILE_ID,
    MOVED,
    PARTITION_PATH,
    POSITION,
    RECORD_KEY,
    SLICE,
    KeyGenerator,
    brought_keys,
)
from hudi_spark.merge import MergeRule, combined, combining_rule
from hudi_spark.read import TaskIdentity, refuse_lost_rows
from hudi_spark.schema import WriterSchema, cast_rows, parts_by
from hudi_spark.table_state import refuse_no_folders
from hudi_spark.write.base_groups import create_files, merge_into_file, stamped
from hudi_spark.write.planning import WriteContext
from hudi_spark.write.routing import KEY_FIELDS, SEQUENCE, TARGET, Routes, Target, routed


def append_logs(  # noqa: PLR0917 - rows, and what is known of each
    target: Target,
    rows: pa.Table,
    deletes: pa.ChunkedArray,
    tags: pa.Table,
    context: WriteContext,
    identity: TaskIdentity,
) -> tuple[WrittenFile, ...]:
    """The rows of one file group as its next log files.

    `deletes`: rows that remove their key whatever ordering value they have. `tags`: where the index found each key.

    Clauses: OW-013, OW-016, LF-023.
    """
    group = LogGroup(target.partition, target.file_id) if target.slice is None else LogGroup.of(target.slice)
    known = pc.is_valid(tags.column(BASE_INSTANT))
    incoming = LogRows(rows, deletes, known, _positions(target, tags))
    logs = write_log(context.place, incoming, group, context.logs, identity)
    return tuple(_written_file(one, context) for one in logs)


def _positions(target: Target, tags: pa.Table) -> pa.ChunkedArray | None:
    """Places in the base file, if the slice has one that the index looked into.

    Clauses: LF-023.
    """
    return None if target.slice is None or target.slice.base_file is None else tags.column(POSITION)


def _written_file(log: WrittenLog, context: WriteContext) -> WrittenFile:
    form = context.statistics
    name = (log.stat.path or "").rpartition("/")[2]
    if log.rows.num_rows:
        statistics = rows_statistics(name, log.rows, form.columns, form.version)
    else:
        statistics = no_rows_statistics(name, form.columns, form.version)
    return WrittenFile(log.stat, statistics, log.created_partition)


DELETES_FIELD: Final = pa.field("_tag_deletes", pa.bool_())
# Rows of one part are numbered below this.
_PART_BITS: Final = 40


@dataclass(frozen=True, slots=True)
class Keying:
    """Incoming rows in the table's columns, with their keys and partition paths.

    `tags`: whether keys are looked up, so that stored rows keep a key that was generated. `deletes`: the column that is
    true where a row removes its key; empty for none.

    Clauses: DM-002, DM-030, OW-019.
    """

    schema: WriterSchema
    generator: KeyGenerator
    requested: str
    tags: bool
    deletes: str = ""

    @property
    def keyed_schema(self) -> pa.Schema:
        """The columns afterwards."""
        return pa.schema([*self.schema.arrow, *KEY_FIELDS, *([DELETES_FIELD] if self.deletes else [])])

    def __call__(self, rows: pa.Table, identity: TaskIdentity) -> pa.Table:
        """The part with its keys."""
        brought = cast_rows(rows, self.schema)
        # The text of a value follows from the type of its column in the table, whatever type the rows came in.
        source = _with_further(brought, rows)
        # Stored rows of a table whose keys are generated bring the one that they got; what a merge inserts has none.
        keeps = self.tags and self.generator.rule is None and RECORD_KEY in rows.column_names
        stored = rows.column(RECORD_KEY) if keeps else None
        if stored is not None and not self.deletes:
            keys = brought_keys(stored)
        else:
            keys = self.generator.keys(source, identity, self.requested)
            keys = keys if stored is None else pc.coalesce(stored, keys)
        paths = self.generator.partition_paths(source)
        first = identity.partition << _PART_BITS
        numbers = pa.chunked_array([pa.arange(first, first + rows.num_rows)])
        marks = [rows.column(self.deletes)] if self.deletes else []
        return pa.Table.from_arrays([*brought.columns, keys, paths, numbers, *marks], schema=self.keyed_schema)


def _with_further(brought: pa.Table, rows: pa.Table) -> pa.Table:
    """Columns that the table's files lack, such as dropped partition columns, as they came."""
    known = frozenset(brought.column_names)
    further = [number for number, name in enumerate(rows.column_names) if name not in known]
    schema = pa.schema([*brought.schema, *(rows.schema.field(number) for number in further)])
    return pa.Table.from_arrays([*brought.columns, *(rows.column(number) for number in further)], schema=schema)


@dataclass(frozen=True, slots=True)
class Combining:
    """The versions of each key merged into one row, within a part that has all of them; `rule`: the table's.

    `stored`: the rows are those of the table, of which none may be lost to another one.

    Clauses: OW-019, MG-002, MG-017.
    """

    rule: MergeRule
    missing: frozenset[str]
    by_partition: bool
    stored: bool = False

    def __call__(self, rows: pa.Table, identity: TaskIdentity) -> pa.Table:
        """One row for each key, or for each key of a partition."""
        del identity
        ordered, rule = rows.take(pc.sort_indices(rows.column(SEQUENCE))), combining_rule(self.rule)
        if not self.by_partition:
            if self.stored:
                _refuse_doubles(ordered)
            return combined(ordered, rule, self.missing)
        places = pc.binary_join_element_wise(ordered.column(PARTITION_PATH), ordered.column(RECORD_KEY), "\0")
        return combined(ordered, rule, self.missing, places)


def _refuse_doubles(rows: pa.Table) -> None:
    """Stored rows of one key lie in several partitions, and an index of all of them keeps one row for each key.

    Clauses: DM-001, OW-021.
    """
    counted = pc.value_counts(rows.column(RECORD_KEY))
    doubled = counted.filter(pc.greater(counted.field("counts"), 1)).field("values")
    if len(doubled):
        message = (
            f"rows of several partitions share the key {doubled[0].as_py()!r}, and a global index keeps one of them"
        )
        hint = "give the write an index that is not global, such as SIMPLE, or remove the rows that are too many"
        raise HudiError(Reason.CONFIG_INVALID, "OW-021", message, hint=hint)


@dataclass(frozen=True, slots=True)
class Known:
    """Only the rows whose key a file group holds: what is not there need not be deleted.

    Clauses: OW-013.
    """

    def __call__(self, rows: pa.Table, identity: TaskIdentity) -> pa.Table:
        """The rows of the part that are wanted."""
        del identity
        return rows.filter(pc.is_valid(rows.column(FILE_ID)))


@dataclass(frozen=True, slots=True)
class NewKeys:
    """Of rows with places, or with tags, those whose key the table lacks, or only the others, in their own columns.

    A key that logs have deleted is new; it comes once for each of its places.

    Clauses: DM-001.
    """

    names: tuple[str, ...]
    wanted: bool = True

    def __call__(self, rows: pa.Table, identity: TaskIdentity) -> pa.Table:
        """The rows of the part that are wanted."""
        del identity
        known = pc.is_valid(rows.column(SLICE if SLICE in rows.column_names else FILE_ID))
        if DELETED in rows.column_names:
            known = pc.and_not(known, pc.fill_null(rows.column(DELETED), fill_value=False))
        found = rows.filter(pc.invert(known) if self.wanted else known).select(self.names)
        _, firsts = np.unique(found.column(SEQUENCE).to_numpy(), return_index=True)
        return found.take(firsts)


@dataclass(frozen=True, slots=True)
class Routing:
    """Every row with the number of its target."""

    routes: Routes

    def __call__(self, rows: pa.Table, identity: TaskIdentity) -> pa.Table:
        """The part with targets."""
        del identity
        return routed(rows, self.routes)


@dataclass(frozen=True, slots=True)
class WritingTargets:
    """The file groups that the rows of a part go to, written.

    Clauses: OW-015, OW-016, TL-026.
    """

    targets: tuple[Target, ...]
    context: WriteContext

    def __call__(self, rows: pa.Table, identity: TaskIdentity) -> pa.Table:
        """What was written, as rows."""
        return to_rows(tuple(self._written(rows, identity)))

    def _written(self, rows: pa.Table, identity: TaskIdentity) -> Iterator[WrittenFile]:
        for number, part in parts_by(rows, TARGET):
            # Buckets of two partitions may have one id: what shows their files apart, to statistics too, is the token.
            own = replace(identity, partition=number)
            yield from write_target(self.targets[number], number, part, self.context, own)


def write_target(
    target: Target, number: int, rows: pa.Table, context: WriteContext, identity: TaskIdentity
) -> tuple[WrittenFile, ...]:
    """One file group, written in the way that its target says.

    Clauses: OW-012, OW-015, OW-016.
    """
    ordered = rows.take(pc.sort_indices(rows.column(SEQUENCE)))
    moved = pc.fill_null(ordered.column(MOVED), fill_value=False)
    deletes = pc.or_(moved, pa.scalar(context.operation.deletes))
    if DELETES_FIELD.name in ordered.column_names:
        deletes = pc.or_(deletes, pc.fill_null(ordered.column(DELETES_FIELD.name), fill_value=False))
    own = stamped(ordered, context.schema, context.requested, number)
    if target.kind == "append":
        return append_logs(target, own, deletes, ordered, context, identity)
    if target.slice is None:
        return create_files(own.filter(pc.invert(deletes)), target.partition, target.file_id, context, identity)
    external = context.origins.external(target.slice)
    refuse_lost_rows(context.place.effects.storage, target.slice.base_file, target.stated, external)
    return (merge_into_file(own, deletes, target.slice, context, identity),)


@dataclass(frozen=True, slots=True)
class BulkWriting:
    """The rows of a part as new file groups, at least one for each partition path in it.

    Clauses: OW-012, SL-023.
    """

    context: WriteContext

    def __call__(self, rows: pa.Table, identity: TaskIdentity) -> pa.Table:
        """What was written, as rows."""
        return to_rows(tuple(self._written(rows, identity)))

    def _written(self, rows: pa.Table, identity: TaskIdentity) -> Iterator[WrittenFile]:
        own = stamped(rows, self.context.schema, self.context.requested, identity.partition)
        storage = self.context.place.effects.storage
        refuse_no_folders(storage, pc.unique(own.column(PARTITION_PATH)).to_pylist(), "SL-002")
        for partition, part in parts_by(own, PARTITION_PATH):
            yield from create_files(part, partition, self.context.new_file_id(), self.context, identity)


__all__ = ["WRITTEN_SCHEMA", "BulkWriting", "Combining", "Keying", "Known", "Routing", "WritingTargets"]
