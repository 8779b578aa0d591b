"""What the hashes in the keys of a metadata table stand for, and the keys as the model has them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from hudi_format.hashing import column_index_id, file_index_id, partition_index_id
from hudi_format.metadata.keys import PARTITION_STATS_MARK, split_secondary_key
from hudi_format.metadata.partitions import Partition, is_secondary_index
from hudi_model.actions import CommitMetadata
from hudi_model.files import META_FIELDS, Schema
from hudi_model.indexes import NO_PARTITION, joined, secondary_key
from hudi_model.tables import Table

# The widths of the ids of a column, a partition and a file.
_COLUMN, _PARTITION, _FILE = 12, 12, 24
_MARK = partition_index_id(PARTITION_STATS_MARK)


@dataclass(frozen=True, slots=True)
class HashedNames:
    """The columns, partitions and files of a table by the ids that keys have for them."""

    columns: Mapping[str, str] = field(repr=False)
    partitions: Mapping[str, str] = field(repr=False)
    files: Mapping[str, str] = field(repr=False)

    def key(self, partition: str, text: str) -> str | None:
        """A key on disk as the model spells it; an id that stands for nothing known stays as it is.

        None for what the model does not hold: the statistics of an expression over whole partitions.
        """
        if is_secondary_index(partition):
            return secondary_key(*split_secondary_key(text))
        if partition in (Partition.FILES, Partition.RECORD_INDEX):
            return text
        if len(text) == _PARTITION + _FILE and text[_COLUMN:].startswith(_MARK) and partition not in list(Partition):
            return None
        return joined(*self._parts(text))

    def _parts(self, text: str) -> tuple[str, ...]:
        within, file = text[_COLUMN : _COLUMN + _PARTITION], text[_COLUMN + _PARTITION :]
        if len(text) == _PARTITION + _FILE:
            within, file = text[:_PARTITION], text[_PARTITION:]
            return self.partitions.get(within, within), self.files.get(file, file)
        column = text[:_COLUMN]
        parts = self.columns.get(column, column), self.partitions.get(within, within)
        return (*parts, self.files.get(file, file)) if file else parts


def hashed_names(table: Table, listed: Iterable[tuple[str, str]] = (), columns: Iterable[str] = ()) -> HashedNames:
    """The names of a table: its files and columns, and files that a list or columns that a definition names."""
    held = [(one.partition, one.name) for one in table.base_files]
    held += [(one.partition, one.name) for one in table.log_files]
    files, partitions = {name for _, name in held}, {partition or NO_PARTITION for partition, _ in held}
    for partition, name in listed:
        partitions.add(partition)
        files.add(name)
    fields = {*META_FIELDS, *columns, *(one.name for schema in schemas_of(table) for one in schema.fields)}
    return HashedNames(
        {column_index_id(one): one for one in sorted(fields)},
        {partition_index_id(one): one for one in sorted(partitions)},
        {file_index_id(one): one for one in sorted(files)},
    )


def schemas_of(table: Table) -> tuple[Schema, ...]:
    """Every schema that a commit of a table states, oldest first."""
    stated = [one.content.schema for one in table.timeline if isinstance(one.content, CommitMetadata)]
    return tuple(schema for schema in (table.create_schema, *stated) if schema)
