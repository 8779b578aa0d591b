"""Secondary indexes kept: an entry for each row, whose key is the value of a column, `$` and the record key.

What a touched group's rows had before and have after an action says which entries go and which come; an entry that
goes from one group and comes to another stays.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as kinds
from hudi_format.metadata.columns import record_bytes
from hudi_format.metadata.partitions import Partition, is_secondary_index, metadata_file_id, secondary_index_partition
from hudi_format.metadata.record_schemas import SchemaRelease
from hudi_format.metadata.records import RecordType, SecondaryEntry
from hudi_format.table.index_definitions import IndexDefinition

from hudi_spark.errors import HudiError, Reason, UnsupportedFeature
from hudi_spark.merge import RECORD_KEY, column_of, field_type
from hudi_spark.metadata.file_groups import Series, entries_table, groups_in_order
from hudi_spark.metadata.index import (
    ENTRIES,
    FinishedWrite,
    GroupReading,
    GroupTask,
    IndexChanges,
    Keeping,
    NewIndex,
    count_rows,
    group_changes,
    whole_groups,
)
from hudi_spark.metadata.layout import MetadataLayout
from hudi_spark.metadata.record_index import RecordIndex, groups_for
from hudi_spark.read import Flow, TaskIdentity
from hudi_spark.schema import key_text, one_chunk
from hudi_spark.table_state import TableConfiguration

COLUMN_KEY: Final = "hoodie.metadata.index.secondary.column"
ENABLED_KEY: Final = "hoodie.metadata.index.secondary.enable"
NAME_KEY: Final = "hoodie.index.name"
KIND: Final = "secondary_index"
_SEPARATOR: Final = "$"
_ESCAPE: Final = "\\"
_NULL: Final = "\0"


@dataclass(frozen=True, slots=True)
class SecondaryIndex:
    """The indexes of other columns' values; each leads from a value to record keys.

    Clauses: IX-030, IX-031, IX-032, IX-033.
    """

    def holds(self, partition: str) -> bool:
        """Whether a partition of the metadata table is a secondary index."""
        return is_secondary_index(partition)

    def wanted(self, keeping: Keeping) -> tuple[str, ...]:
        """The index of the column that options name, and those that have a definition and a record index to lead on.

        None before version 8.

        Clauses: IX-032, MT-002.
        """
        if not MetadataLayout(keeping.state.configuration.version).has_completion_times:
            return ()
        configured = _configured(keeping)
        if not (keeping.groups.get(Partition.RECORD_INDEX) or RecordIndex().wanted(keeping)):
            return tuple(configured)
        defined = {name for name, one in keeping.definitions.items() if one.kind == KIND}
        return tuple(sorted({*defined, *(name for name in keeping.groups if self.holds(name)), *configured}))

    def dropped(self, keeping: Keeping, partition: str) -> bool:  # noqa: ARG002 - a definition stands until it is taken away
        """Never: an index goes by `drop_index`."""
        return False

    def begin(self, keeping: Keeping, partition: str) -> NewIndex:
        """The index of every row that a snapshot reads; one small job counts the rows, one reads them.

        Clauses: IX-030, IX-031, MT-009.
        """
        state = keeping.state
        definition = _configured(keeping).get(partition) or definition_of(keeping, partition)
        column = checked_column(keeping, definition)
        refuse_kind(keeping, definition)
        tasks = GroupReading(state, (RECORD_KEY, column)).tasks(whole_groups(state))
        rows = count_rows(tasks, keeping.executor)
        file_ids = tuple(metadata_file_id(partition, number) for number in range(groups_for(state.options, sum(rows))))
        return NewIndex(file_ids, IndexChanges(entries=self.expected(keeping, file_ids, definition)), definition)

    def expected(self, keeping: Keeping, file_ids: Iterable[str], definition: IndexDefinition) -> Flow:
        """The entries of every row that a snapshot reads, as `ENTRIES`, in these groups.

        Clauses: IX-030, IX-031.
        """
        column = checked_column(keeping, definition)
        tasks = GroupReading(keeping.state, (RECORD_KEY, column)).tasks(whole_groups(keeping.state))
        return keeping.executor.tasks(tasks, _values(tuple(file_ids), definition, keeping).all_of, ENTRIES)

    def changes(self, keeping: Keeping, partition: str, write: FinishedWrite) -> IndexChanges:
        """What an action adds to an index and takes from it.

        Clauses: IX-031.
        """
        changed = group_changes(keeping.state, write)
        if not changed:
            return IndexChanges()
        definition = definition_of(keeping, partition)
        column = checked_column(keeping, definition)
        tasks = GroupReading(keeping.state, (RECORD_KEY, column), write.requested).tasks(changed)
        values = _values(keeping.groups_of(partition), definition, keeping)
        return IndexChanges(entries=keeping.executor.tasks(tasks, values.changed_of, ENTRIES))


def definition_of(keeping: Keeping, partition: str) -> IndexDefinition:
    """The definition of an index that the table's properties list.

    Raises:
        HudiError: PROPERTIES_INVALID where it has none: nobody knows what the index is of.

    Clauses: IX-001.

    """
    found = keeping.definitions.get(partition)
    if found is None:
        hint = "restore the file of index definitions, or drop the index"
        message = f"the properties list {partition}, which has no definition"
        raise HudiError(Reason.PROPERTIES_INVALID, "IX-001", message, hint=hint)
    return found


def checked_column(keeping: Keeping, definition: IndexDefinition) -> str:
    """The column that a definition names.

    Raises:
        HudiError: CONFIG_INVALID where the table lacks it, or has no record index to lead on from it.

    Clauses: IX-032.

    """
    if len(definition.source_fields) != 1:
        raise _refused(f"{definition.name} is of {len(definition.source_fields)} columns, which must be one")
    (column,) = definition.source_fields
    field = column_of(column, keeping.state.schema.arrow)
    if field is None:
        raise _refused(f"the table has no column {column!r} for {definition.name}")
    if Partition.RECORD_INDEX not in keeping.groups:
        raise _refused(f"{definition.name} needs the record index: hoodie.metadata.global.record.level.index.enable")
    return column


def secondary_definition(configuration: TableConfiguration, name: str, column: str) -> IndexDefinition:
    """The definition of a new index of a column; the name may have the prefix of its partition already.

    Clauses: IX-001, IX-003, IX-004.
    """
    partition = secondary_index_partition(name)
    version = MetadataLayout(configuration.version).index_version(partition, {})
    return IndexDefinition(partition, KIND, "identity", (column,), {}, version)


def refuse_kind(keeping: Keeping, definition: IndexDefinition) -> None:
    """A new index is of text, whole numbers, doubles, days or moments.

    Raises:
        UnsupportedFeature: secondary-index-column, for any other type, of which releases make none either.

    Clauses: IX-030.

    """
    kind = field_type(definition.source_fields[0], keeping.state.schema.arrow)
    is_taken = (kinds.is_string, kinds.is_integer, kinds.is_float64, kinds.is_date32, kinds.is_timestamp)
    if not any(one(kind) for one in is_taken):
        raise UnsupportedFeature("secondary-index-column", f"{definition.name} of a column of type {kind}")


def _configured(keeping: Keeping) -> Mapping[str, IndexDefinition]:
    """The index that options name, by the name of its partition."""
    options = keeping.state.options
    column = options.text(COLUMN_KEY)
    if not column or not options.flag(ENABLED_KEY):
        return {}
    if secondary_index_partition(options.text(NAME_KEY) or column) in keeping.definitions:
        return {}
    definition = secondary_definition(keeping.state.configuration, options.text(NAME_KEY) or column, column)
    return {definition.name: definition}


@dataclass(frozen=True, slots=True)
class _Values:
    """Turns the rows of file groups into entries; what tasks run."""

    series: Series
    column: str
    release: SchemaRelease
    by_value: bool

    def all_of(self, task: GroupTask, _: TaskIdentity) -> pa.Table:
        """An entry for each row."""
        return self._entries(self._keys(task.rows_after()), self._keys(task.rows_after().slice(0, 0)))

    def changed_of(self, task: GroupTask, _: TaskIdentity) -> pa.Table:
        """The entries that come, and without a value those that go."""
        before, after = self._keys(task.rows_before()), self._keys(task.rows_after())
        return self._entries(_without(after, before), _without(before, after))

    def _keys(self, rows: pa.Table) -> pa.Table:
        """The keys of the rows' entries, each once, and what of them decides on the group."""
        heads = secondary_heads(rows.column(self.column))
        keys = pc.binary_join_element_wise(heads, _escaped(one_chunk(rows.column(RECORD_KEY))), "")
        deciding = heads if self.by_value else keys
        found = pa.table({"key": keys, "deciding": deciding})
        return found.take(pc.index_in(pc.unique(keys), value_set=keys))

    def _entries(self, added: pa.Table, gone: pa.Table) -> pa.Table:
        value = record_bytes(RecordType.SECONDARY_INDEX, SecondaryEntry(), self.release)
        hashed = (one_chunk(added.column("deciding")), one_chunk(gone.column("deciding")))
        return entries_table(self.series, added.column("key"), value, gone.column("key"), hashed=hashed)


