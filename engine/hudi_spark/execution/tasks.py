"""One task reads one file slice: a pure function from a picklable description to Arrow rows."""

from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc
from hudi_adapter.filters import Filter, columns_of
from hudi_format.log.blocks import HeaderKey
from hudi_format.storage import Storage

from hudi_spark.errors import SkippedBytes, typed_errors
from hudi_spark.execution.filters import expression, matching, pushable
from hudi_spark.merging import fields
from hudi_spark.merging.kernel import merge
from hudi_spark.merging.keys import KeyRule
from hudi_spark.merging.log_records import LogRecords, decode_log_records
from hudi_spark.merging.log_scan import LocatedBlock, scan_logs
from hudi_spark.merging.rules import MergeRule
from hudi_spark.schemas.base_rows import External, instant_of, read_base_rows
from hudi_spark.schemas.table_columns import BY_NAME, SliceColumns
from hudi_spark.state.timeline import Visibility


@dataclass(frozen=True, slots=True)
class Competition:
    """Which versions of records meet at all, where not every one that is visible does.

    `blocks`: whose blocks of logs; `rows`: which rows of base files.

    Clauses: IN-004.
    """

    blocks: Visibility
    rows: Filter


@dataclass(frozen=True, slots=True)
class ReadContext:
    """What all tasks of one query share.

    `storage` opens itself again where it is unpickled. `schema`: every column of the table, meta columns first.
    `output`: the columns to answer, in order, or fields inside them. `by_positions`: base rows are found by the
    positions in log blocks, where every block of a slice has them.

    Clauses: LF-023, RD-012.
    """

    storage: Storage
    schema: pa.Schema
    output: tuple[str, ...]
    row_filter: Filter | None
    rule: MergeRule
    keys: KeyRule
    visibility: Visibility
    competition: Competition | None = None
    by_positions: bool = False

    @property
    def output_schema(self) -> pa.Schema:
        """Schema of the answer."""
        return pa.schema([pa.field(name, fields.field_type(name, self.schema)) for name in self.output])


@dataclass(frozen=True, slots=True)
class SliceTask:
    """Read one file slice.

    `columns` says how its files come to the table's columns; `external` is the data file of a bootstrapped slice.
    """

    context: ReadContext
    partition: str
    file_id: str
    base_file: str | None
    log_files: tuple[str, ...]
    columns: SliceColumns = BY_NAME
    external: External | None = None


@dataclass(frozen=True, slots=True)
class SliceRows:
    """The rows of a slice, and what was skipped to get them."""

    rows: pa.Table
    skipped: tuple[SkippedBytes, ...]


def run_task(task: SliceTask) -> SliceRows:
    """The rows of a slice that match, in the columns asked for.

    Raises:
        HudiError: BASE_FILE_MISSING, BASE_FILE_CORRUPT, LOG_CONTENT_CORRUPT, SCHEMA_INCOMPATIBLE, KEY_MISSING.
        UnsupportedFeature: content that is not built.

    Clauses: MF-002, RD-012, RD-013, RD-017.

    """
    with typed_errors():
        context = task.context
        if not task.log_files:
            return SliceRows(_output(_plain_rows(task), context), ())
        scan = scan_logs(context.storage, task.log_files, context.visibility)
        task, blocks = _competing(task, scan.blocks)
        return SliceRows(_output(_merged_rows(task, blocks), context), scan.skipped)


def _competing(task: SliceTask, blocks: tuple[LocatedBlock, ...]) -> tuple[SliceTask, tuple[LocatedBlock, ...]]:
    """The blocks that compete; a partial update is no row without the versions before it, so there all do.

    Clauses: IN-001, IN-004.
    """
    competition = task.context.competition
    if competition is None:
        return task, blocks
    found = tuple(one for one in blocks if competition.blocks.sees(one.instant))
    if any(one.block.header.get(HeaderKey.IS_PARTIAL, "").lower() == "true" for one in found):
        return replace(task, context=replace(task.context, competition=None)), blocks
    return task, found


def _output(rows: pa.Table, context: ReadContext) -> pa.Table:
    matched, names = matching(context.row_filter, rows), list(context.output)
    if set(names).issubset(matched.column_names):
        return matched.select(names)
    return pa.Table.from_arrays([fields.field_values(matched, name) for name in names], schema=context.output_schema)


def _plain_rows(task: SliceTask) -> pa.Table:
    schema = _columns(task.context, ())
    return schema.empty_table() if task.base_file is None else _base_rows(task, schema, None)


