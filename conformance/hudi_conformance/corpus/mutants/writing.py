"""Rules of single writes and of new tables, broken so that what a writer leaves shows it."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from hudi_model import creation, requests, tagging, writers
from hudi_model.actions import Action, State
from hudi_model.configuration import Configuration
from hudi_model.effects import Effects
from hudi_model.evolution import ColumnChange
from hudi_model.files import Field, GroupId, Record, Schema
from hudi_model.merge_rules import Version
from hudi_model.requests import REPLACES, Operation, Request, Write
from hudi_model.staging import Change, Staged, base_file
from hudi_model.tables import RELEASED, Readings, Table, View, open_table, view_at
from hudi_model.tagging import Incoming, Tag
from hudi_model.time import InstantTime
from hudi_model.timeline import with_entries

from hudi_conformance.corpus.mutants.registry import Function, mutant

Fields = tuple[Field, ...]


@mutant("overwrites-are-usual-commits", "OW-014", "An overwrite is no action of its own.", "writers.begin")
def _overwrites_are_usual_commits(original: Function) -> Function:
    def usual(table: Table, request: Request, requested: InstantTime) -> tuple[Write, Effects]:
        started_write, effects = original(table, request, requested)
        kind = Action.DELTA_COMMIT if open_table(table).configuration.merge_on_read else Action.COMMIT
        started_write = replace(started_write, action=kind)
        return started_write, (*effects[:-1], writers.enter(table, started_write, State.REQUESTED, None))

    return usual


@mutant(
    "updates-rewrite-in-merge-on-read",
    "OW-016",
    "Updates of a merge-on-read table rewrite base files.",
    "staging.log_file",
)
def _updates_rewrite_in_merge_on_read(_: Function) -> Function:
    def rewritten(view: View, change: Change, schema: Schema, requested: InstantTime) -> Staged | None:
        return base_file(view, change, schema, requested)

    return rewritten


@mutant("stats-forget-a-file", "OW-017 TL-026", "A commit names all its files but the first.", "writers.commit")
def _stats_forget_a_file(original: Function) -> Function:
    def forgetful(table: Table, write: Write, completed: InstantTime, readings: Readings = RELEASED) -> Effects:
        if write.metadata is not None:
            write = replace(write, metadata=replace(write.metadata, write_stats=write.metadata.write_stats[1:]))
        effects: Effects = original(table, write, completed, readings)
        return effects

    return forgetful


@mutant("overwrites-take-what-came-since", "OW-018", "What is replaced is looked up at the commit.", "writers.commit")
def _overwrites_take_what_came_since(original: Function) -> Function:
    def late(table: Table, write: Write, completed: InstantTime, readings: Readings = RELEASED) -> Effects:
        if write.metadata is not None:
            mine = {(one.partition, one.file_id) for one in write.metadata.write_stats}
            found = writers.replaced(view_at(open_table(table), None, RELEASED), write) - mine
            write = replace(write, metadata=replace(write.metadata, replaced=found))
        effects: Effects = original(table, write, completed, readings)
        return effects

    return late


@mutant(
    "writes-see-what-completes-meanwhile",
    "OW-002 OW-003",
    "A write looks keys up in what is there by then.",
    "writers.view_of",
)
def _writes_see_what_completes_meanwhile(_: Function) -> Function:
    def latest(table: Table, _write: Write) -> View:
        return view_at(open_table(table), None, RELEASED)

    return latest


@mutant("every-write-conflicts", "OW-005 OW-028", "Two writes at one time are in each other's way.", "conflicts.units")
def _every_write_conflicts(_: Function) -> Function:
    def whole_table(_write: Write, groups: frozenset[GroupId]) -> frozenset[GroupId]:
        return frozenset([("", "")]) if groups else frozenset()

    return whole_table


@mutant("inserts-are-combined", "OW-019", "Rows of one key become one in every write.", "requests.switch")
def _inserts_are_combined(original: Function) -> Function:
    def on(settings_given: Mapping[str, str], name: str) -> bool:
        return name == "hoodie.combine.before.insert" or bool(original(settings_given, name))

    return on


@mutant("late-rows-move", "OW-024", "A row moves whether it beats the stored row or not.", "tagging.tags_of")
def _late_rows_move(original: Function) -> Function:
    def always(view: View, write: Write, row: Incoming, there: tuple[GroupId, Record | None] | None) -> Iterator[Tag]:
        tags: Iterator[tuple[GroupId, Version]] = original(view, write, row, (there[0], None) if there else None)
        return tags

    return always


@mutant("partial-updates-everywhere", "OW-025", "Partial updates are taken in version 6, too.", "conflicts.refuse_mode")
def _partial_updates_everywhere(original: Function) -> Function:
    def lenient(configuration: Configuration, request: Request) -> None:
        if request.operation is not Operation.PARTIAL_UPDATE:
            original(configuration, request)

    return lenient


@mutant("every-mode-is-known", "OW-026 SW-001", "No way to work is refused.", "conflicts.refuse_mode")
def _every_mode_is_known(_: Function) -> Function:
    return lambda _configuration, _request: None


@mutant("non-blocking-overwrites", "SW-004", "Non-blocking writers overwrite.", "conflicts.refuse_mode")
def _non_blocking_overwrites(original: Function) -> Function:
    def lenient(configuration: Configuration, request: Request) -> None:
        if request.operation not in REPLACES:
            original(configuration, request)

    return lenient


@mutant(
    "streams-never-check",
    "SW-004",
    "Bulk inserts beside non-blocking writers check nothing.",
    "conflicts.checks_conflicts",
)
def _streams_never_check(original: Function) -> Function:
    def never(request: Request) -> bool:
        mode = requests.setting(request.settings, "hoodie.write.concurrency.mode").upper()
        return mode != tagging.NON_BLOCKING and bool(original(request))

    return never


@mutant("any-index-will-do", "OW-020", "An unknown kind of index is the simple one.", "tagging.index_kind")
def _any_index_will_do(_: Function) -> Function:
    def kind(settings_given: Mapping[str, str]) -> str:
        named = requests.setting(settings_given, "hoodie.index.type").upper()
        return named if named in {*tagging.LOOKED_UP, "BUCKET"} else "SIMPLE"

    return kind


@mutant("any-text-is-a-number", "OW-030", "A text that is no number counts as one.", "requests.number")
def _any_text_is_a_number(original: Function) -> Function:
    def lenient(settings_given: Mapping[str, str], name: str) -> int:
        text = requests.setting(settings_given, name)
        return int(original(settings_given, name)) if text.removeprefix("-").isdecimal() else 1

    return lenient


@mutant(
    "settings-change-the-table",
    "OW-030",
    "What settings say of keys and columns is not compared.",
    "conflicts.refuse_mode",
)
def _settings_change_the_table(original: Function) -> Function:
    def lenient(configuration: Any, request: Any) -> None:
        own = {name: text for name, text in request.settings.items() if not name.endswith(".field")}
        original(configuration, replace(request, settings=own))

    return lenient


@mutant(
    "new-tables-forget-their-ordering",
    "OW-031",
    "A new table states no ordering fields.",
    "creation.released_properties",
)
def _new_tables_forget_their_ordering(original: Function) -> Function:
    def forgetful(stated: Mapping[str, str]) -> dict[str, str]:
        made: dict[str, str] = original(stated)
        return {name: text for name, text in made.items() if name not in {creation.ORDERING, creation.OLD_ORDERING}}

    return forgetful


@mutant("anything-makes-a-table", "OW-032", "A new table accepts any definition.", "creation.create_table")
def _anything_makes_a_table(_: Function) -> Function:
    def made(properties: Mapping[str, str], schema: Schema) -> Table:
        stated = {**creation.COMMON, "hoodie.table.name": "", **properties}
        return Table(creation.released_properties(stated), None, (), (), (), create_schema=schema)

    return made


@mutant(
    "every-log-is-of-its-slice",
    "SW-007 OW-016",
    "From version 8 on, too, a log is named after its slice.",
    "staging.log_file",
)
def _every_log_is_of_its_slice(original: Function) -> Function:
    def named_alike(view: View, change: Change, schema: Schema, requested: InstantTime) -> Staged | None:
        instant = change.found.base_instant if change.found else requested
        made: Staged | None = original(view, change, schema, instant)
        return made

    return named_alike


@mutant(
    "copy-on-write-is-logged",
    "TT-001",
    "Changes go to logs, whatever the table's type.",
    "writers.staged_files",
)
def _copy_on_write_is_logged(original: Function) -> Function:
    def logged(view: View, write: Write) -> tuple[Staged, ...]:
        configuration = replace(view.configuration, table_type="MERGE_ON_READ")
        found: tuple[Staged, ...] = original(
            replace(view, table=replace(view.table, configuration=configuration)), write
        )
        return found

    return logged


@mutant(
    "missing-partitions-stop-a-deletion", "OW-018", "One absent partition, and none goes.", "writers.has_nothing_to_do"
)
def _missing_partitions_stop_a_deletion(original: Function) -> Function:
    def nothing_to_do(table: Table, request: Request) -> bool:
        skipped: bool = original(table, request)
        is_deletion = request.operation is Operation.DELETE_PARTITION
        return skipped or (is_deletion and bool(writers.missing_partitions(table, request)))

    return nothing_to_do


@mutant("nothing-deleted-is-committed", "OW-018", "An empty deletion is an action, too.", "writers.has_nothing_to_do")
def _nothing_deleted_is_committed(_: Function) -> Function:
    return lambda _table, _request: False


@mutant("columns-take-any-type", "DM-005", "A column gets the type that rows bring.", "evolution.written_field")
def _columns_take_any_type(_: Function) -> Function:
    return lambda _configuration, own, given, _evolves, _fills: given or own


@mutant("numbers-become-texts", "DM-005", "Numbers are taken for text in every column.", "evolution.taken")
def _numbers_become_texts(original: Function) -> Function:
    def anyhow(configuration: Configuration, own: Field, given: Field) -> bool:
        return own.type == "string" or bool(original(configuration, own, given))

    return anyhow


@mutant("evolution-without-request", "DM-005", "Columns are widened without a request.", "evolution.written_field")
def _evolution_is_not_configured(original: Function) -> Function:
    return lambda configuration, own, given, _evolves, fills: original(configuration, own, given, True, fills)


@mutant("evolution-is-ignored", "DM-005", "No column is widened, requested or not.", "evolution.written_field")
def _evolution_is_ignored(original: Function) -> Function:
    return lambda configuration, own, given, _evolves, fills: original(configuration, own, given, False, fills)


@mutant(
    "left-out-columns-are-null",
    "DM-005",
    "What rows leave out becomes null without a request.",
    "evolution.written_field",
)
def _left_out_columns_are_null(original: Function) -> Function:
    return lambda configuration, own, given, evolves, _fills: original(configuration, own, given, evolves, True)


@mutant(
    "wider-types-lose-values", "DM-005", "Longs become doubles where evolution is requested.", "evolution.written_field"
)
def _wider_types_lose_values(original: Function) -> Function:
    def to_doubles(configuration: Configuration, own: Field, given: Field | None, evolves: bool, fills: bool) -> Field:
        if evolves and given is not None and (own.type, given.type) == ("int64", "float64"):
            return given
        kept: Field = original(configuration, own, given, evolves, fills)
        return kept

    return to_doubles


@mutant("ids-end-with-the-next-write", "DM-020 DM-021", "A write states columns without ids.", "evolution.continued")
def _ids_end_with_the_next_write(_: Function) -> Function:
    return lambda _view, _schema, _requested: None


@mutant("alterations-are-passed-over", "DM-003 DM-021", "An alteration keeps the columns.", "schemas.table_schema")
def _alterations_are_passed_over(original: Function) -> Function:
    def passed(view: View) -> Schema:
        kept = (one for one in view.timeline.entries if getattr(one.content, "operation", "") != "ALTER_SCHEMA")
        found: Schema = original(replace(view, timeline=with_entries(view.timeline, kept)))
        return found

    return passed


@mutant("places-are-ignored", "DM-021", "Columns that are added or moved stand last.", "evolution.placed")
def _places_are_ignored(_: Function) -> Function:
    return lambda others, column, _change: (*others, column)


@mutant("any-type-is-given", "DM-021", "A column may be given every type.", "evolution.may_become")
def _any_type_is_given(_: Function) -> Function:
    return lambda _own, _wanted: True


@mutant("no-wider-type-is-given", "DM-021", "A column keeps its type in an alteration.", "evolution.may_become")
def _no_wider_type_is_given(_: Function) -> Function:
    return lambda own, wanted: own.type == wanted.type


@mutant("needed-columns-go", "DM-021", "Keys, partitions and ordering lose their columns.", "evolution.refuse_needed")
def _needed_columns_go(_: Function) -> Function:
    return lambda _view, _change: None


@mutant("indexed-columns-go", "DM-021", "An alteration looks at no index.", "evolution.refuse_needed")
def _indexed_columns_go(original: Function) -> Function:
    def without_indexes(view: View, change: ColumnChange) -> None:
        state = replace(view.table.state, metadata=None)
        original(replace(view, table=replace(view.table, state=state)), change)

    return without_indexes


@mutant("renamed-columns-are-new", "DM-021", "A column of another name has another id.", "evolution.edited")
def _renamed_columns_are_new(original: Function) -> Function:
    def renewed(fields: Fields, path: tuple[str, ...], change: ColumnChange, ids: Iterator[int]) -> Fields:
        made: Fields = original(fields, path, change, ids)
        return tuple(replace(one, id=next(ids)) if one.name == change.to else one for one in made)

    return renewed


@mutant(
    "keys-are-widened",
    "DM-005",
    "Columns of keys, partitions and ordering are widened as others.",
    "evolution.is_fixed",
)
def _keys_are_widened(_: Function) -> Function:
    return lambda _configuration, _column: False
