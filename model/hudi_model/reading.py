"""The rows of one file slice: its base file's rows, merged with the blocks of its logs."""

from collections.abc import Iterator
from dataclasses import replace

from hudi_model.blocks import Change, effective_blocks
from hudi_model.columns import conform
from hudi_model.files import DataBlock, Delete, FileSlice, Record, Schema, valid_deletes, valid_records
from hudi_model.keys import key_of, stored_key
from hudi_model.merge_modes import table_rule
from hudi_model.merge_rules import (
    MergeRule,
    Version,
    is_without_ordering,
    version_of_delete,
    version_of_record,
    version_of_row,
)
from hudi_model.merging import columns_of_block, merge_slice
from hudi_model.schemas import logical_of_physical, stored_columns
from hudi_model.slicing import path_of
from hudi_model.tables import View, is_within
from hudi_model.time import InstantTime
from hudi_model.timeline import is_committed


def read_slice(view: View, found: FileSlice, schema: Schema) -> tuple[Record, ...]:
    """The rows of a slice in the table's columns, meta fields beside them.

    Raises: BASE_FILE_CORRUPT, LOG_CONTENT_CORRUPT, KEY_MISSING, MERGER_UNKNOWN, SCHEMA_INCOMPATIBLE;
    unsupported content that is not decoded yet.

    Clauses: RD-004, RD-009, RD-017, BF-004, LF-013, MG-022.
    """
    rows = base_rows(view, found, schema)
    if not found.log_files:
        return rows
    rule = table_rule(view)
    where = path_of(found.base_file) if found.base_file else found.file_id
    base = tuple(version_of_row(row, key_of(row, view.configuration, where), rule) for row in rows)
    merged = merge_slice(rule, base, log_versions(view, found, schema, rule), view.readings)
    nulls = dict.fromkeys(field.name for field in schema.fields)
    return tuple(Record({**nulls, **row.values}) for row in merged)


def unmerged_rows(view: View, found: FileSlice, schema: Schema) -> tuple[Record, ...]:
    """The rows of a slice's base file and the records of its data blocks, as they were written.

    Raises: BASE_FILE_CORRUPT, LOG_CONTENT_CORRUPT, SCHEMA_INCOMPATIBLE; unsupported content that is not decoded yet.

    Clauses: RD-019.
    """
    rows = list(base_rows(view, found, schema))
    for block in effective_blocks(found.log_files, lambda instant: block_counts(view, instant)):
        if isinstance(block, DataBlock):
            stored, where = stored_columns(view.table, block.schema, block.instant), f"log block of {block.instant}"
            rows += conform(valid_records(block.records), schema, where, stored)
    return tuple(rows)


def base_rows(view: View, found: FileSlice, schema: Schema) -> tuple[Record, ...]:
    """The rows of a slice's base file; none where there is no base file.

    Raises: BASE_FILE_CORRUPT, SCHEMA_INCOMPATIBLE; unsupported formats.

    Clauses: RD-009, BF-004, DM-021.
    """
    file = found.base_file
    if file is None:
        return ()
    stored = stored_columns(view.table, file.schema, file.instant)
    return conform(valid_records(file.records), schema, path_of(file), stored)


def block_counts(view: View, instant: InstantTime) -> bool:
    """Whether the question sees what blocks of this instant changed.

    Clauses: LF-016, RD-010.
    """
    return is_committed(view.timeline, instant) and is_within(view, instant)


def log_versions(view: View, found: FileSlice, schema: Schema, rule: MergeRule) -> tuple[Version, ...]:
    """What the logs of a slice change, in merge order.

    Raises: LOG_CONTENT_CORRUPT, KEY_MISSING, SCHEMA_INCOMPATIBLE; unsupported content that is not decoded yet.

    Clauses: LF-013, LF-016.
    """
    blocks = effective_blocks(found.log_files, lambda instant: block_counts(view, instant))
    return tuple(version for block in blocks for version in block_versions(view, block, schema, rule))


def block_versions(view: View, block: Change, schema: Schema, rule: MergeRule) -> Iterator[Version]:
    """The versions in one block, in their order.

    Raises: LOG_CONTENT_CORRUPT, KEY_MISSING, SCHEMA_INCOMPATIBLE; unsupported content that is not decoded yet.

    Clauses: LF-013, MG-008, MG-021, MG-022, DM-002, DM-021.
    """
    where, configuration = f"log block of {block.instant}", view.configuration
    if not isinstance(block, DataBlock):
        for delete in valid_deletes(block.deletes):
            known = with_logical_ordering(replace(delete, key=stored_key(delete.key, configuration)), schema, rule)
            yield version_of_delete(known, rule)
        return
    records, stored = valid_records(block.records), stored_columns(view.table, block.schema, block.instant)
    columns = columns_of_block(block, schema, stored)
    for whole, row in zip(records, conform(records, columns, where, stored), strict=True):
        marks = Record({**whole.values, **row.values})
        version = version_of_record(marks, key_of(row, configuration, where), rule, partial=block.partial)
        yield Version(version.key, version.record and row, version.ordering, partial=columns is not schema)


def with_logical_ordering(delete: Delete, schema: Schema, rule: MergeRule) -> Delete:
    """A tombstone whose ordering values are of the kind of the columns they come from.

    Writers may store an instant or a date as its plain number.

    Clauses: LF-017, MG-006.
    """
    values = delete.ordering if isinstance(delete.ordering, tuple) else (delete.ordering,)
    if is_without_ordering(delete) or len(values) != len(rule.ordering):
        return delete
    types = {field.name: field.type for field in schema.fields}
    logical = tuple(
        logical_of_physical(value, types.get(name, "")) for name, value in zip(rule.ordering, values, strict=True)
    )
    return replace(delete, ordering=logical if isinstance(delete.ordering, tuple) else logical[0])