def _merged_rows(task: SliceTask, blocks: tuple[LocatedBlock, ...]) -> pa.Table:
    """Clauses: LF-023, RD-012, RD-017."""
    context = task.context
    schema = _merging_columns(context)
    positions_in = instant_of(task.base_file or "") if _numbers_rows(task) else None
    records = decode_log_records(blocks, schema, context.keys, context.rule, task.columns, positions_in=positions_in)
    if task.base_file is None:
        return merge(schema.empty_table(), records, context.keys, context.rule)
    base = _base_rows(task, schema, records)
    if records.positions is not None and pc.max(records.positions).as_py() >= base.num_rows:
        # No positions in this file, whatever the block says.
        records = replace(records, positions=None)
        base = _base_rows(task, schema, records)
    return merge(base, records, context.keys, context.rule)


def _numbers_rows(task: SliceTask) -> bool:
    """Whether the rows of the base file are read as they stand in it, so that positions find them."""
    return task.context.by_positions and task.context.competition is None and task.external is None


def _merging_columns(context: ReadContext) -> pa.Schema:
    """Clauses: MG-018, RD-012."""
    if context.rule.merger is not None:
        # What a merger looks at is its own affair.
        return context.schema
    ordering = context.rule.ordering if context.rule.reads_ordering else ()
    return _columns(context, fields.columns_of((*context.keys.columns, *ordering), context.schema))


def _columns(context: ReadContext, merging: tuple[str, ...]) -> pa.Schema:
    """The columns to read: those of the answer, of the filter, and those that merging looks at."""
    filtering = columns_of(context.row_filter) if context.row_filter is not None else frozenset()
    competing = columns_of(context.competition.rows) if context.competition is not None else frozenset()
    wanted = {*fields.columns_of(context.output, context.schema), *filtering, *competing, *merging}
    return pa.schema([field for field in context.schema if field.name in wanted])


def _base_rows(task: SliceTask, schema: pa.Schema, records: LogRecords | None) -> pa.Table:
    """Rows of the base file; the filter reaches Parquet as far as it cannot change which version wins.

    Clauses: BF-004, DM-004, RD-012.
    """
    if records is not None and records.positions is not None:
        return _all_base_rows(task, schema)

    def condition(stored: pa.Schema) -> pc.Expression | None:
        return _base_condition(task.context, stored, records)

    file = task.base_file or ""
    rows = read_base_rows(task.context.storage, file, schema, task.columns, condition, external=task.external)
    return rows if task.context.competition is None else matching(task.context.competition.rows, rows)


def _all_base_rows(task: SliceTask, schema: pa.Schema) -> pa.Table:
    """All rows of the base file; columns that only the key is made of are not read, and null.

    Clauses: LF-023.
    """
    context = task.context
    ordering = context.rule.ordering if context.rule.reads_ordering else ()
    asked = _columns(context, fields.columns_of(ordering, schema)) if context.rule.merger is None else schema
    rows = read_base_rows(context.storage, task.base_file or "", asked, task.columns, lambda _: None)
    found = {name: rows.column(name) for name in asked.names}
    columns = [found.get(field.name, pa.nulls(rows.num_rows, field.type)) for field in schema]
    return pa.Table.from_arrays(columns, schema=schema)


def _base_condition(context: ReadContext, file_schema: pa.Schema, records: LogRecords | None) -> pc.Expression | None:
    """What a base row has to meet to be read, or None.

    A base row may only be skipped if it could not win against a version of its key in the logs, nor complete one.
    Of whole records by commit time that is so; else every key in the logs is read.

    Clauses: RD-012.
    """
    pushed = context.row_filter and pushable(context.row_filter, file_schema, context.schema)
    if pushed is None:
        return None
    condition = expression(pushed, context.schema)
    if records is None or not records.versions.num_rows:
        return condition
    if not (context.rule.compares_event_time or context.rule.completes or records.partial):
        return condition
    if context.keys.fields:
        return None
    return condition | _touched(records)


def _touched(records: LogRecords) -> pc.Expression:
    """Base rows whose key is in the logs; the range lets the reader skip row groups by their statistics."""
    keys = records.versions.column("key").combine_chunks()
    bounds = pc.min_max(keys)
    field = pc.field("_hoodie_record_key")
    return (field >= bounds["min"]) & (field <= bounds["max"]) & field.isin(keys.unique())
