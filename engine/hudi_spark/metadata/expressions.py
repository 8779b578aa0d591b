"""What an expression index is of: a function of a column, by its definition; and the function's results in a file."""

import pickle
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import pyarrow as pa
from hudi_format.base.bloom_filters import (
    SIMPLE_TYPE_CODE,
    build_bloom_filter,
    build_simple_filter,
    encode_bloom_filter,
)
from hudi_format.metadata.keys import bloom_filter_key
from hudi_format.metadata.records import BloomFilterEntry, ColumnStats, MetadataRecord, RecordType
from hudi_format.table.index_definitions import IndexDefinition

from hudi_spark.errors import HudiError, Reason, UnsupportedFeature
from hudi_spark.files import BloomSettings, IndexedColumn, has_bounds, rows_statistics, values_at
from hudi_spark.filters import Column, apply, compared_type, complaint
from hudi_spark.merge import column_of, field_type
from hudi_spark.metadata.column_stats import rows_of_log
from hudi_spark.metadata.index import GroupTask, Keeping
from hudi_spark.options import Options
from hudi_spark.pruning import column_of_definition
from hudi_spark.read import TaskIdentity
from hudi_spark.schema import key_text

STATISTICS: Final = "column_stats"
BLOOMS: Final = "bloom_filters"
STATISTICS_OF_FILES: Final = pa.schema([("partition", pa.string()), ("stats", pa.binary())])
# Releases guess that a file unpacks to twice its size.
_UNPACKED: Final = 2


@dataclass(frozen=True, slots=True)
class Results:
    """A function's results in files: what tasks work out."""

    column: Column
    kind: pa.DataType
    version: str
    bloom: BloomSettings = field(hash=False)

    def of(self, task: GroupTask) -> pa.ChunkedArray:
        """The results of the rows that lie in a file; a log may have several of one key.

        Raises:
            UnsupportedFeature: a pattern, or texts, that are not built.

        """
        read = task.after
        if read is None or not read.log_files:
            return self._applied(task.rows_after().column(0))
        rows, _ = rows_of_log(read.context.storage, _path_of(task))
        stored = None if rows is None else values_at(rows, self.column.name)
        return pa.chunked_array([pa.nulls(len(rows or ()), self.kind)]) if stored is None else self._applied(stored)

    def _applied(self, values: pa.ChunkedArray) -> pa.ChunkedArray:
        found = apply(self.column, values)
        whole = found if isinstance(found, pa.ChunkedArray) else pa.chunked_array([found])
        return whole.cast(self.kind)

    def statistics(self, tasks: Sequence[GroupTask], _: TaskIdentity) -> pa.Table:
        """The statistics of each file, as releases count: values without nulls."""
        return pa.table(
            [[one.change.partition for one in tasks], [pickle.dumps(self._statistics(one)) for one in tasks]],
            schema=STATISTICS_OF_FILES,
        )

    def entry(self, task: GroupTask) -> MetadataRecord:
        """The record of the bloom filter of a base file."""
        texts = key_text(self.of(task)).drop_null()
        settings = self.bloom
        if settings.type_code == SIMPLE_TYPE_CODE:
            bloom = build_simple_filter(texts, settings.entries, settings.error_rate)
        else:
            bloom = build_bloom_filter(texts, settings.entries, settings.error_rate, settings.maximum)
        name = _name_of(task)
        instant = task.change.after.base_instant if task.change.after is not None else ""
        content = BloomFilterEntry(settings.type_code, instant, encode_bloom_filter(bloom).encode())
        return MetadataRecord(bloom_filter_key(task.change.partition, name), RecordType.BLOOM_FILTER, content)

    def _statistics(self, task: GroupTask) -> ColumnStats:
        results, name = self.of(task), _name_of(task)
        indexed = IndexedColumn(self.column.name, results.type)
        (found,) = rows_statistics(name, pa.table({self.column.name: results}), [indexed], self.version)
        size = _size_of(task)
        nulls = found.null_count or 0
        return replace(
            found,
            value_count=(found.value_count or 0) - nulls,
            total_size=size,
            total_uncompressed_size=_UNPACKED * size,
        )


def checked_expression(keeping: Keeping, definition: IndexDefinition) -> tuple[Column, pa.DataType]:
    """The function of a column that a definition is of, and the type of its results.

    Raises:
        HudiError: CONFIG_INVALID where the table lacks the column, or the function does not take it.
        UnsupportedFeature: expression-index-<function>, where results have no order or no text.

    Clauses: IX-040, IX-041.

    """
    column = column_of_definition(definition)
    schema = keeping.state.schema.arrow
    if column is None or column_of(column.name, schema) is None:
        raise _refused(f"{definition.name}: {definition.function} of {', '.join(definition.source_fields)} is unknown")
    wrong = complaint(column, field_type(column.name, schema))
    if wrong is not None:
        raise _refused(f"{definition.name}: {wrong}")
    result = field_type(column.name, schema) if column.function == "identity" else compared_type(column, schema)
    if definition.kind not in (STATISTICS, BLOOMS):
        raise UnsupportedFeature("expression-index", f"one of {definition.kind}")
    if definition.kind == STATISTICS and not has_bounds(result, definition.version):
        raise UnsupportedFeature(f"expression-index-{column.function}", f"results of type {result} have no bounds")
    return column, result


def results_of(keeping: Keeping, definition: IndexDefinition) -> Results:
    """The results that an index of this definition holds.

    Raises:
        HudiError, UnsupportedFeature: as `checked_expression`.

    Clauses: IX-040.

    """
    column, kind = checked_expression(keeping, definition)
    return Results(column, kind, definition.version, _bloom_settings(definition, keeping.state.options))


def _bloom_settings(definition: IndexDefinition, options: Options) -> BloomSettings:
    """What the definition says of its filters, else what holds for those of record keys.

    Clauses: IX-011, IX-041.
    """
    own = definition.options
    return BloomSettings.stated(
        own.get("filterType", options.text("hoodie.bloom.index.filter.type")),
        own.get("numEntries", options.text("hoodie.index.bloom.num_entries")),
        own.get("fpp", options.text("hoodie.index.bloom.fpp")),
        own.get("maxEntries", options.text("hoodie.bloom.index.filter.dynamic.max.entries")),
    )


def _path_of(task: GroupTask) -> str:
    one = task.change.after
    if one is None:
        raise ValueError("a task without a file")
    return one.base_file or one.log_files[0]


def _name_of(task: GroupTask) -> str:
    return _path_of(task).rpartition("/")[2]


def _size_of(task: GroupTask) -> int:
    return 0 if task.after is None else task.after.context.storage.size(_path_of(task))


def _refused(message: str) -> HudiError:
    hint = "drop the index and create it anew, or restore the file of the index definitions from a copy"
    return HudiError(Reason.CONFIG_INVALID, "IX-041", message, hint=hint)