def secondary_heads(values: pa.ChunkedArray) -> pa.Array:
    """What the keys of entries begin with: each value as text with its marks escaped, and the separator.

    Clauses: IX-030, IX-033.
    """
    texts = one_chunk(key_text(_as_numbers(values)))
    return pc.binary_join_element_wise(pc.fill_null(_escaped(texts), _NULL), _SEPARATOR, "")


def _as_numbers(values: pa.ChunkedArray) -> pa.ChunkedArray:
    """Days and moments as the numbers that they are in Spark: days, and microseconds, since 1970."""
    if kinds.is_date32(values.type):
        return values.cast(pa.int32())
    if kinds.is_timestamp(values.type):
        return values.cast(pa.timestamp("us", values.type.tz)).cast(pa.int64())
    return values


def _escaped(texts: pa.Array) -> pa.Array:
    for special in (_ESCAPE, _SEPARATOR, _NULL):
        texts = pc.replace_substring(texts, special, _ESCAPE + special)
    return texts


def _without(entries: pa.Table, others: pa.Table) -> pa.Table:
    return entries.filter(pc.invert(pc.is_in(entries.column("key"), value_set=one_chunk(others.column("key")))))


def _values(file_ids: tuple[str, ...], definition: IndexDefinition, keeping: Keeping) -> _Values:
    release = MetadataLayout(keeping.state.configuration.version).release
    series = groups_in_order(file_ids)
    return _Values(series, definition.source_fields[0], release, by_value=definition.version != "V1")


def _refused(message: str) -> HudiError:
    return HudiError(Reason.CONFIG_INVALID, "IX-032", message)
