"""Random histories of small tables whose indexes of records are kept, and what those should hold."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engine_tables import row
from hudi_format.log.deletes import DeleteRecord
from hudi_format.metadata.keys import secondary_key
from hudi_format.metadata.partitions import (
    data_partition_of_id,
    expression_index_partition,
    secondary_index_partition,
)
from hudi_format.table.index_definitions import IndexDefinition
from hudi_format.timeline.commit_metadata import WriteStat
from hudi_spark import read_arrow
from metadata_writes import Writer

GLOBAL = {"hoodie__metadata__record__index__enable": "true"}
FEW = {
    "hoodie__metadata__record__index__min__filegroup__count": "3",
    "hoodie__metadata__record__index__max__filegroup__count": "3",
}


@dataclass
class History:
    """Completes actions; each takes the next thousand of ticks."""

    base: Path
    version: int = 9
    options: Mapping[str, str] = field(default_factory=dict)
    n: int = 0
    bases: dict[tuple[str, str], int] = field(default_factory=dict)
    logs: int = 0

    def __post_init__(self) -> None:
        self.writer = Writer(self.base, self.version, **self.options)

    def base_file(self, rows: Sequence[dict[str, Any]], group: str, partition: str = "north") -> WriteStat:
        """A new slice of a group."""
        self.bases[partition, group] = self.n
        return self.writer.table.base_file(self.n, rows, group=group, partition=partition)

    def log_file(
        self, rows: Sequence[dict[str, Any]], deleted: Sequence[DeleteRecord], group: str, partition: str = "north"
    ) -> WriteStat:
        """A log over a group."""
        self.logs += 1
        named = self.bases.get((partition, group), self.n) if self.version < 8 else self.n
        blocks = [self.writer.table.data(self.n, rows)] if rows else []
        blocks += [self.writer.table.deletes(self.n, *deleted)] if deleted else []
        return self.writer.table.log_file(named, blocks, group=group, partition=partition, version=self.logs)

    def begin(self) -> None:
        """The next action's time."""
        self.n += 1000

    def commit(self, *stats: WriteStat, **more: Any) -> None:
        """The action completes."""
        self.writer.commit(self.n, stats, **more)

    def entries(self, index: str) -> dict[tuple[str, str | None], Any]:
        """What an index holds, by key and the partition of its group."""
        found = self.writer.opened()
        assert found is not None
        return {
            (key, data_partition_of_id(group.slice.file_id) if index == "record_index" else None): record.content
            for group in found.indexes[index].groups
            for key, record in group.records().items()
        }

    def places(self) -> dict[str, tuple[str, str]]:
        """By the record index the partition and file id of each key."""
        return {key: (one.partition, one.file_id) for (key, _), one in self.entries("record_index").items()}

    def read_places(self) -> dict[str, tuple[str, str]]:
        """The same as rows say it."""
        columns = ["_hoodie_record_key", "_hoodie_partition_path", "_hoodie_file_name"]
        rows = read_arrow(self.base, columns=columns).to_pylist()
        return {one[columns[0]]: (one[columns[1]], _group_of(one[columns[2]])) for one in rows}

    def read_values(self, column: str) -> set[str]:
        """The keys that a secondary index of a column should have."""
        rows = read_arrow(self.base, columns=["_hoodie_record_key", column]).to_pylist()
        return {secondary_key(one[column], one["_hoodie_record_key"]) for one in rows}


def secondary_definition(name: str, column: str, version: int = 9) -> IndexDefinition:
    """The definition of an index of a column's values, in a table of a version."""
    partition = secondary_index_partition(name)
    return IndexDefinition(partition, "secondary_index", "identity", (column,), {}, _index_version(version))


def expression_definition(  # noqa: PLR0917 - all that such an index is of
    name: str, kind: str, function: str, column: str, version: int = 9, options: Mapping[str, str] | None = None
) -> IndexDefinition:
    """The definition of an index of a function's results, in a table of a version."""
    partition, given = expression_index_partition(name), {"expr": function, **(options or {})}
    return IndexDefinition(partition, kind, function, (column,), given, _index_version(version))


def _index_version(version: int) -> str:
    return "V2" if version >= 9 else "V1"


def _group_of(file_name: str) -> str:
    return file_name.partition("_")[0]


__all__ = ["FEW", "GLOBAL", "History", "expression_definition", "row", "secondary_definition"]
