"""Rules of the metadata table, of indexes and of pruning, broken."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hudi_model.actions import IndexDefinition, IndexPlan, State
from hudi_model.configuration import Configuration
from hudi_model.effects import CommitMetadataTable, CreateInstant, Effects
from hudi_model.files import BaseFile, FileSlice, LogFile, Record, RollbackBlock, Schema, Value
from hudi_model.indexes import rows_in
from hudi_model.keys import key_of
from hudi_model.metadata import drop, wanted
from hudi_model.pruning import facts_of, possible, usable
from hudi_model.queries import META_SCHEMA
from hudi_model.schemas import table_schema
from hudi_model.slicing import snapshot_slices
from hudi_model.tables import Table, View
from hudi_model.time import InstantTime

from hudi_conformance.corpus.mutants.registry import Function, mutant


@mutant("stale-entries-kept", "MT-005", "An action adds to indexes and takes nothing away.", "metadata.difference")
def _stale_entries_kept(original: Function) -> Function:
    def without_deletes(stored: Mapping[str, Any], held: Mapping[str, Any]) -> dict[str, Any]:
        changed: dict[str, Any] = original(stored, held)
        lists = {
            key: {name: size for name, size in value.items() if size is not None}
            for key, value in changed.items()
            if isinstance(value, dict)
        }
        return {key: lists.get(key, value) for key, value in changed.items() if value is not None}

    return without_deletes


@mutant(
    "stale-entries-kept-by-overlap", "MT-005", "An entry that is there is not written again.", "metadata.difference"
)
def _stale_entries_kept_by_overlap(original: Function) -> Function:
    def only_new(stored: Mapping[str, Any], held: Mapping[str, Any]) -> dict[str, Any]:
        changed: dict[str, Any] = original(stored, held)
        return {key: value for key, value in changed.items() if key not in stored or isinstance(value, dict)}

    return only_new


@mutant("delete-wins-over-put", "IX-021", "A key that moved is deleted from the record index.", "metadata.difference")
def _delete_wins_over_put(original: Function) -> Function:
    def deleted(stored: Mapping[str, Any], held: Mapping[str, Any]) -> dict[str, Any]:
        changed: dict[str, Any] = original(stored, held)
        return {key: None if key in stored and isinstance(value, list) else value for key, value in changed.items()}

    return deleted


@mutant("metadata-after-data", "MT-004", "The metadata table commits after the data.", "metadata.with_metadata")
def _metadata_after_data(original: Function) -> Function:
    def later(table: Table, effects: Effects) -> Effects:
        done: Effects = original(table, effects)
        for place, one in enumerate(done[:-1]):
            following = done[place + 1]
            is_final = isinstance(following, CreateInstant) and following.entry.state is State.COMPLETED
            if isinstance(one, CommitMetadataTable) and is_final:
                return (*done[:place], following, one, *done[place + 2 :])
        return done

    return later


@mutant("uncommitted-metadata-used", "MT-006", "Every deltacommit of the metadata table counts.", "metadata.valid")
def _uncommitted_metadata_used(original: Function) -> Function:
    return lambda table: table.metadata or original(table)


@mutant(
    "unpartitioned-without-name", "MT-010", "An unpartitioned table is listed under no name.", "indexes.file_listing"
)
def _unpartitioned_without_name(original: Function) -> Function:
    def unnamed(view: View) -> dict[str, dict[str, int]]:
        found: dict[str, dict[str, int]] = original(view)
        return {"" if key == "." else key: names for key, names in found.items()}

    return unnamed


@mutant(
    "metadata-misses-replaced-groups",
    "IX-021",
    "Indexes keep the rows of groups that were replaced.",
    "indexes.live_rows",
)
def _metadata_misses_replaced_groups(original: Function) -> Function:
    def with_replaced(view: View) -> Iterator[tuple[tuple[str, str], str, Record]]:
        state = view.table.state
        kept = tuple(one for one in state.timeline if one.action != "replacecommit" or one.state < State.COMPLETED)
        gone = {(one.partition, one.file_id) for one in state.base_files} - {group for group, _, _ in original(view)}
        for base in state.base_files if len(kept) < len(state.timeline) else ():
            if (base.partition, base.file_id) in gone and isinstance(base.records, tuple):
                for row in base.records:
                    yield (base.partition, base.file_id), key_of(row, view.configuration, base.name), row
        yield from original(view)

    return with_replaced


@mutant("rollback-logs-unlisted", "MT-010", "Logs that hold only a command are not listed.", "indexes.instants_of")
def _rollback_logs_unlisted(original: Function) -> Function:
    def without_commands(log: LogFile) -> set[InstantTime]:
        blocks = log.blocks if isinstance(log.blocks, tuple) else ()
        only = blocks and all(isinstance(one, RollbackBlock) for one in blocks)
        return set() if only else original(log)

    return without_commands


@mutant("index-of-incoming-rows", "IX-031", "Indexes take rows as they were written, unmerged.", "indexes.live_rows")
def _index_of_incoming_rows(_: Function) -> Function:
    def unmerged(view: View) -> Iterator[tuple[tuple[str, str], str, Record]]:
        for found in snapshot_slices(view):
            rows = {}
            for file in (found.base_file, *found.log_files):
                for row in rows_in(file) if file else ():
                    rows[key_of(row, view.configuration, found.file_id)] = row
            for key, row in rows.items():
                yield (found.partition, found.file_id), key, row

    return unmerged


@mutant("statistics-without-logs", "MT-014", "Statistics leave out what logs hold.", "indexes.rows_in")
def _statistics_without_logs(original: Function) -> Function:
    return lambda file: original(file) if isinstance(file, BaseFile) else ()


@mutant("statistics-of-first-row", "MT-011", "Statistics know the first row of a file only.", "indexes.statistics")
def _statistics_of_first_row(original: Function) -> Function:
    return lambda values: original(values[:1])


@mutant("unknown-statistics-prune", "MT-013", "Files without statistics do not count.", "indexes.together")
def _unknown_statistics_prune(original: Function) -> Function:
    return lambda many: original([one for one in many if one])


@mutant("unknown-is-all-null", "MT-013", "Absent statistics are taken for all null.", "indexes.together")
def _unknown_is_all_null(original: Function) -> Function:
    return lambda many: original([one or [None, None, 1, 1] for one in many])


@mutant(
    "bootstrap-lists-last-write", "MT-009 IX-002", "A new index knows the last write only.", "metadata.with_indexes"
)
def _bootstrap_lists_last_write(original: Function) -> Function:
    def of_last(table: Table, indexes: Iterable[IndexDefinition]) -> Table:
        times = [one.instant for one in table.base_files] + [one.instant for one in table.log_files]
        last = max(times, default="")
        bases = tuple(one for one in table.base_files if one.instant == last)
        logs = tuple(one for one in table.log_files if one.instant == last)
        built: Table = original(replace(table, base_files=bases, log_files=logs), indexes)
        return built

    return of_last


@mutant("indexer-stops-at-its-plan", "IG-004", "An index is built as of its plan.", "services.indexing.whole")
def _indexer_stops_at_its_plan(original: Function) -> Function:
    def as_of_plan(table: Table, plan: IndexPlan) -> Table:
        last = min(one.content.upto for one in table.timeline if isinstance(one.content, IndexPlan))
        known = tuple(one for one in table.timeline if one.requested <= last)
        bases = tuple(one for one in table.base_files if one.instant <= last)
        logs = tuple(one for one in table.log_files if one.instant <= last)
        built: Table = original(replace(table, timeline=known, base_files=bases, log_files=logs), plan)
        return built

    return as_of_plan


@mutant(
    "writer-drops-unrequested-indexes",
    "MT-009 IG-003",
    "A writer drops what it does not request.",
    "metadata.configured_effects",
)
def _writer_drops_unrequested_indexes(original: Function) -> Function:
    def dropping(table: Table, settings: Mapping[str, str]) -> Effects:
        there = {one.name for one in table.metadata.indexes} if table.metadata else set()
        unwanted = there - {"files", *(one.name for one in wanted(settings))}
        return drop(table, sorted(unwanted)) if unwanted else original(table, settings)

    return dropping


@mutant("or-as-and", "IX-052", "A part of an or is taken for a part of an and.", "pruning.possible")
def _or_as_and(original: Function) -> Function:
    return lambda form, *known: original(["and", *form[1:]] if form[0] == "or" else form, *known)


@mutant("unknown-part-is-false", "IX-052", "A part that no index knows is false.", "pruning.possible")
def _unknown_part_is_false(original: Function) -> Function:
    def decided(form: Any, *known: Any) -> frozenset[bool | None]:
        found: frozenset[bool | None] = original(form, *known)
        return frozenset({False}) if found == frozenset({True, False, None}) else found

    return decided


@mutant(
    "record-index-for-any-column",
    "IX-055",
    "The record index answers the values of any column.",
    "pruning.key_of_value",
)
def _record_index_for_any_column(_: Function) -> Function:
    def any_column(_configuration: Configuration, _column: str, value: Value) -> str:
        return str(value)

    return any_column


@mutant(
    "unknown-slices-are-skipped",
    "IX-051",
    "A slice is read where indexes say that a filter is true for all of its rows.",
    "pruning.kept_slices",
)
def _unknown_slices_are_skipped(_: Function) -> Function:
    def sure(view: View, slices: Sequence[FileSlice], form: Any) -> tuple[FileSlice, ...]:
        schema, known = Schema((*META_SCHEMA, *table_schema(view).fields)), usable(view.table.state)
        return tuple(one for one in slices if possible(form, facts_of(view, one, known), schema) == {True})

    return sure
