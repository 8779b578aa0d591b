"""What all means of pruning look at: the table's state, the filter, and what of the files may be trusted."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from hudi_adapter.filters import And, Column, Comparison, Filter, Not, Or
from hudi_format.names import BaseFileName, parse_data_file_name
from hudi_format.schemas import META_FIELDS
from hudi_format.storage import Storage
from hudi_format.table.index_definitions import IndexDefinition

from hudi_spark.expressions.functions import function_of
from hudi_spark.metadata.table import FileKey, MetadataTable
from hudi_spark.pruning.facts import Facts
from hudi_spark.schemas.origins import Origins
from hudi_spark.state.slicing import FileSlice
from hudi_spark.state.snapshots import Snapshot

Source = Callable[[FileSlice, Column], Facts]
"""What one means knows of a column, or of a function of it, in the rows of a slice."""

_UTC = frozenset({"UTC", "GMT", "Z", "Etc/UTC", "+00:00"})


@dataclass(frozen=True, slots=True)
class Asked:
    """A query as pruning sees it.

    `latest`: it reads the newest state, logs and all. `merges_own`: merging may make values that no file has.
    `zone`: the time zone in which the filter's functions are evaluated.
    """

    condition: Filter
    schema: pa.Schema
    configs: Mapping[str, str]
    latest: bool
    merges_own: bool
    zone: str = "UTC"


@dataclass(frozen=True, slots=True)
class Situation:
    """The table at the time of a query."""

    storage: Storage
    snapshot: Snapshot
    origins: Origins
    asked: Asked
    metadata: MetadataTable | None
    definitions: tuple[IndexDefinition, ...]

    def has(self, index: str) -> bool:
        """Whether the metadata table has an index that may be used."""
        return self.metadata is not None and index in self.metadata.partitions()

    def kind(self, column: Column) -> pa.DataType:
        """Type of a filter's column in the table, before its function."""
        return self.asked.schema.field(column.name).type

    def is_zoned(self, column: Column) -> bool:
        """Whether a function's results depend on a time zone that is not that of the indexes."""
        kind = self.kind(column)
        free = pa.types.is_date32(kind) or (pa.types.is_timestamp(kind) and kind.tz is None)
        return function_of(column).zoned and not free and self.asked.zone not in _UTC

    def speaks_of(self, one: FileSlice, column: Column) -> bool:
        """Whether what indexes say of files in this slice is what a query reads there.

        Clauses: IX-054, DM-021, DM-022.
        """
        configuration = self.snapshot.configuration
        if configuration.bootstrap_base is not None:
            return False
        if column.name in META_FIELDS:
            return configuration.populates_meta_fields and not one.log_files
        if configuration.partitions.columns_dropped and column.name in configuration.partition_by:
            return False
        if one.log_files and (self.asked.merges_own or self.origins.ids is not None):
            return False
        return self._is_named(one, column)

    def _is_named(self, one: FileSlice, column: Column) -> bool:
        if self.origins.ids is None or one.base_file is None:
            return True
        name = parse_data_file_name(one.base_file.rpartition("/")[2])
        field = pa.schema([self.asked.schema.field(column.name)])
        columns = self.origins.columns(one.partition, self.asked.schema)
        return isinstance(name, BaseFileName) and columns.are_named(field, name.instant)


def file_keys(one: FileSlice) -> list[FileKey]:
    """The files of a slice as the metadata table knows them."""
    paths = [*([one.base_file] if one.base_file is not None else []), *one.log_files]
    return [(one.partition, path.rpartition("/")[2]) for path in paths]


def columns_in(condition: Filter) -> tuple[Column, ...]:
    """The columns of a filter with their functions, each once."""
    return tuple(dict.fromkeys(comparison.column for comparison in comparisons(condition)))


def comparisons(condition: Filter) -> Iterable[Comparison]:
    """The comparisons of a filter."""
    match condition:
        case And(parts) | Or(parts):
            for part in parts:
                yield from comparisons(part)
        case Not(part):
            yield from comparisons(part)
        case Comparison():
            yield condition


def sought(condition: Filter, column: Column, literal: Callable[[Any, Column], Any]) -> Sequence[Any]:
    """The values that a filter looks for in a column: those of equalities and of lists, without null."""
    found = [one for one in comparisons(condition) if one.column == column]
    forms = [form for one in found if one.operator == "in" for form in one.value]
    forms += [one.value for one in found if one.operator in ("=", "!=")]
    values = [literal(form, column) for form in forms]
    return list(dict.fromkeys(value for value in values if value is not None))
