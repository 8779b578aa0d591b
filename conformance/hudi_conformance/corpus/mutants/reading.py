"""Rules of answers, columns and undecodable content, broken."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from hudi_model.actions import State
from hudi_model.columns import Sources
from hudi_model.files import META_FIELDS, BaseFile, Block, DataBlock, Field, FileSlice, LogFile, Record, Records, Schema
from hudi_model.filters import matches
from hudi_model.merge_modes import table_rule
from hudi_model.merge_rules import Version, is_marked_deleted
from hudi_model.queries import Answer, Selection
from hudi_model.reading import read_slice
from hudi_model.rejection import Reason, Rejection
from hudi_model.schemas import KEEPS_SCHEMA, schema_of, versions_by_id
from hudi_model.tables import OpenTable, Table, View, open_table, visible_commits
from hudi_model.timeline import commit_metadata
from hudi_model_tools.violations import Severity, Violation

from hudi_conformance.corpus.mutants.registry import Function, mutant


@mutant("malformed-names-ignored", "TL-016", "A timeline name that does not parse is passed over.", "tables.open_table")
def _malformed_names_ignored(original: Function) -> Function:
    def forgiving(table: Table) -> OpenTable:
        found: OpenTable = original(replace(table, malformed=()))
        return found

    return forgiving


@mutant("undecodable-block-skipped", "LF-013", "A block that does not decode is skipped.", "reading.block_versions")
def _undecodable_block_skipped(original: Function) -> Function:
    def forgiving(*arguments: Any) -> Iterator[Version]:
        try:
            yield from tuple(original(*arguments))
        except Rejection:
            return

    return forgiving


@mutant("damaged-base-file-empty", "BF-004", "A base file that does not parse has no rows.", "reading.base_rows")
def _damaged_base_file_empty(original: Function) -> Function:
    def forgiving(view: View, found: FileSlice, schema: Schema) -> tuple[Record, ...]:
        try:
            rows: tuple[Record, ...] = original(view, found, schema)
        except Rejection:
            return ()
        return rows

    return forgiving


@mutant("as-of-ignores-blocks", "LF-016 RD-010", "A read time cuts files, not blocks.", "reading.block_counts")
def _as_of_ignores_blocks(original: Function) -> Function:
    return lambda view, instant: original(replace(view, limit=None), instant)


@mutant("filter-before-merge", "RD-012", "A filter is applied before the winners are known.", "queries.answer")
def _filter_before_merge(original: Function) -> Function:
    def narrowed(view: View, slices: tuple[FileSlice, ...], selection: Selection) -> Answer:
        passed = slices if selection.filter is None else tuple(_passing(one, view, selection.filter) for one in slices)
        found: Answer = original(view, passed, selection)
        return found

    return narrowed


def _passing(found: FileSlice, view: View, form: Any) -> FileSlice:
    columns = [field for one in visible_commits(view) for field in (commit_metadata(one).schema or Schema(())).fields]
    schema = Schema((*(Field(name, "string") for name in META_FIELDS), *dict.fromkeys(columns)))
    base = found.base_file and _passing_base(found.base_file, form, schema)
    return replace(found, base_file=base, log_files=tuple(_passing_log(log, form, schema) for log in found.log_files))


def _passing_base(file: BaseFile, form: Any, schema: Schema) -> BaseFile:
    return replace(file, records=_passing_records(file.records, form, schema))


def _passing_log(log: LogFile, form: Any, schema: Schema) -> LogFile:
    if not isinstance(log.blocks, tuple):
        return log
    blocks = (
        replace(block, records=_passing_records(block.records, form, schema)) if isinstance(block, DataBlock) else block
        for block in log.blocks
    )
    return replace(log, blocks=tuple(blocks))


def _passing_records(records: Records, form: Any, schema: Schema) -> Records:
    if not isinstance(records, tuple):
        return records
    return tuple(record for record in records if matches(form, _with_nulls(record.values, schema), schema))


def _with_nulls(values: Mapping[str, Any], schema: Schema) -> dict[str, Any]:
    return {field.name: values.get(field.name) for field in schema.fields}


@mutant("filter-ignored", "RD-012", "A filter is not applied.", "filters.matches")
def _filter_ignored(_: Function) -> Function:
    return lambda _form, _row, _schema: True


@mutant("no-filter-is-refused", "RD-012", "What is no filter finds every row.", "filters.evaluate")
def _no_filter_is_refused(original: Function) -> Function:
    def lenient(form: Any, row: Any, schema: Any) -> Any:
        try:
            return original(form, row, schema)
        except Rejection:
            return True

    return lenient


@mutant("projection-ignored", "RD-012", "All columns are answered.", "queries.chosen_schema")
def _projection_ignored(original: Function) -> Function:
    return lambda stored, schema, selection: original(stored, schema, replace(selection, columns=None))


@mutant("meta-columns-leaked", "MF-002", "Meta columns are answered without a request.", "queries.chosen_schema")
def _meta_columns_leaked(original: Function) -> Function:
    return lambda stored, schema, selection: original(stored, schema, replace(selection, meta_columns=True))


@mutant("meta-columns-never", "MF-002", "Meta columns are not answered when requested.", "queries.chosen_schema")
def _meta_columns_never(original: Function) -> Function:
    return lambda stored, schema, selection: original(stored, schema, replace(selection, meta_columns=False))


@mutant("schema-of-oldest-commit", "DM-003", "The columns are those of the oldest commit.", "schemas.table_schema")
def _schema_of_oldest_commit(original: Function) -> Function:
    def oldest(view: View) -> Schema:
        stated = [commit_metadata(one).schema for one in visible_commits(view)]
        found: Schema = next((schema for schema in stated if schema), None) or original(view)
        return Schema(tuple(field for field in found.fields if field.name not in META_FIELDS))

    return oldest


@mutant(
    "columns-of-last-completed",
    "DM-003",
    "The columns are those of the commit that completed last.",
    "schemas.table_schema",
)
def _columns_of_last_completed(original: Function) -> Function:
    def completed_last(view: View) -> Schema:
        stating = [one for one in visible_commits(view) if commit_metadata(one).schema is not None]
        writes = [one for one in stating if commit_metadata(one).operation not in KEEPS_SCHEMA]
        return schema_of(writes[-1]) if writes else original(view)

    return completed_last


@mutant(
    "missing-column-refused",
    "DM-004",
    "A file without one of the table's columns is refused.",
    "columns.conform_record",
)
def _missing_column_refused(original: Function) -> Function:
    def strict(record: Record, columns: Sources, where: str) -> Record:
        missing = [field.name for field, source in columns if source is None or source.name not in record.values]
        if missing:
            raise Rejection(Reason.SCHEMA_INCOMPATIBLE, "DM-004", where, f"no column {missing[0]}")
        found: Record = original(record, columns, where)
        return found

    return strict


@mutant("columns-by-name", "DM-021", "Columns are found by their names, whatever their ids.", "columns.source_of")
def _columns_by_name(original: Function) -> Function:
    return lambda field, stored: original(replace(field, id=None), stored)


@mutant("columns-as-of-now", "DM-021", "Every file has the ids of the newest columns.", "schemas.columns_as_of")
def _columns_as_of_now(_: Function) -> Function:
    return lambda table, _instant: next((one.schema for one in reversed(versions_by_id(table))), None)


@mutant(
    "oldest-schema-forgotten",
    "DM-020",
    "What no commit states of the columns is not known.",
    "schemas.versions_by_id",
)
def _oldest_schema_forgotten(original: Function) -> Function:
    return lambda table: original(replace(table, state=replace(table.state, schema_files=())))


@mutant(
    "columns-of-newest-commit",
    "DM-003 DM-021",
    "The columns are those of the newest commit, whatever the read time.",
    "schemas.table_schema",
)
def _columns_of_newest_commit(original: Function) -> Function:
    return lambda view: original(replace(view, limit=None, timeline=view.table.timeline))


@mutant(
    "narrow-floats-as-stored",
    "DM-004 DM-021",
    "A narrow float becomes the wide one of the same bits.",
    "columns.float_of",
)
def _narrow_floats_as_stored(original: Function) -> Function:
    return lambda value, _stored, wanted: original(value, wanted, wanted)


@mutant("violations-never", "TL-015 LF-013", "Every table is sound.", "hudi_model_tools.violations.violations")
def _violations_never(_: Function) -> Function:
    return lambda _table: ()


@mutant(
    "leftovers-are-violations",
    "RD-002",
    "What failed writes leave behind is reported as an error.",
    "hudi_model_tools.violations.violations",
)
def _leftovers_are_violations(original: Function) -> Function:
    def severe(table: Table) -> tuple[Violation, ...]:
        done = {entry.requested for entry in table.timeline if entry.state is State.COMPLETED}
        files: list[BaseFile | LogFile] = [*table.base_files, *table.log_files]
        left = [Violation("RD-002", Severity.ERROR, file.name, "left") for file in files if file.instant not in done]
        return (*original(table), *left)

    return severe


@mutant(
    "pending-actions-are-violations",
    "TL-002 SR-006",
    "An action that has not completed is reported as an error.",
    "hudi_model_tools.violations.violations",
)
def _pending_actions_are_violations(original: Function) -> Function:
    def severe(table: Table) -> tuple[Violation, ...]:
        pending = (one for one in open_table(table).timeline.instants if one.state is not State.COMPLETED)
        waiting = (Violation("TL-002", Severity.ERROR, one.requested, "it waits") for one in pending)
        return (*original(table), *waiting)

    return severe


@mutant("unmerged-merged", "RD-019", "An unmerged read answers as a snapshot.", "reading.unmerged_rows")
def _unmerged_merged(_: Function) -> Function:
    return read_slice


@mutant("unmerged-without-base", "RD-019", "An unmerged read has no row of base files.", "reading.unmerged_rows")
def _unmerged_without_base(original: Function) -> Function:
    return lambda view, found, schema: original(view, replace(found, base_file=None), schema)


@mutant("unmerged-newest-of-logs", "RD-019", "Versions that lost in the logs are no rows.", "reading.unmerged_rows")
def _unmerged_newest_of_logs(original: Function) -> Function:
    def narrowed(view: View, found: FileSlice, schema: Schema) -> tuple[Record, ...]:
        base = original(view, replace(found, log_files=()), schema)
        return (*base, *read_slice(view, replace(found, base_file=None), schema))

    return narrowed


@mutant("unmerged-without-deleted", "RD-019", "A deleted key has no row.", "reading.unmerged_rows")
def _unmerged_without_deleted(original: Function) -> Function:
    def narrowed(view: View, found: FileSlice, schema: Schema) -> tuple[Record, ...]:
        alive = {_key_in(row) for row in read_slice(view, found, schema)}
        return tuple(row for row in original(view, found, schema) if _key_in(row) in alive)

    return narrowed


def _key_in(row: Record) -> Any:
    return row.values.get("_hoodie_record_key")


@mutant("unmerged-without-marked", "RD-019", "A record that marks itself deleted is no row.", "reading.unmerged_rows")
def _unmerged_without_marked(original: Function) -> Function:
    def narrowed(view: View, found: FileSlice, schema: Schema) -> tuple[Record, ...]:
        rows = original(view, found, schema)
        return tuple(row for row in rows if not is_marked_deleted(row, table_rule(view)))

    return narrowed


@mutant("unmerged-without-partial", "RD-019", "A partial update is no row.", "reading.unmerged_rows")
def _unmerged_without_partial(original: Function) -> Function:
    def narrowed(view: View, found: FileSlice, schema: Schema) -> tuple[Record, ...]:
        logs = (replace(log, blocks=tuple(filter(_is_whole, log.blocks))) for log in found.log_files)  # type: ignore[arg-type]
        rows: tuple[Record, ...] = original(view, replace(found, log_files=tuple(logs)), schema)
        return rows

    return narrowed


def _is_whole(block: Block) -> bool:
    return not (isinstance(block, DataBlock) and block.partial)
