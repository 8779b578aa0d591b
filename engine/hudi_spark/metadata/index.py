"""What an index of the metadata table is to a writer, and the rows before and after an action that it is made of.

What indexes of records hold follows from them alone: whatever wrote a row, and however it merges, the index holds what
is read.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import PurePosixPath
from typing import Final, Protocol

import pyarrow as pa
from hudi_format.base.files import base_file_footer
from hudi_format.metadata.records import MetadataRecord
from hudi_format.names import LogFileName, parse_data_file_name
from hudi_format.schemas import META_FIELDS, OPERATION_FIELD
from hudi_format.storage import Storage
from hudi_format.table.index_definitions import IndexDefinition
from hudi_format.timeline.commit_metadata import WriteStat

from hudi_spark.errors import HudiError, Reason
from hudi_spark.files import WrittenFile
from hudi_spark.merge import DELETED_FIELD, KeyRule, MergeRule, column_defaults, column_of, key_rule, merge_rule
from hudi_spark.options import INDEX_TYPE
from hudi_spark.read import UNMERGED, Executor, Flow, ReadContext, SliceTask, TaskIdentity, run_task, slice_task
from hudi_spark.schema import META_SCHEMA, Origins, WriterState, nullable, origins_of
from hudi_spark.table_state import METADATA_FOLDER, SERVICES, FileSlice, GroupId, MetadataTable, Visibility

ENTRIES: Final = pa.schema([("file_id", pa.string()), ("key", pa.string()), ("value", pa.binary())])
"""Entries of an index as rows: their file group, their key, the bytes of their record (null: the key is deleted)."""


@dataclass(frozen=True, slots=True)
class FinishedWrite:
    """An action all of whose files are written and which has not completed.

    `deleted`: by partition the names of files that a clean or a rollback removed. `replaced`: by partition the file
    groups that the action takes out of the table. `rolled_back`: the action that a rollback undoes.
    `emptied`: the partitions that a clean removed whole.

    Clauses: MT-003, MT-005.
    """

    requested: str
    action: str
    operation: str
    written: tuple[WrittenFile, ...] = ()
    replaced: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    deleted: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    rolled_back: str | None = None
    emptied: tuple[str, ...] = ()


NO_WRITE: Final = FinishedWrite("", "", "")
"""Where nothing is written."""


@dataclass(frozen=True, slots=True)
class IndexChanges:
    """What an action adds to an index and takes from it.

    Few entries are given as values, and go to their groups by their keys' hash. Many are a flow of `ENTRIES`, which
    know their groups; an entry that is there wins over one of the same key that is not (`entries.settled`).
    `opened`: file ids of groups that begin with this action, before its entries are written.

    Clauses: MT-002, MT-017, IX-022.
    """

    records: tuple[MetadataRecord, ...] = ()
    deleted: tuple[str, ...] = ()
    entries: Flow | None = None
    opened: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NewIndex:
    """An index at its beginning: its file groups, and what it holds of everything that has completed.

    `definition`: what `index.json` says of it, None where it is not listed there.

    Clauses: MT-009, MT-017, IX-001.
    """

    file_ids: tuple[str, ...]
    content: IndexChanges
    definition: IndexDefinition | None = None


@dataclass(frozen=True, slots=True)
class Keeping:
    """What those who keep indexes know: the table before the action, its metadata table, and who runs their tasks.

    `metadata`: as a reader sees it before the action, None while it is being made. `groups`: by index the file ids of
    its groups. `definitions`: by name what `index.json` says. `write`: the action itself, whose files an index that
    begins leaves out.

    Clauses: MT-005.
    """

    state: WriterState
    executor: Executor
    metadata: MetadataTable | None
    groups: Mapping[str, tuple[str, ...]] = field(hash=False)
    definitions: Mapping[str, IndexDefinition] = field(hash=False)
    write: FinishedWrite = NO_WRITE

    @property
    def storage(self) -> Storage:
        """Where the table lies."""
        return self.state.storage

    def groups_of(self, index: str) -> tuple[str, ...]:
        """The file ids of an index that the table's properties list.

        Raises:
            HudiError: BASE_FILE_MISSING where storage holds none of its file groups.

        Clauses: MT-017.

        """
        if found := self.groups.get(index):
            return found
        message = f"the properties list the index {index}, and storage holds no file group of it"
        hint = "restore its folder; or drop the index, or turn the metadata table off and on, and it is built anew"
        raise HudiError(Reason.BASE_FILE_MISSING, "MT-017", message, f"{METADATA_FOLDER}/{index}", hint=hint)


class Index(Protocol):
    """One kind of index."""

    def holds(self, partition: str) -> bool:
        """Whether a partition of the metadata table is of this kind."""

    def wanted(self, keeping: Keeping) -> tuple[str, ...]:
        """The partitions of this kind that the options request, and those that have a definition."""

    def dropped(self, keeping: Keeping, partition: str) -> bool:
        """Whether the options say that a partition of this kind, which is there, shall go."""

    def begin(self, keeping: Keeping, partition: str) -> NewIndex:
        """The index of everything that had completed before the action, whose own files are left out."""

    def changes(self, keeping: Keeping, partition: str, write: FinishedWrite) -> IndexChanges:
        """What the action changes in the index."""


# Actions that bring no rows and take none; what a rollback takes, the metadata table's own rollback does.
_WITHOUT_ROWS: Final = ("clean", "rollback", "restore", "savepoint", "indexing")
_REPLACING: Final = "CLUSTER"
_COUNTS: Final = pa.schema([("group", pa.int64()), ("rows", pa.int64())])


@dataclass(frozen=True, slots=True)
class GroupChange:
    """A file group that an action touches: the slices that are read before and after it, None where there is none.

    `updates_only`: the writer counted neither rows added nor rows removed, and no log before it could have hidden one.
    """

    partition: str
    file_id: str
    before: FileSlice | None
    after: FileSlice | None
    updates_only: bool = False


def group_changes(state: WriterState, write: FinishedWrite) -> tuple[GroupChange, ...]:
    """The file groups that an action touches, by partition and file id; none for actions that keep all rows in place.

    Clauses: IX-021, IX-031.
    """
    if write.action in _WITHOUT_ROWS or (write.operation in SERVICES and write.operation != _REPLACING):
        return ()
    known = {(one.partition, one.file_id): one for one in state.slices}
    stats = _stats_by_group(one.stat for one in write.written)
    # To a bucket every row is an update, also one with a new key: its writer looks at no keys.
    counts = _count_deletes(state) and state.options.text(INDEX_TYPE) != "BUCKET"
    changed = [_written(group, known.get(group), found, write.requested) for group, found in stats.items()]
    changed = [one if counts else replace(one, updates_only=False) for one in changed]
    gone = {(partition, file_id) for partition, ids in write.replaced.items() for file_id in ids} - stats.keys()
    replaced = [GroupChange(*group, known[group], None) for group in gone if group in known]
    return tuple(sorted((*changed, *replaced), key=lambda one: (one.partition, one.file_id)))


def _stats_by_group(stats: Iterable[WriteStat]) -> dict[GroupId, list[WriteStat]]:
    """The stats of data files; change logs hold no data."""
    found: dict[GroupId, list[WriteStat]] = {}
    for stat in stats:
        path = PurePosixPath(stat.path or "")
        name = parse_data_file_name(path.name)
        if name is not None and not (isinstance(name, LogFileName) and name.cdc):
            partition = "" if str(path.parent) == "." else str(path.parent)
            found.setdefault((partition, name.file_id), []).append(stat)
    return found


def _count_deletes(state: WriterState) -> bool:
    """Whether rows that delete are no updates to their writer: only where no row, and no merger, can say so itself."""
    schema = state.schema.arrow
    if any(name in schema.names for name in (DELETED_FIELD, OPERATION_FIELD)):
        return False
    rule = _rule(state, pa.schema([*META_SCHEMA, *schema]))
    return rule.delete_field is None and rule.merger is None and rule.completion is None


def _written(group: GroupId, before: FileSlice | None, stats: list[WriteStat], requested: str) -> GroupChange:
    paths = [stat.path or "" for stat in stats]
    logs = tuple(path for path in paths if isinstance(parse_data_file_name(PurePosixPath(path).name), LogFileName))
    bases = [path for path in paths if path not in logs]
    if bases:
        after = FileSlice(*group, requested, bases[-1], logs)
    elif before is not None:
        after = replace(before, log_files=(*before.log_files, *logs))
    else:
        after = FileSlice(*group, requested, None, logs)
    counted_none = all(stat.num_inserts == 0 and stat.num_deletes == 0 for stat in stats)
    updates_only = before is not None and not before.log_files and counted_none
    return GroupChange(*group, before, after, updates_only)


@dataclass(frozen=True, slots=True)
class GroupTask:
    """Reads a file group before and after an action."""

    change: GroupChange
    before: SliceTask | None
    after: SliceTask | None
    output: pa.Schema

    def rows_before(self) -> pa.Table:
        """The rows before the action."""
        return self._rows(self.before)

    def rows_after(self) -> pa.Table:
        """The rows after the action."""
        return self._rows(self.after)

    def _rows(self, task: SliceTask | None) -> pa.Table:
        return self.output.empty_table() if task is None else run_task(task).rows


@dataclass(frozen=True)
class GroupReading:
    """Makes the tasks that read some columns of file groups; `requested` is the action that has not completed.

    Clauses: RD-012, IX-031.
    """

    state: WriterState
    columns: tuple[str, ...]
    requested: str | None = None

    def tasks(self, changes: Iterable[GroupChange]) -> tuple[GroupTask, ...]:
        """A task for each group."""
        found = tuple(changes)
        slices = [one for change in found for one in (change.before, change.after) if one is not None]
        before = self._context(slices, self.state.snapshot.visibility)
        after = replace(before, visibility=self._seeing_all())
        return tuple(
            GroupTask(one, self._task(one.before, before), self._task(one.after, after), before.output_schema)
            for one in found
        )

    def _task(self, one: FileSlice | None, context: ReadContext) -> SliceTask | None:
        return None if one is None else slice_task(one, context, self._origins)

    @cached_property
    def _origins(self) -> Origins:
        return origins_of(self.state.storage, self.state.snapshot)

    def _seeing_all(self) -> Visibility:
        seen = self.state.snapshot.visibility
        return seen if self.requested is None else replace(seen, visible=seen.visible | {self.requested})

    def _context(self, slices: Iterable[FileSlice], seen: Visibility) -> ReadContext:
        columns = [one for one in self.state.schema.arrow if one.name not in META_FIELDS]
        schema = pa.schema([*META_SCHEMA, *(pa.field(one.name, nullable(one.type)) for one in columns)])
        merges = any(one.log_files for one in slices)
        return ReadContext(
            storage=self.state.storage,
            schema=schema,
            output=self.columns,
            row_filter=None,
            rule=_rule(self.state, schema) if merges else UNMERGED,
            keys=key_rule(self.state.configuration) if merges else KeyRule(),
            visibility=seen,
        )


def whole_groups(state: WriterState) -> tuple[GroupChange, ...]:
    """Every file group that a snapshot reads, as if it had just been written."""
    return tuple(GroupChange(one.partition, one.file_id, None, one) for one in state.slices)


def _rule(state: WriterState, schema: pa.Schema) -> MergeRule:
    given: Mapping[str, str] = state.options.values
    defaults = column_defaults(state.snapshot.commits, state.configuration)
    rule = merge_rule(state.configuration, given, defaults=defaults)
    return replace(rule, ordering=tuple(name for name in rule.ordering if column_of(name, schema) is not None))


def count_rows(tasks: Sequence[GroupTask], executor: Executor) -> tuple[int, ...]:
    """How many rows each group has after: one small job, which merges only where there are logs."""
    numbered = list(enumerate(tasks))
    counted = executor.tasks(numbered, _count, _COUNTS).gathered().sort_by("group")
    return tuple(counted.column("rows").to_pylist())


def _count(numbered: tuple[int, GroupTask], _: TaskIdentity) -> pa.Table:
    number, task = numbered
    read = task.after
    if read is not None and read.base_file is not None and not read.log_files:
        rows = base_file_footer(read.context.storage, read.base_file).rows
    else:
        rows = task.rows_after().num_rows
    return pa.table([[number], [rows]], schema=_COUNTS)
